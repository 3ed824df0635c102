#pragma once

#include "common/decimal.hpp"

namespace binnacle {

/// The same number without zeros at the end of its fraction: {1200,-3} is {12,-1}. For showing a foreign
/// series. Its exponent says how the value is rounded, not how exactly it was measured.
constexpr decimal shortest(decimal d) noexcept {
  while (d.exponent < 0 && d.mantissa % 10 == 0) {
    d.mantissa /= 10;
    ++d.exponent;
  }
  return d;
}

}  // namespace binnacle
