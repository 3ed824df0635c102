#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/sources/power_rules.hpp"

namespace binnacle::agent {

/// Why a reading has no value: its own reason, or `implausible` for 0 W of the whole machine (DCMI, a sensor
/// of the system's power), on which we run. One supply of several may give nothing.
inline absence reason_of(const ipmi::sensor& s, const ipmi::reading& r) noexcept {
  const bool whole = s.key == "dcmi.power" ||
                     (s.kind == ipmi::sensor_kind::power && s.role == ipmi::sensor_role::system_power);
  return r.reason == absence::none && whole && r.value && no_watts(*r.value) ? absence::implausible
                                                                             : r.reason;
}

}  // namespace binnacle::agent
