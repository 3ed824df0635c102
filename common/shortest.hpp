#pragma once

#include "common/decimal.hpp"

namespace binnacle {

/// The same number without zeros behind the point: {1200,-3} is {12,-1}. For showing a foreign series, whose
/// exponent says how far it is rounded, not how far it was measured.
constexpr decimal shortest(decimal d) noexcept {
  while (d.exponent < 0 && d.mantissa % 10 == 0) {
    d.mantissa /= 10;
    ++d.exponent;
  }
  return d;
}

}  // namespace binnacle
