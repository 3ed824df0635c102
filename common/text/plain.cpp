#include "common/text/plain.hpp"

#include "common/shortest.hpp"

#include <fmt/format.h>

namespace binnacle {
namespace {

/// `digits` without the zeros at the end of its fraction, and without the point if no fraction is left.
std::string without_zeros(std::string digits) {
  if (digits.find('.') == digits.npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

}  // namespace

std::string plain(decimal d) { return to_string(shortest(d)); }

std::string plain(const quantity& q) {
  constexpr __int128 one = 1'000'000'000;
  const __int128 magnitude = q.nano < 0 ? -q.nano : q.nano;
  return without_zeros(fmt::format("{}{}.{:09}", q.nano < 0 ? "-" : "", magnitude / one,
                                   static_cast<std::uint32_t>(magnitude % one)));
}

std::string plain(double value, int digits) { return without_zeros(fmt::format("{:.{}f}", value, digits)); }

}  // namespace binnacle
