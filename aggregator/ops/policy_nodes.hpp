#pragma once

#include "aggregator/ops/report.hpp"
#include "aggregator/policy/published/view.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace binnacle::ops {

/// The labels that tell the series of one strategy from those of others: namespace, policy, strategy.
metrics::label_set strategy_labels(const policy::strategy_status& s);

/// The metrics that show which nodes the policies concern. For each strategy `binnacle_policy_nodes` says how
/// many nodes are in each state, and `binnacle_policy_node_state` names the first `most` nodes of each state
/// but pass. `strategies` is the engine's last report; no nodes are named for a strategy that is no longer in
/// force. Cost: one walk over the nodes for all strategies together, which ends when every name is found;
/// none while all nodes pass.
std::vector<own_sample> policy_nodes(const policy::view& nodes,
                                     std::span<const policy::strategy_status> strategies, std::size_t most);

}  // namespace binnacle::ops
