#include "aggregator/predict/wao/wao_v2.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace binnacle::predict::wao_v2 {

double need(std::span<const container_cpu> containers) noexcept {
  double cores = 0;
  for (const auto& c : containers) cores += c.request != 0 ? c.request : c.limit;
  return cores;
}

std::int64_t increase(double before_watts, double after_watts) noexcept {
  const double more = after_watts - before_watts;
  if (!std::isfinite(more) || std::abs(more) >= 1e15) return error;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(more));
}

void normalise(std::span<const std::int64_t> watts, std::span<int> scores, int base) noexcept {
  std::int64_t high = std::numeric_limits<std::int64_t>::min(),
               low = std::numeric_limits<std::int64_t>::max();
  for (const auto w : watts) {
    if (w < 0) continue;
    high = std::max(high, w);
    low = std::min(low, w);
  }
  for (std::size_t i = 0; i < watts.size(); ++i) {
    if (watts[i] == error)
      scores[i] = 0;
    else if (watts[i] == overload)
      scores[i] = 1;
    else if (high == low)
      scores[i] = base;
    else
      scores[i] = static_cast<int>(100 - (100 - base) * (watts[i] - low) / (high - low));
  }
}

}  // namespace binnacle::predict::wao_v2
