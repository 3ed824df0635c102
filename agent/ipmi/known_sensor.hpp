#pragma once

#include "agent/ipmi/protocol/protocol.hpp"

#include <cstdint>
#include <vector>

namespace binnacle::ipmi {

/// A format of `conversion`: the byte is not a number.
inline constexpr std::uint8_t not_analog = 3;

/// How the byte that a sensor gives becomes its value. Source: IPMI 2.0, 36.3.
struct conversion {
  std::int8_t r_exponent = 0, b_exponent = 0;
  std::int16_t m = 0, b = 0;
  std::uint8_t linearization = 0;
  std::uint8_t format = not_analog;  ///< of the byte: 0 unsigned, 1 one's or 2 two's complement
};

/// A sensor and what is needed to read it.
struct known_sensor {
  sensor about;
  std::uint8_t lun = 0;  ///< of the BMC. 0 has room for 255 sensors; 1 and 3 have more
  conversion factors;
  std::vector<std::uint8_t> record;         ///< its SDR; empty if no SDR describes it
  std::uint8_t offset = 0;                  ///< its number among the sensors that share a compact record
  std::uint8_t event_type = 0;              ///< event/reading type code; says what its states mean
  std::uint8_t type = 0;                    ///< sensor type; says what sensor-specific states mean
  bool fahrenheit = false, kelvin = false;  ///< the unit that the BMC gives; `about` says celsius
};

/// Converts a reading or threshold of the BMC to the unit in `about`.
double in_unit(const known_sensor& s, double value) noexcept;

}  // namespace binnacle::ipmi
