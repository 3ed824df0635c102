#pragma once

#include "common/crowd.hpp"

#include <cstdint>

namespace binnacle::support {

/// A made-up network: equal numbers give equal networks, different numbers different ones.
inline network numbered(std::uint8_t n) {
  network out;
  out.bytes[15] = n;
  return out;
}

}  // namespace binnacle::support
