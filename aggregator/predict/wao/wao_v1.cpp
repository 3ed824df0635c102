#include "aggregator/predict/wao/wao_v1.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace binnacle::predict::wao_v1 {

std::optional<shares> shares_of(double load, double capacity, container_cpu pod) noexcept {
  if (pod.limit == 0 && pod.request == 0) return std::nullopt;
  if (load + pod.limit > capacity) return std::nullopt;
  return shares{load / capacity, (load + use_of(pod)) / capacity};
}

float rounded(double share) noexcept { return static_cast<float>(std::round(share * 10) / 10); }

std::int64_t increase(double before_watts, double after_watts) noexcept {
  const double more = after_watts - before_watts;
  if (!std::isfinite(more) || std::abs(more) >= 1e15 || more <= -1) return failed;
  return static_cast<std::int64_t>(more);
}

void normalise(std::span<const std::int64_t> watts, std::span<int> scores) noexcept {
  std::int64_t high = 0, low = std::numeric_limits<std::int64_t>::max();
  for (const auto w : watts) {
    high = std::max(high, w);
    if (w >= 0) low = std::min(low, w);
  }
  for (std::size_t i = 0; i < watts.size(); ++i) {
    scores[i] = watts[i] < 0  ? 0
                : high == low ? tie_score
                              : static_cast<int>(100 - 100 * (watts[i] - low) / (high - low));
  }
}

}  // namespace binnacle::predict::wao_v1
