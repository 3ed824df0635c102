#include "common/decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <string_view>

namespace binnacle {
namespace {

using wide = __int128;

// 10^19 × an int64 still fits 127 bits. If the exponents differ by more than 19, they alone decide a
// comparison.
constexpr int most_digits = 19;

constexpr std::array<wide, most_digits + 1> powers_of_ten = [] {
  std::array<wide, most_digits + 1> p{};
  p[0] = 1;
  for (std::size_t i = 1; i < p.size(); ++i) p[i] = p[i - 1] * 10;
  return p;
}();

constexpr wide power_of_ten(int n) noexcept { return powers_of_ten[static_cast<std::size_t>(n)]; }

/// Powers of ten as doubles, all exact. A table, because converting a 128-bit integer calls the compiler's
/// library, and to_double() runs for each candidate of a pod.
constexpr std::array<double, most_digits> exact_powers_of_ten = [] {
  std::array<double, most_digits> p{};
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<double>(powers_of_ten[i]);
  return p;
}();

constexpr wide power_of_five(int n) noexcept {
  wide p = 1;
  while (n-- > 0) p *= 5;
  return p;
}

constexpr std::strong_ordering sign_of(wide v) noexcept { return v <=> 0; }

std::optional<std::int64_t> narrow(wide v) noexcept {
  if (v < std::numeric_limits<std::int64_t>::min() || v > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return static_cast<std::int64_t>(v);
}

/// n / d rounded half-even; d > 0.
constexpr wide divide_half_even(wide n, wide d) noexcept {
  wide quotient = n / d;
  const wide rest = n % d;
  const wide size = rest < 0 ? -rest : rest;
  // size > d - size means 2·size > d, but cannot overflow.
  const bool away = size > d - size || (size == d - size && quotient % 2 != 0);
  if (away) quotient += n < 0 ? -1 : 1;
  return quotient;
}

}  // namespace

std::strong_ordering operator<=>(decimal a, decimal b) noexcept {
  const int apart = a.exponent - b.exponent;
  if (apart < 0) return 0 <=> (b <=> a);
  if (apart > most_digits) {
    if (a.mantissa != 0) return sign_of(a.mantissa);  // |a| ≥ 10^20 units of b, more than any mantissa
    return 0 <=> sign_of(b.mantissa);
  }
  return a.mantissa * power_of_ten(apart) <=> wide(b.mantissa);
}

bool operator==(decimal a, decimal b) noexcept { return (a <=> b) == 0; }

std::optional<decimal> from_double(double value, std::int8_t exponent) noexcept {
  if (!std::isfinite(value)) return std::nullopt;
  if (value == 0) return decimal{0, exponent};  // the most frequent value: most rates of a calm machine are 0
  // value = fraction × 2^two exactly, |fraction| < 2^53. The arithmetic is in integers throughout, so that
  // the result does not depend on how a machine rounds a product.
  int two = 0;
  const double significand = std::frexp(value, &two);
  const auto fraction = static_cast<wide>(std::ldexp(significand, 53));
  two -= 53;

  wide numerator = fraction;
  wide denominator = 1;
  if (exponent <= 0) {
    numerator *= power_of_five(-exponent);
  } else {
    denominator = power_of_five(exponent);
  }
  two -= exponent;  // what remains of 10^exponent after 5^exponent: a power of two
  if (two >= 0) {
    if (two > 126) return std::nullopt;
    const wide limit = std::numeric_limits<wide>::max() >> two;
    if (numerator > limit || numerator < -limit) return std::nullopt;
    numerator *= wide(1) << two;
  } else {
    // The numerator has at most 53 + 42 bits. Shifted right by 97 or more, it is less than half a unit.
    if (-two >= 97) return decimal{0, exponent};
    if (denominator == 1) {
      denominator = wide(1) << -two;
    } else {
      // Here the numerator has 53 bits: if the denominator has more than 60, the result is less than half a
      // unit. 5^exponent has at most 42 bits, so a smaller shift does not overflow.
      if (-two >= 60) return decimal{0, exponent};
      denominator <<= -two;
    }
  }
  const auto mantissa = narrow(divide_half_even(numerator, denominator));
  if (!mantissa) return std::nullopt;
  return decimal{*mantissa, exponent};
}

std::optional<std::int8_t> natural_exponent(double value) noexcept {
  if (!std::isfinite(value)) return std::nullopt;
  constexpr int finest = -9;   // a Kubernetes Quantity has no finer digits
  constexpr int largest = 17;  // 18 digits always fit an int64 and can still grow ninefold
  if (value == 0) return static_cast<std::int8_t>(finest);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (magnitude > largest) return static_cast<std::int8_t>(std::min(magnitude - largest, 18));
  // Nine digits; but all whole digits of a larger number, so that counters stay exact.
  return static_cast<std::int8_t>(std::max(finest, std::min(magnitude - 8, 0)));
}

namespace {

double to_double_by_text(decimal d) noexcept {
  std::array<char, 32> text;  // 20 for the mantissa, 1 for e, 4 for the exponent
  const char* end = fmt::format_to(text.data(), "{}e{}", d.mantissa, static_cast<int>(d.exponent));
  double out = 0;
  std::from_chars(static_cast<const char*>(text.data()), end, out);
  return out;
}

}  // namespace

double to_double(decimal d) noexcept {
  constexpr std::int64_t exact = std::int64_t(1) << 53;
  constexpr int most = static_cast<int>(exact_powers_of_ten.size()) - 1;
  if (d.mantissa > exact || d.mantissa < -exact || d.exponent < -most || d.exponent > most)
    return to_double_by_text(d);
  // Both operands are exact doubles, so the single multiplication or division rounds correctly.
  const double scale = exact_powers_of_ten[static_cast<std::size_t>(std::abs(d.exponent))];
  return d.exponent < 0 ? static_cast<double>(d.mantissa) / scale : static_cast<double>(d.mantissa) * scale;
}

std::optional<decimal> add(decimal a, decimal b) noexcept {
  if (a.exponent < b.exponent) return add(b, a);
  const int apart = a.exponent - b.exponent;
  if (apart > most_digits && a.mantissa != 0) return std::nullopt;
  const wide coarse = a.mantissa == 0 ? 0 : a.mantissa * power_of_ten(apart);
  const auto sum = narrow(coarse + b.mantissa);
  if (!sum) return std::nullopt;
  return decimal{*sum, b.exponent};
}

std::optional<decimal> rescale(decimal d, std::int8_t exponent) noexcept {
  const int apart = d.exponent - exponent;
  if (d.mantissa == 0 || apart < -most_digits) return decimal{0, exponent};
  if (apart > most_digits) return std::nullopt;
  const wide scaled =
      apart >= 0 ? d.mantissa * power_of_ten(apart) : divide_half_even(d.mantissa, power_of_ten(-apart));
  const auto mantissa = narrow(scaled);
  if (!mantissa) return std::nullopt;
  return decimal{*mantissa, exponent};
}

std::string to_string(decimal d) {
  std::array<char, 24> buffer;
  const char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), d.mantissa).ptr;
  std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  std::string out;
  if (digits.front() == '-') {
    out += '-';
    digits.remove_prefix(1);
  }
  if (d.exponent >= 0) {
    out += digits;
    if (d.mantissa != 0) out.append(static_cast<std::size_t>(d.exponent), '0');
    return out;
  }
  const auto places = static_cast<std::size_t>(-d.exponent);
  if (digits.size() <= places) {
    out += "0.";
    out.append(places - digits.size(), '0');
    out += digits;
  } else {
    out += digits.substr(0, digits.size() - places);
    out += '.';
    out += digits.substr(digits.size() - places);
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, decimal d) { return out << to_string(d); }

}  // namespace binnacle
