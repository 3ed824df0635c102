#include "aggregator/predict/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace binnacle::predict {

void score_costs(std::span<const cost> costs, std::span<std::uint8_t> scores) {
  double cheapest = std::numeric_limits<double>::infinity(), dearest = 0;
  for (const cost& c : costs) {
    if (c.is != cost::known::yes) continue;
    cheapest = std::min(cheapest, c.watts);
    dearest = std::max(dearest, c.watts);
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
        const double above = std::max(0.0, costs[i].watts - like_cheapest);
        scores[i] =
            static_cast<std::uint8_t>(std::max<double>(top_score - above * points + 1e-9, least_known_score));
      }
    }
  }
}

}  // namespace binnacle::predict
