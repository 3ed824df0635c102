#pragma once

#include "agent/ipmi/protocol/protocol.hpp"

#include <cstdint>
#include <vector>

namespace binnacle::ipmi {

/// A sensor and what is needed to read it.
struct known_sensor {
  sensor about;
  std::vector<std::uint8_t> record;         ///< its SDR; empty if no SDR describes it
  std::uint8_t offset = 0;                  ///< its number among the sensors that share a compact record
  std::uint8_t event_type = 0;              ///< event/reading type code; says what its states mean
  std::uint8_t type = 0;                    ///< sensor type; says what sensor-specific states mean
  bool fahrenheit = false, kelvin = false;  ///< the unit that the BMC gives; `about` says celsius
};

/// Converts a reading or threshold of the BMC to the unit in `about`.
double in_unit(const known_sensor& s, double value) noexcept;

}  // namespace binnacle::ipmi
