#pragma once

#include "agent/ipmi/protocol/protocol.hpp"

#include <cstdint>
#include <vector>

namespace binnacle::ipmi {

/// A sensor and what is needed to read it.
struct known_sensor {
  sensor about;
  std::vector<std::uint8_t> record;         ///< its SDR; empty if it does not come from one
  std::uint8_t offset = 0;                  ///< within a compact record that several sensors share
  std::uint8_t event_type = 0;              ///< event/reading type code; says what its states mean
  std::uint8_t type = 0;                    ///< sensor type; says so for sensor-specific states
  bool fahrenheit = false, kelvin = false;  ///< the unit that the BMC gives; `about` says celsius
};

/// Converts a reading or threshold of the BMC to the unit in `about`.
double in_unit(const known_sensor& s, double value) noexcept;

}  // namespace binnacle::ipmi
