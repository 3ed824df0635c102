#pragma once

#include "aggregator/snapshot/snapshot.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace binnacle::aggregator {

/// A snapshot to go on from.
struct kept_state {
  snapshot all;
  duration shift{};      ///< shift_of()
  bool is_dated = true;  ///< false: its age is not known, so only what does not age counts of it
};

/// A node of one of several states: the state's place among them, and the node's place in the state.
struct kept_node {
  std::size_t state = 0, node = 0;
  friend bool operator==(const kept_node&, const kept_node&) = default;
};

/// How much a state knows of a node: for how long the node's agent had been connected, an hour at most, less
/// the time that has passed since. The least number: the agent has never been connected, or nobody knows
/// when.
duration knowledge_of(const kept_state& s, const snapshot::node& n, instant now) noexcept;

/// Every node of the states once, from the state that knows most of it: the first one that has the node,
/// unless a later one knows a minute more. So a state that says nothing of a node, or has known it for a
/// moment, or has not heard of it for long, takes nothing from one that knows it well. Pure.
std::vector<kept_node> best_nodes(std::span<const kept_state> states, instant now);

}  // namespace binnacle::aggregator
