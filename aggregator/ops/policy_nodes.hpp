#pragma once

#include "aggregator/ops/report.hpp"
#include "aggregator/policy/published/view.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace binnacle::ops {

/// The labels that tell the series of one strategy from those of others: namespace, policy, strategy.
metrics::label_set strategy_labels(const policy::strategy_status& s);

/// What /metrics says of where the policies bite. For each strategy: `binnacle_policy_nodes`, how many nodes
/// are in each state, and `binnacle_policy_node_state`, the first `most` nodes by name of each state but
/// pass. `strategies` is what the engine last said; a strategy that is not in force any more has no names.
/// Cost: one walk over the nodes for all strategies together, which ends when every name is found; none while
/// all nodes pass.
std::vector<own_sample> policy_nodes(const policy::view& nodes,
                                     std::span<const policy::strategy_status> strategies, std::size_t most);

}  // namespace binnacle::ops
