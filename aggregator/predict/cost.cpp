#include "aggregator/predict/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace binnacle::predict {

cost cost_of(const chords& node, double load, double pod, double watts) noexcept {
  // Sums of cores are rounded: a pod that fills a node exactly fits.
  const bool fits = load + pod <= node.cap() + 1e-9 * node.cores();
  return fits ? cost{cost::known::yes, watts} : cost{cost::known::over, 0};
}

cost cost_by_chord(const chords& node, double load, double pod) noexcept {
  return cost_of(node, load, pod, node.from(load) * pod);
}

cost cost_by_increase(const chords& node, double load, double pod) noexcept {
  return cost_of(node, load, pod, node.watts(load + pod) - node.watts(load));
}

void score_costs(std::span<const cost> costs, std::span<std::uint8_t> scores) {
  double cheapest = std::numeric_limits<double>::infinity(), dearest = 0;
  for (const cost& c : costs) {
    if (c.is != cost::known::yes) continue;
    cheapest = std::min(cheapest, c.watts);
    dearest = std::max(dearest, c.watts);
  }
  const double like_cheapest = 1.005 * cheapest;
  const double spread = std::max(dearest - like_cheapest, 0.05 * dearest);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    switch (costs[i].is) {
      case cost::known::no:
      case cost::known::error: scores[i] = 0; break;
      case cost::known::over: scores[i] = 1; break;
      case cost::known::yes: {
        const double above = std::max(0.0, costs[i].watts - like_cheapest);
        const double off = above > 0 ? std::ceil((top_score - least_known_score) * above / spread - 1e-9) : 0;
        scores[i] = static_cast<std::uint8_t>(top_score - off);
      }
    }
  }
}

}  // namespace binnacle::predict
