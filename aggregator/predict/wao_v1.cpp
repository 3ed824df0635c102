#include "aggregator/predict/wao_v1.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace binnacle::predict::wao_v1 {

double load_of(double in_use, std::span<starting_pod> starting) noexcept {
  for (starting_pod& pod : starting) {
    if (pod.in_use < start_threshold * pod.remembered)
      in_use += pod.remembered - pod.in_use;
    else
      pod.forget = true;
  }
  return in_use;
}

double remember(container_cpu pod) noexcept { return pod.limit != 0 ? decay * pod.limit : pod.request; }

std::optional<shares> shares_of(double load, double capacity, container_cpu pod) noexcept {
  if (pod.limit == 0 && pod.request == 0) return std::nullopt;
  if (load + pod.limit > capacity) return std::nullopt;
  return shares{load / capacity, (load + (pod.request != 0 ? pod.request : decay * pod.limit)) / capacity};
}

std::optional<double> normalised(double celsius, double max, double min) noexcept {
  if (max == min) return std::nullopt;
  return (celsius - min) / (max - min);
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
