#include "aggregator/spread/rate.hpp"

#include "common/text/read_number.hpp"

#include <cmath>

namespace binnacle::spread {

std::optional<double> parse_rate(std::string_view text) noexcept {
  const auto rate = read_number<double>(text);
  return rate && *rate >= 0 && *rate <= 1 ? rate : std::nullopt;  // NaN is neither
}

std::uint32_t quota_of(double rate, std::uint32_t replicas) noexcept {
  // 0.29 × 100 is a little less than 29 in binary.
  return static_cast<std::uint32_t>(std::floor(rate * replicas + 1e-6));
}

}  // namespace binnacle::spread
