#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace binnacle {

/// A metric value: mantissa × 10^exponent, exact. The agent converts each double into this form once. Rules
/// compare it exactly with Quantities, and every face prints the same number. The exponent is fixed per
/// series by its family. Range: exponent within [-18, 18]. Value type, no allocation.
struct decimal {
  std::int64_t mantissa = 0;
  std::int8_t exponent = 0;

  /// Compares the numbers, not their forms: 10×10^0 equals 1×10^1. Never overflows.
  friend std::strong_ordering operator<=>(decimal a, decimal b) noexcept;
  friend bool operator==(decimal a, decimal b) noexcept;
};

/// `value` rounded half-even to a multiple of 10^exponent. Nothing for NaN, for infinities and for values
/// that do not fit an int64 mantissa.
std::optional<decimal> from_double(double value, std::int8_t exponent) noexcept;

/// Chooses the exponent of a foreign series without a family of ours from one of its values. It keeps nine
/// significant digits, and all whole digits of a larger number as long as they fit, but nothing finer than
/// 10^-9. A later value may need another exponent. Nothing for NaN and infinities.
std::optional<std::int8_t> natural_exponent(double value) noexcept;

/// The nearest double. For output and statistics; never for a verdict.
double to_double(decimal d) noexcept;

/// Exact sum at the finer of the two exponents; nothing on overflow.
std::optional<decimal> add(decimal a, decimal b) noexcept;

/// The same number at another exponent, rounded half-even where digits are lost; nothing on overflow.
std::optional<decimal> rescale(decimal d, std::int8_t exponent) noexcept;

/// Plain decimal text without an exponent, with exactly the digits of the resolution: {1234,-1} is "123.4",
/// {5,3} is "5000". Valid as a JSON number and as a value in an exposition.
std::string to_string(decimal d);
std::ostream& operator<<(std::ostream& out, decimal d);

}  // namespace binnacle
