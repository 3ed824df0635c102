#pragma once

#include "tests/bench/power/fleet.hpp"

#include <cstdint>
#include <span>

namespace binnacle::bench {

/// What a fleet knows after it was learned for some hours by the product's own core/power_learning, from
/// meters as they are: each kind of server has a BMC that is 10 to 60 s late and says means of 10 to 60 s, in
/// whole watts. Of eight nodes of a kind one reads half too high, one stands still for 20 minutes every two
/// hours, one is off by 5 % from second to second, and one is another kind of server from half the time on,
/// under the same name. Loads never rest: each node has a day of its own, and wanders about it. Virtual time.
struct known_fleet {
  fleet nodes;  ///< with what was learned as what is believed
  double median_off =
      0;  ///< of the nodes' curves: their mean distance from what their meter would say, as a share
  double worst_off = 0;     ///< of the node whose curve is farthest off
  std::size_t unknown = 0;  ///< nodes without a curve
  std::uint64_t learned = 0, samples = 0;
};
known_fleet after_hours(int hours, const fleet& truth, std::span<const server> kinds, std::uint64_t seed = 1);

}  // namespace binnacle::bench
