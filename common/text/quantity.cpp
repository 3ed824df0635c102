#include "common/text/quantity.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <ostream>

namespace binnacle {
namespace {

using wide = __int128;

constexpr wide nano_per_unit = 1'000'000'000;
constexpr wide most_binary_nano = wide(std::numeric_limits<std::int64_t>::max()) * nano_per_unit;
constexpr wide most_nano = std::numeric_limits<wide>::max();

/// The factor of a suffix: 10^ten × 2^two.
struct scale {
  int ten = 0;
  int two = 0;
};

struct suffix_row {
  std::string_view text;
  scale by;
};

constexpr std::array suffixes{
    suffix_row{"", {}},        suffix_row{"n", {-9, 0}},  suffix_row{"u", {-6, 0}},
    suffix_row{"m", {-3, 0}},  suffix_row{"k", {3, 0}},   suffix_row{"M", {6, 0}},
    suffix_row{"G", {9, 0}},   suffix_row{"T", {12, 0}},  suffix_row{"P", {15, 0}},
    suffix_row{"E", {18, 0}},  suffix_row{"Ki", {0, 10}}, suffix_row{"Mi", {0, 20}},
    suffix_row{"Gi", {0, 30}}, suffix_row{"Ti", {0, 40}}, suffix_row{"Pi", {0, 50}},
    suffix_row{"Ei", {0, 60}},
};

enum class fault { none, form, suffix, range };

/// Reads the factor of a suffix or of a decimal exponent ("e3", "E-6").
fault read_suffix(std::string_view text, scale& out) noexcept {
  for (const suffix_row& row : suffixes) {
    if (row.text == text) {
      out = row.by;
      return fault::none;
    }
  }
  if (text.size() < 2 || (text.front() != 'e' && text.front() != 'E')) return fault::suffix;
  text.remove_prefix(1);
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return fault::suffix;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  if (text.size() > 3) return fault::range;
  int exponent = 0;
  std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (exponent > 400) return fault::range;
  out = {negative ? -exponent : exponent, 0};
  return fault::none;
}

/// whole.fraction × 10^ten, in units of 10^-9; finer digits are rounded away from zero. False if it does not
/// fit.
bool decimal_nano(std::string_view whole, std::string_view fraction, int ten, wide& out) noexcept {
  const auto digit = [&](std::size_t i) { return i < whole.size() ? whole[i] : fraction[i - whole.size()]; };
  const std::size_t count = whole.size() + fraction.size();
  // How many digits count. May be negative, or more than there are.
  const auto kept = static_cast<std::ptrdiff_t>(whole.size()) + ten + 9;
  wide value = 0;
  bool finer = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::ptrdiff_t>(i) >= kept) {
      finer = finer || digit(i) != '0';
    } else if (__builtin_mul_overflow(value, 10, &value) ||
               __builtin_add_overflow(value, digit(i) - '0', &value)) {
      return false;
    }
  }
  for (auto i = static_cast<std::ptrdiff_t>(count); i < kept && value != 0; ++i) {
    if (__builtin_mul_overflow(value, 10, &value)) return false;
  }
  if (finer && __builtin_add_overflow(value, 1, &value)) return false;
  out = value;
  return true;
}

/// whole.fraction × 2^two, in units of 10^-9, capped at 2^63-1 whole units, as Go caps binary suffixes.
wide binary_nano(std::string_view whole, std::string_view fraction, int two) noexcept {
  const wide least_too_large = (wide(1) << 63) >> two;
  wide units = 0;
  for (char c : whole) {
    units = units * 10 + (c - '0');
    if (units >= least_too_large) return most_binary_nano;
  }
  // From the last digit to the first: part = floor((digit × unit + part) / 10). A remainder anywhere leaves
  // the exact value above the floor, so it is rounded up once, at the end.
  const wide unit = (wide(1) << two) * nano_per_unit;
  wide part = 0;
  bool finer = false;
  for (auto at = fraction.rbegin(); at != fraction.rend(); ++at) {
    part += (*at - '0') * unit;
    finer = finer || part % 10 != 0;
    part /= 10;
  }
  return std::min(most_binary_nano, units * unit + part + (finer ? 1 : 0));
}

fault read_quantity(std::string_view text, quantity& out) noexcept {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto take_digits = [&] {
    const auto length = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    const std::string_view digits = text.substr(0, length);
    text.remove_prefix(length);
    return digits;
  };
  const std::string_view whole = take_digits();
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits();
  }
  if (whole.empty() && fraction.empty()) return fault::form;
  scale by;
  if (const fault f = read_suffix(text, by); f != fault::none) return f;
  wide nano = 0;
  if (by.two != 0) {
    nano = binary_nano(whole, fraction, by.two);
  } else if (!decimal_nano(whole, fraction, by.ten, nano)) {
    return fault::range;
  }
  out.nano = negative ? -nano : nano;
  return fault::none;
}

}  // namespace

std::strong_ordering compare(decimal value, const quantity& target) noexcept {
  wide left = value.mantissa;
  wide right = target.nano;
  const int apart = value.exponent + 9;
  // Multiply the side with the coarser unit. If that overflows, it is larger than any value of the other
  // side.
  for (int i = 0; i < apart; ++i) {
    if (__builtin_mul_overflow(left, 10, &left)) return value.mantissa <=> std::int64_t(0);
  }
  for (int i = 0; i > apart; --i) {
    if (__builtin_mul_overflow(right, 10, &right)) return wide(0) <=> target.nano;
  }
  return left <=> right;
}

result<quantity> parse_quantity(std::string_view text) {
  quantity out;
  switch (read_quantity(text, out)) {
    case fault::none: return out;
    case fault::form:
      return error{errc::invalid_input,
                   in_quotes(text) + " is not a quantity: write a number such as 60, 1.5, 20500m or 1Ki"};
    case fault::suffix:
      return error{
          errc::invalid_input,
          in_quotes(text) +
              " has no known suffix: a quantity ends in n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei "
              "or an exponent such as e3, without spaces"};
    case fault::range:
      return error{errc::invalid_input,
                   in_quotes(text) + " is too large for a quantity: use a number below 1.7e29"};
  }
  return error{errc::internal, "parse_quantity"};
}

quantity from_integer(std::int64_t value) noexcept { return {value * nano_per_unit}; }

std::string canonical(const quantity& q) {
  constexpr std::array<std::string_view, 10> names{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  wide size = q.nano < 0 ? -std::max(q.nano, -most_binary_nano) : std::min(q.nano, most_binary_nano);
  if (size == 0) return "0";
  int exponent = -9;
  while (size % 10 == 0) {
    size /= 10;
    ++exponent;
  }
  while (exponent % 3 != 0) {
    size *= 10;
    --exponent;
  }
  std::array<char, 48> digits;
  auto at = digits.end();
  for (; size != 0; size /= 10) *--at = static_cast<char>('0' + static_cast<int>(size % 10));
  std::string out = q.nano < 0 ? "-" : "";
  out.append(at, digits.end());
  out += names[static_cast<std::size_t>((exponent + 9) / 3)];
  return out;
}

std::string canonical(decimal d) {
  wide nano = d.mantissa;
  for (int i = d.exponent + 9; i > 0; --i) {
    if (__builtin_mul_overflow(nano, 10, &nano)) {
      nano = d.mantissa < 0 ? -most_nano : most_nano;
      break;
    }
  }
  for (int i = d.exponent + 9; i < 0; ++i) {
    // Rounded away from zero, as the API server rounds digits finer than 10^-9.
    nano = nano / 10 + (nano % 10 == 0 ? 0 : nano < 0 ? -1 : 1);
  }
  return canonical(quantity{nano});
}

std::ostream& operator<<(std::ostream& out, const quantity& q) { return out << canonical(q); }

}  // namespace binnacle
