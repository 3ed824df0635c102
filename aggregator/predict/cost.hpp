#pragma once

#include "aggregator/predict/chords.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace binnacle::predict {

/// What a pod costs on one candidate, in watts.
struct cost {
  enum class known : std::uint8_t {
    no,     ///< no model or no load: no opinion
    error,  ///< WAO's objectives only: the original has no figure for this pod here
    over,   ///< the pod would fill the node beyond its cap
    yes,
  };
  known is = known::no;
  double watts = 0;
};

/// A cost of `watts`, or `over` if the pod does not fit below the node's cap. `load` is what is measured and
/// what is in flight, `pod` what the pod will use, both in cores.
inline cost cost_of(const chords& node, double load, double pod, double watts) noexcept {
  // Sums of cores are rounded: a pod that fills a node exactly fits.
  const bool fits = load + pod <= node.cap() + 1e-9 * node.cores();
  return fits ? cost{cost::known::yes, watts} : cost{cost::known::over, 0};
}

constexpr std::uint8_t top_score = 10;
constexpr std::uint8_t least_known_score = 2;

/// Scores by value: the cheapest gets 10, the dearest 2, the others in proportion, rounded down: only nodes
/// within half a percent of the cheapest share its 10, so that ten steps lose nothing where it counts. Equal
/// costs all get 10; a spread below 5 % of the dearest counts as 5 %, since no model knows better. 1 for a
/// node that the pod would fill beyond its cap, 0 for one without a model or with an error. The spans have
/// one size.
/// One node's false watts cannot make the scores of all others equal: a cost far outside the range of the
/// others counts as the end of that range (believable()). Returns these candidates, ascending; nearly always
/// none. An idle node that is dear to start may be among them, where few others are idle.
std::vector<std::uint32_t> score_costs(std::span<const cost> costs, std::span<std::uint8_t> scores);

}  // namespace binnacle::predict
