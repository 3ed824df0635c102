#pragma once

#include "aggregator/predict/chords.hpp"

namespace binnacle::predict {

/// The load of a node that pods are placed on, in cores.
struct node_load {
  double measured = 0;
  double in_flight = 0;  ///< of pods just placed there, which the measurement does not show yet

  double cores() const noexcept { return measured + in_flight; }
};

/// `share`: the part of the node's cores that is busy. `asked_for`: the cores that pods in flight request.
/// They are assumed to use the part `usage` of these.
inline node_load load_of(const chords& node, double share, double asked_for, double usage) noexcept {
  return {share * node.cores(), usage * asked_for};
}

}  // namespace binnacle::predict
