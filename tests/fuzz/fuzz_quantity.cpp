#include "common/text/quantity.hpp"
#include "tests/fuzz/target.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace fuzz_quantity {

/// Differential test: the parser, its printing and the comparisons against the same rules written with exact
/// rationals of any size, without regard to speed. Input: up to two texts separated by a line feed. Source of
/// the rules: resource.Quantity of Kubernetes apimachinery as observed, with the stricter points of
/// common/text/quantity.hpp.
namespace {

using boost::multiprecision::cpp_int;

cpp_int power(int base, int n) {
  cpp_int p = 1;
  while (n-- > 0) p *= base;
  return p;
}

/// The value in units of 10^-9, or nothing if the text must be refused.
std::optional<cpp_int> oracle(std::string_view text) {
  std::size_t at = 0;
  const auto more = [&] { return at < text.size(); };
  const auto digits = [&] {
    std::string d;
    while (more() && text[at] >= '0' && text[at] <= '9') d += text[at++];
    return d;
  };
  bool negative = false;
  if (more() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
  const std::string whole = digits();
  std::string fraction;
  if (more() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  const std::string suffix(text.substr(at));

  // The value is the fraction above / below.
  cpp_int above = 0;
  for (char c : whole + fraction) above = above * 10 + (c - '0');
  cpp_int below = power(10, static_cast<int>(fraction.size()));

  bool binary = false;
  const std::string letters = "numkMGTPE";
  const int tens[] = {-9, -6, -3, 3, 6, 9, 12, 15, 18};
  const std::string binaries = "KMGTPE";
  if (suffix.empty()) {
    // the number itself
  } else if (suffix.size() == 1 && letters.find(suffix[0]) != std::string::npos) {
    const int ten = tens[letters.find(suffix[0])];
    (ten < 0 ? below : above) *= power(10, std::abs(ten));
  } else if (suffix.size() == 2 && suffix[1] == 'i' && binaries.find(suffix[0]) != std::string::npos) {
    binary = true;
    above *= power(1024, static_cast<int>(binaries.find(suffix[0])) + 1);
  } else if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E')) {
    std::string rest = suffix.substr(1);
    const bool down = rest[0] == '-';
    if (rest[0] == '-' || rest[0] == '+') rest.erase(0, 1);
    if (rest.empty() || rest.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    while (rest.size() > 1 && rest[0] == '0') rest.erase(0, 1);
    if (rest.size() > 3 || std::stoi(rest) > 400) return std::nullopt;
    (down ? below : above) *= power(10, std::stoi(rest));
  } else {
    return std::nullopt;
  }

  above *= power(10, 9);
  cpp_int rounded = (above + below - 1) / below;
  const cpp_int cap = (power(2, 63) - 1) * power(10, 9);
  if (binary && rounded > cap) rounded = cap;
  if (rounded >= power(2, 127)) return std::nullopt;
  return negative ? cpp_int(-rounded) : rounded;
}

void fail(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "%.*s: \"%.*s\"\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(text.size()), text.data());
  std::abort();
}

std::optional<binnacle::quantity> check(std::string_view text) {
  const auto mine = binnacle::parse_quantity(text);
  const auto theirs = oracle(text);
  if (mine.has_value() != theirs.has_value()) fail("accepted by one only", text);
  if (!mine) {
    if (mine.error().message.empty()) fail("no message", text);
    return std::nullopt;
  }
  if (cpp_int(mine->nano) != *theirs) fail("other value", text);
  // What we print is read back as the same number, except that printing clamps to 2^63-1.
  const auto again = binnacle::parse_quantity(binnacle::canonical(*mine));
  if (!again) fail("printed what cannot be read", text);
  const cpp_int cap = (power(2, 63) - 1) * power(10, 9);
  if (abs(*theirs) <= cap ? again->nano != mine->nano : abs(cpp_int(again->nano)) != cap)
    fail("printed another number", text);
  return *mine;
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 512));
  const std::size_t line = std::min(input.find('\n'), input.size());
  const auto a = check(input.substr(0, line));
  const auto b = line < input.size() ? check(input.substr(line + 1)) : std::nullopt;
  if (a && b && (*a < *b) != (cpp_int(a->nano) < cpp_int(b->nano))) fail("ordered otherwise", input);

  // Compares any mantissa and exponent with the first quantity.
  if (!a || size < 9) return 0;
  binnacle::decimal d;
  std::memcpy(&d.mantissa, data + size - 8, sizeof d.mantissa);
  d.exponent = static_cast<std::int8_t>(data[size - 9] % 37 - 18);
  const cpp_int left = cpp_int(d.mantissa) * power(10, 9 + std::max<int>(d.exponent, 0));
  const cpp_int right = cpp_int(a->nano) * power(10, std::max<int>(-d.exponent, 0));
  const auto order = binnacle::compare(d, *a);
  if ((order < 0) != (left < right) || (order > 0) != (left > right)) fail("compared wrongly", input);
  return 0;
}

}  // namespace fuzz_quantity
