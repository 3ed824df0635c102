#include "aggregator/spread/rate.hpp"

#include <charconv>
#include <cmath>

namespace binnacle::spread {

std::optional<double> parse_rate(std::string_view text) noexcept {
  double rate = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, rate);
  const bool whole = failed == std::errc() && stopped == end;
  return whole && rate >= 0 && rate <= 1 ? std::optional(rate) : std::nullopt;  // NaN is neither
}

std::uint32_t quota_of(double rate, std::uint32_t replicas) noexcept {
  // 0.29 × 100 is a little less than 29 in binary.
  return static_cast<std::uint32_t>(std::floor(rate * replicas + 1e-6));
}

}  // namespace binnacle::spread
