#pragma once

#include "tests/bench/power/fleet.hpp"

namespace binnacle::bench {

/// What nodes have learned about themselves after a while.
struct lesson {
  int samples = 600;     ///< one a second: ten minutes
  double noise = 0.02;   ///< of the meter, a share of the watts (one sigma)
  double up_to = 1;      ///< the load wanders between idle and this
  bool by_class = true;  ///< nodes with the same hardware learn together
  /// Each node's meter reads too high or too low by its own share, up to this. One in eight reads half too
  /// high.
  double meters_off = 0;
  bool parts = false;  ///< every other node only had loads in the lower half, the rest in the upper half
};
/// The fleet with the curves that Binnacle's learner makes of such samples. The true curves stay as they are.
fleet after(const lesson& what, const fleet& truth, std::span<const server> kinds, std::uint64_t seed = 1);

}  // namespace binnacle::bench
