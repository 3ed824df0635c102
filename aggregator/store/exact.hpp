#pragma once

#include <cstdint>
#include <limits>
#include <optional>

/// The few 128-bit helpers that derivations and windows share. Everything a rule compares is made with these.
namespace binnacle::store::exact {

using wide = __int128;

/// 10^n for n in [0, 38]; larger powers do not fit and give nothing.
constexpr std::optional<wide> power_of_ten(int n) noexcept {
  if (n < 0 || n > 38) return std::nullopt;
  wide p = 1;
  for (; n > 0; --n) p *= 10;
  return p;
}

/// numerator / denominator rounded half to even; denominator must be positive.
constexpr wide divide(wide numerator, wide denominator) noexcept {
  wide quotient = numerator / denominator;
  wide rest = numerator % denominator;
  const int sign = numerator < 0 ? -1 : 1;
  if (rest < 0) rest = -rest;
  // rest > denominator - rest instead of 2 * rest > denominator: the product may not fit.
  if (rest > denominator - rest || (rest == denominator - rest && (quotient & 1) != 0)) quotient += sign;
  return quotient;
}

constexpr std::optional<std::int64_t> narrow(wide value) noexcept {
  if (value > std::numeric_limits<std::int64_t>::max() || value < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return static_cast<std::int64_t>(value);
}

constexpr std::optional<wide> multiply(wide a, wide b) noexcept {
  wide product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// value × 10^shift, rounded half to even when digits are lost; nothing when it does not fit.
constexpr std::optional<wide> shift(wide value, int by) noexcept {
  if (value == 0) return wide{0};
  if (by >= 0) {
    const auto factor = power_of_ten(by);
    return factor ? multiply(value, *factor) : std::nullopt;
  }
  const auto factor = power_of_ten(-by);
  return factor ? std::optional<wide>(divide(value, *factor)) : std::optional<wide>(0);
}

/// numerator × 10^shift / denominator, rounded once where the intermediate fits 128 bits; denominator must be
/// positive. Where it does not fit, the quotient is rounded to long double's 64 bits first.
std::optional<std::int64_t> ratio(wide numerator, int by, wide denominator) noexcept;

}  // namespace binnacle::store::exact
