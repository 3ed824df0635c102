#pragma once

#include "tests/bench/power/fleet.hpp"

namespace binnacle::bench {

/// Pods that come by chance, live exponentially and go.
struct churn {
  double load = 0.5;             ///< the share of the fleet's cores that is given away, in the mean
  std::vector<double> sizes{4};  ///< cores; each as likely
  /// The share that is given away when it begins; more than `load`: an evening, when fewer pods come than go.
  /// Negative: `load`, too.
  double begins_at = -1;
  /// A descheduler's threshold: nodes below this share of their cores are emptied, every tenth of a pod's
  /// life, if the other nodes take their pods by the same rule. 0: no descheduler.
  double empty_below = 0;
};

struct lived {
  double watts = 0;    ///< mean over time
  double fullest = 0;  ///< the share that the fullest node has given away, mean over time
  double moved = 0;    ///< evictions for each pod that came
  double refused = 0;  ///< the share of pods that found no room
};
/// Ten mean lives, after five to settle; of an evening, the first three.
lived live(const fleet& empty, rule by, const churn& how, std::uint64_t seed = 1);

/// What the best placement of as many cores would have drawn, over the same run of arrivals.
double least_while_living(const fleet& empty, const churn& how, std::uint64_t seed = 1);

}  // namespace binnacle::bench
