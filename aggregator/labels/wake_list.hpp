#pragma once

#include "aggregator/decision/ring.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/clock.hpp"
#include "common/doubling.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::labels {

/// Pods that a dontschedule strategy has kept from every node, and the nodes that refused them. When one of
/// these nodes would take the pod now, due() names it. A change of that node then makes the scheduler try the
/// pod again (Kubernetes 1.30 and later), and not only after five minutes. Pure: time is given.
class wake_list {
 public:
  static constexpr duration remembered = std::chrono::minutes(6);  ///< how long a pod, after its last refusal
  static constexpr duration first_pause =
      std::chrono::seconds(12);  ///< a little more than the scheduler's longest back-off
  static constexpr duration between = std::chrono::seconds(5);  ///< two wakes of one node
  static constexpr std::size_t most_pods = 10'000;

  /// To be called with every answer to a filter call. A pod that some node may take waits no longer.
  void answered(const decision::record& r, instant now);
  /// Names of nodes that would take pods which they had refused. One node serves all its pods. If the
  /// scheduler does not ask about a pod after that, another node is named for it, after longer and longer
  /// pauses.
  std::vector<std::string> due(const policy::view& nodes, const decision::node_names& names, instant now);

  bool empty() const noexcept { return pods_.empty(); }
  std::size_t size() const noexcept { return pods_.size(); }
  std::uint64_t dropped() const noexcept { return dropped_; }  ///< pods left out because of most_pods

 private:
  using node_set = std::vector<std::uint64_t>;  // a bit for each node
  struct pod {
    policy::policy_key policy;
    node_set nodes;  // nodes that refused it and have not been named for it
    instant refused_at{};
    instant not_before{};
    doubling pauses{first_pause};
  };

  /// Which node refuses which policy now, each asked once.
  class round;

  void forget_old(instant now);

  std::map<std::string, pod> pods_;  // by UID
  std::map<store::node_id, instant> named_;
  std::uint64_t dropped_ = 0;
};

}  // namespace binnacle::labels
