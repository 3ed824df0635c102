#include "aggregator/predict/cost.hpp"

#include "aggregator/predict/believable.hpp"

#include <algorithm>
#include <limits>

namespace binnacle::predict {
namespace {

struct both_ends {
  double cheapest = std::numeric_limits<double>::infinity(), dearest = 0;
};

/// Writes the known costs as watts, NaN for the others. It is apart, so that g++ keeps both ends in
/// registers.
[[gnu::noinline]] both_ends ends_of(std::span<const cost> costs, std::span<double> watts) {
  both_ends out;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const bool known = costs[i].is == cost::known::yes;
    watts[i] = known ? costs[i].watts : std::numeric_limits<double>::quiet_NaN();
    if (!known) continue;
    out.cheapest = std::min(out.cheapest, watts[i]);
    out.dearest = std::max(out.dearest, watts[i]);
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> score_costs(std::span<const cost> costs, std::span<std::uint8_t> scores) {
  std::vector<double> watts(costs.size());
  auto [cheapest, dearest] = ends_of(costs, watts);
  std::vector<std::uint32_t> beyond;
  // How far apart honest costs usually are is not known (0): they go with the size of the pod.
  const believable_range ends = believable(watts, cheapest, dearest, 0);
  if (cheapest < ends.low || dearest > ends.high) {
    for (std::uint32_t i = 0; i < watts.size(); ++i) {
      if (watts[i] < ends.low || watts[i] > ends.high) beyond.push_back(i);
      watts[i] = std::clamp(watts[i], ends.low, ends.high);
    }
    cheapest = std::max(cheapest, ends.low);
    dearest = std::min(dearest, ends.high);
  }
  const double like_cheapest = 1.005 * cheapest;
  const double spread = std::max(dearest - like_cheapest, 0.05 * dearest);
  const double points = spread > 0 ? (top_score - least_known_score) / spread : 0;  // for a watt
  for (std::size_t i = 0; i < costs.size(); ++i) {
    switch (costs[i].is) {
      case cost::known::no:
      case cost::known::error: scores[i] = 0; break;
      case cost::known::over: scores[i] = 1; break;
      case cost::known::yes: {
        // Never above 10, so cutting off is rounding down; std::floor is a call on x86-64 without SSE 4.1.
        const double above = std::max(0.0, watts[i] - like_cheapest);
        scores[i] =
            static_cast<std::uint8_t>(std::max<double>(top_score - above * points + 1e-9, least_known_score));
      }
    }
  }
  return beyond;
}

}  // namespace binnacle::predict
