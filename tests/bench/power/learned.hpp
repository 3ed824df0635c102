#pragma once

#include "tests/bench/power/fleet.hpp"

namespace binnacle::bench {

/// What nodes know of themselves after a while.
struct lesson {
  int samples = 600;     ///< one a second: ten minutes
  double noise = 0.02;   ///< of the meter, a share of the watts (one sigma)
  double up_to = 1;      ///< the load wanders between idle and this
  bool by_class = true;  ///< nodes with the same hardware learn together
  /// Each node's meter reads another share too high or too low, up to this; one in eight half too high.
  double meters_off = 0;
  bool parts = false;  ///< of two nodes one had the lower half of the loads, the other the upper one
};
/// The fleet with the curves that Binnacle's learner makes of such samples; what it draws stays the truth.
fleet after(const lesson& what, const fleet& truth, std::span<const server> kinds, std::uint64_t seed = 1);

}  // namespace binnacle::bench
