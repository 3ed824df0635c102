#pragma once

#include "common/metrics/plausible.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

/// Sensor names that clearly mean the incoming air: "Inlet Temp", "ambient-port". Chips that only say "temp1"
/// or "SYSTIN" measure some spot of the board.
inline const std::vector<std::string> usual_inlets{"*inlet*", "*ambient*"};

/// Whether incoming air can be so warm: the range of the inlet's family in METRICS.md, -40 to 100 °C. Servers
/// are made for air of 5 to 45 °C, those for sites without air conditioning for -40 to 65 °C. What chips say
/// that are dead or do not answer lies outside: -64, 127, -128, 255 and -273.15 °C.
inline bool may_be_air(double celsius) {
  static const auto range = metrics::plausible(*metrics::find("host_inlet_temperature_celsius"));
  return range.holds(celsius);
}

}  // namespace binnacle::agent
