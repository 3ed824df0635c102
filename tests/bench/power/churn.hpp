#pragma once

#include "tests/bench/power/fleet.hpp"

namespace binnacle::bench {

/// Pods that arrive at random times and live for exponentially distributed times.
struct churn {
  double load = 0.5;             ///< mean share of the fleet's cores that pods have
  std::vector<double> sizes{4};  ///< cores of a pod; each size is as likely
  /// The share of cores that pods have at the start. More than `load` stands for an evening, when fewer pods
  /// come than go. Negative: the same as `load`.
  double begins_at = -1;
  /// The threshold of a descheduler, as a share of a node's cores. Nodes below it are emptied every tenth of
  /// a pod's mean life, if the other nodes can take their pods by the same rule. 0: no descheduler.
  double empty_below = 0;
};

struct lived {
  double watts = 0;    ///< mean over time
  double fullest = 0;  ///< used share of the fullest node's cores, mean over time
  double moved = 0;    ///< evictions for each pod that came
  double refused = 0;  ///< the share of pods that found no room
};
/// Measures ten mean lives, after five to settle; with an evening, the first three. Gives the means of `runs`
/// runs, each with pods and ties of its own, and every rule gets the same pods in the same run. One run alone
/// is off by some tenths of a point of the saving.
lived live(const fleet& empty, rule by, const churn& how, std::uint64_t runs = 1);

/// What the best placement of the same cores would have drawn, over the same arrivals.
double least_while_living(const fleet& empty, const churn& how, std::uint64_t runs = 1);

}  // namespace binnacle::bench
