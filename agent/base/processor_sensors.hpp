#pragma once

#include <string>
#include <vector>

namespace binnacle::agent {

/// hwmon sensors whose sum is what the processors of an Arm server draw: Ampere's cores and the rest of the
/// SoC (drivers/hwmon/xgene-hwmon.c), and a SoC whose firmware reports its power by SCMI. Two kinds are left
/// out: sensors that a second driver reports again (smpro), and meters that may contain each other (NVIDIA
/// Grace's power_meter).
inline const std::vector<std::string> usual_powers{"apm_xgene*/CPU power", "apm_xgene*/IO power",
                                                   "scmi_sensors*/soc"};

}  // namespace binnacle::agent
