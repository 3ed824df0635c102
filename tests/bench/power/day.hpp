#pragma once

#include "tests/bench/power/fleet.hpp"

#include <cstdint>
#include <span>

namespace binnacle::bench {

/// What a fleet has learned after some hours, by the product's own core/power_learning, from realistic
/// meters. Each kind of server has a BMC that is 10 to 60 s late and reports means over 10 to 60 s, in whole
/// watts. Of eight nodes of a kind, one meter reads half too high, one does not move for 20 minutes every two
/// hours, one is off by 5 % from second to second and knows steps of 4 W only, and one node is another kind
/// of server in the second half of the time, under the same name. Loads change all the time: each node has
/// its own daily curve and a random walk around it. One of eight has jobs of an hour and as much rest between
/// them instead, and its meter says means over five minutes. Time is virtual.
struct known_fleet {
  fleet nodes;  ///< `believed` is what was learned
  double median_off =
      0;  ///< mean distance of a node's curve from its own meter, as a share; median of all nodes
  double worst_off = 0;     ///< the same of the node whose curve is farthest off
  std::size_t unknown = 0;  ///< nodes without a curve
  /// How often a node with jobs of an hour began to learn anew, all of them together, and how far the worst
  /// of their curves is off. Nothing of them has changed.
  std::size_t anew_with_jobs = 0;
  double worst_off_with_jobs = 0;
  std::uint64_t learned = 0, samples = 0;
};
known_fleet after_hours(int hours, const fleet& truth, std::span<const server> kinds, std::uint64_t seed = 1);

}  // namespace binnacle::bench
