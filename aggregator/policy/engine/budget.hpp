#pragma once

#include "aggregator/policy/policy.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace binnacle::policy {

/// maxNodes and coolDown: how many nodes may carry a strategy's labels at once, and how soon one is labelled
/// after another. A node that finds no slot waits; slots go to waiting nodes in the order in which they
/// asked. A share (20%) is of the known nodes, rounded down, at least one.
///
/// A labelled node keeps its slot until its violation ends. When the known nodes become fewer, a share
/// shrinks only for nodes that ask after that.
///
/// While another process writes the labels, the budget gives no slots by itself. Only adopt() then takes
/// one, for a label that is seen on a node.
class label_budget {
 public:
  label_budget(std::optional<node_limit> most, duration cool_down) : most_(most), cool_down_(cool_down) {}

  bool limits() const noexcept { return most_.has_value() || cool_down_ > duration::zero(); }

  /// True if `node` has a slot, from before or from now on. Otherwise it waits from now on.
  bool ask(store::node_id node, instant now, std::uint32_t known_nodes);
  /// `node` needs no slot and does not wait. True if a slot became free.
  bool give_back(store::node_id node);
  /// `node` keeps its slot if it has one, and stops waiting if it has none: its data is missing.
  void stop_waiting(store::node_id node);
  /// A label found on the node (restart, edited policy): takes a slot without waiting.
  void adopt(store::node_id node);
  /// Some process labelled a node: the cool-down begins.
  void given(instant now) noexcept { last_given_ = now; }

  void set_writes_labels(bool yes) noexcept { writes_labels_ = yes; }
  bool writes_labels() const noexcept { return writes_labels_; }

  bool has(store::node_id node) const noexcept;
  std::uint32_t used() const noexcept { return used_; }
  std::uint32_t slots(std::uint32_t known_nodes) const noexcept;

  /// Gives the longest waiting node a slot, if there is one and the cool-down is over.
  std::optional<store::node_id> next(instant now, std::uint32_t known_nodes);
  /// When next() could succeed although nothing else happens: the end of the cool-down, if a node waits only
  /// for that.
  std::optional<instant> next_at(std::uint32_t known_nodes) const noexcept;

  /// When a label went on last.
  const std::optional<instant>& last_given() const noexcept { return last_given_; }
  /// Where the node stands in the queue: lower numbers are served first; 0: it does not wait.
  std::uint64_t ticket(store::node_id node) const noexcept {
    return index(node) < slots_.size() ? slots_[index(node)].ticket : 0;
  }
  /// A node that waited before a restart keeps its turn.
  void wait_again(store::node_id node, std::uint64_t ticket);

  /// The cool-down goes on across an edit of the policy.
  void remember(const label_budget& before) noexcept { last_given_ = before.last_given_; }

 private:
  struct slot {
    bool taken = false;
    std::uint64_t ticket = 0;  // 0: does not wait
  };
  slot& at(store::node_id node);
  bool cooled_down(instant now) const noexcept { return !last_given_ || now - *last_given_ >= cool_down_; }
  void take(slot& p, instant now);

  bool writes_labels_ = true;
  std::optional<node_limit> most_;
  duration cool_down_;
  std::vector<slot> slots_;                        // by node
  std::map<std::uint64_t, store::node_id> queue_;  // by ticket
  std::uint64_t next_ticket_ = 1;
  std::uint32_t used_ = 0;
  std::optional<instant> last_given_;
};

}  // namespace binnacle::policy
