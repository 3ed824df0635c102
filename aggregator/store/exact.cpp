#include "aggregator/store/exact.hpp"

#include <cmath>

namespace binnacle::store::exact {

std::optional<std::int64_t> ratio(wide numerator, int by, wide denominator) noexcept {
  if (by < 0) {
    const auto factor = power_of_ten(-by);
    const auto scaled = factor ? multiply(denominator, *factor) : std::nullopt;
    if (scaled) return narrow(divide(numerator, *scaled));
  } else if (const auto scaled = shift(numerator, by)) {
    return narrow(divide(*scaled, denominator));
  }
  const long double q = static_cast<long double>(numerator) / static_cast<long double>(denominator) *
                        std::pow(10.0L, static_cast<long double>(by));
  if (!(std::fabs(q) < 9.2e18L)) return std::nullopt;
  return std::llrint(q);
}

}  // namespace binnacle::store::exact
