#pragma once

#include "aggregator/ops/report.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/store/walk.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace binnacle::ops {

/// The labels that tell the series of one strategy from those of others: namespace, policy, strategy.
metrics::label_set strategy_labels(const policy::strategy_status& s);

/// The metrics that show which nodes the policies concern. For each strategy `binnacle_policy_nodes` says how
/// many nodes are in each state, and `binnacle_policy_node_state` names the first `most` nodes of each state
/// but pass. `strategies` is the engine's last report; no nodes are named for a strategy that is no longer in
/// force. Cost: one walk over the nodes for all strategies together, which ends when every name is found;
/// none while all nodes pass. It is done piece by piece, because a thousand policies may have 40,000 samples.
class policy_node_samples {
 public:
  /// `nodes` must outlive it.
  policy_node_samples(const policy::view& nodes, std::vector<policy::strategy_status> strategies,
                      std::size_t most);

  /// Adds samples to `out` until that took `looks` looks at verdicts, or as long. Whether there may be more.
  bool go_on(std::size_t looks, std::vector<own_sample>& out);

  /// To make a sample takes as long as to look at so many verdicts.
  static constexpr std::size_t looks_of_a_sample = 20;

 private:
  /// A strategy whose nodes are still to be named.
  struct search {
    const policy::strategy_status* about;  // in strategies_
    std::shared_ptr<const policy::verdict_column> verdicts;
    std::array<std::size_t, 5> wanted{};  // names still to find, by policy::state
    std::size_t left = 0;                 // their sum
  };
  void count(const policy::strategy_status& s, std::vector<own_sample>& out);
  std::size_t name(const store::node_view& node, std::vector<own_sample>& out);

  const policy::view& nodes_;
  const std::vector<policy::strategy_status> strategies_;
  const std::size_t most_;
  std::size_t counted_ = 0;  // of strategies_
  std::vector<search> open_;
  store::walk place_;
};

/// All samples about policies: which are in force, in which mode and revision, how many nodes they concern,
/// and which.
class policy_samples {
 public:
  policy_samples(const policy::view& nodes, std::vector<policy::strategy_status> strategies);
  /// As policy_node_samples.
  bool go_on(std::size_t looks, std::vector<own_sample>& out);

 private:
  const std::vector<policy::strategy_status> strategies_;
  std::vector<std::shared_ptr<const policy::published_policy>> policies_;  // as they were in the beginning
  std::size_t policy_ = 0, strategy_ = 0;                                  // to tell of next
  policy_node_samples nodes_;
};

}  // namespace binnacle::ops
