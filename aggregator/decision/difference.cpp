#include "aggregator/decision/difference.hpp"

namespace binnacle::decision {

std::optional<quantity> difference(decimal value, const quantity& target) noexcept {
  // |mantissa| < 10^19, and the shift multiplies by 10^18 at most (exponent 9), which fits into 128 bits. A
  // target may be up to 1.7e38, so the subtraction must be checked.
  const int shift = value.exponent + 9;
  __int128 nano = value.mantissa;
  if (shift > 18) return std::nullopt;
  for (int i = 0; i < shift; ++i) nano *= 10;
  for (int i = shift; i < 0; ++i) nano = (nano + (nano < 0 ? -5 : 5)) / 10;
  quantity d;
  if (__builtin_sub_overflow(nano, target.nano, &d.nano)) return std::nullopt;
  return d;
}

}  // namespace binnacle::decision
