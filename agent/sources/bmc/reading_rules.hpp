#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/sources/power_rules.hpp"

#include <string_view>

namespace binnacle::agent {

/// Why a reading has no value: its own reason, or `implausible` if it says that the whole machine draws 0 W
/// (DCMI, a sensor of the system's power). The machine is on, since we run on it. A single power supply may
/// draw nothing.
inline absence reason_of(const ipmi::sensor& s, const ipmi::reading& r) noexcept {
  const bool whole = s.key == "dcmi.power" ||
                     (s.kind == ipmi::sensor_kind::power && s.role == ipmi::sensor_role::system_power);
  return r.reason == absence::none && whole && r.value && no_watts(*r.value) ? absence::implausible
                                                                             : r.reason;
}

/// What people are told about a sensor that is implausible for this reason.
inline constexpr std::string_view no_watts_said = "says 0 W although the machine is on";
inline constexpr std::string_view no_watts_remedy =
    "look at it with the BMC's own tools, or reset the BMC; its value is absent until it says more";

}  // namespace binnacle::agent
