#pragma once

#include "common/crowd.hpp"

#include <cstdint>

namespace binnacle::support {

/// The same network for the same number, another one for another.
inline network numbered(std::uint8_t n) {
  network out;
  out.bytes[15] = n;
  return out;
}

}  // namespace binnacle::support
