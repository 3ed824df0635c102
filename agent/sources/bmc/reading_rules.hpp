#pragma once

#include "agent/base/inlet_sensors.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/sources/power_rules.hpp"

#include <span>
#include <string>
#include <string_view>

namespace binnacle::agent {

/// Why a reading has no value: its own reason, or `implausible` if it says that the whole machine draws 0 W
/// (DCMI, a sensor of the system's power). The machine is on, since we run on it. A single power supply may
/// draw nothing, but nothing draws less. Nor does anything draw more than a rack: the number is in mW then,
/// or its record has a wrong exponent. Believed, it would set a true DCMI aside. An inlet sensor is
/// implausible if incoming air cannot have its temperature (may_be_air()).
inline absence reason_of(const ipmi::sensor& s, const ipmi::reading& r) noexcept {
  if (r.reason != absence::none || !r.value) return r.reason;
  if (s.kind == ipmi::sensor_kind::temperature && s.role == ipmi::sensor_role::inlet)
    return may_be_air(*r.value) ? absence::none : absence::implausible;
  const bool dcmi = s.key == "dcmi.power";
  if (!dcmi && s.kind != ipmi::sensor_kind::power) return absence::none;
  const bool whole = dcmi || s.role == ipmi::sensor_role::system_power;
  const bool too_few = whole ? no_watts(*r.value) : negative_watts(*r.value);
  return too_few || too_many_watts(*r.value) ? absence::implausible : absence::none;
}

/// Whether the BMC's statistics contradict each other.
inline bool contradict_each_other(const ipmi::statistics& over) noexcept {
  return over.minimum > over.average || over.average > over.maximum;
}
/// Whether a value lies so far outside of the BMC's own statistics that one of the two is wrong. A BMC's two
/// numbers may come from two meters, so they differ by what DCMI and the supplies may differ by, too.
inline bool lies_outside(double value, const ipmi::statistics& over) noexcept {
  constexpr double tolerance = 0.20, tolerance_watts = 20;
  return value < over.minimum * (1 - tolerance) - tolerance_watts ||
         value > over.maximum * (1 + tolerance) + tolerance_watts;
}
inline constexpr std::string_view outside_said =
    "its minimum, mean and maximum contradict its value or each other, so they are absent; reset the BMC";

/// What people are told about sensors that are implausible for these reasons: their names, and what they say.
/// Empty if there are none.
inline std::string impossible_said(std::span<const ipmi::sensor* const> sensors) {
  std::string watts, air;
  for (const auto* s : sensors) {
    std::string& names = s->kind == ipmi::sensor_kind::temperature ? air : watts;
    names += (names.empty() ? "" : ", ") + s->name;
  }
  if (!watts.empty()) watts += ": says 0 W or less although the machine is on, or more than 100 kW";
  if (!air.empty()) air += ": says a temperature that incoming air cannot have";
  return watts + (watts.empty() || air.empty() ? "" : "; ") + air;
}
inline constexpr std::string_view impossible_remedy =
    "look at it with the BMC's own tools, reset the BMC, or install newer firmware; it has no value until "
    "its number can be true";

}  // namespace binnacle::agent
