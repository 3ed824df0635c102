#pragma once

#include "aggregator/policy/policy.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace binnacle::policy {

/// maxNodes and coolDown: how many nodes may carry a strategy's labels at once, and how soon one after
/// another. Who asks too many waits, in the order of asking. A share is of the known nodes, rounded down, at
/// least one.
///
/// What is labelled stays labelled until its violation ends: when the known nodes become fewer, a share
/// shrinks for those who ask after that only.
///
/// Closed, because another process writes the labels, it gives no place: only adopt() does, for a label that
/// is seen.
class label_budget {
 public:
  label_budget(std::optional<node_limit> most, duration cool_down) : most_(most), cool_down_(cool_down) {}

  bool limits() const noexcept { return most_.has_value() || cool_down_ > duration::zero(); }

  /// True if `node` has a place, old or new; else it waits from now on.
  bool ask(store::node_id node, instant now, std::uint32_t known_nodes);
  /// `node` needs no place (any more) and does not wait. True if a place became free.
  bool give_back(store::node_id node);
  /// `node` keeps its place if it has one, and waits no longer if it has none (its data is missing).
  void stop_waiting(store::node_id node);
  /// A label found on the node (restart, edited policy): takes a place without waiting.
  void adopt(store::node_id node);
  /// A label went on, whoever wrote it: the cool-down begins.
  void given(instant now) noexcept { last_given_ = now; }

  void set_open(bool open) noexcept { open_ = open; }
  bool open() const noexcept { return open_; }

  bool has(store::node_id node) const noexcept;
  std::uint32_t used() const noexcept { return used_; }
  std::uint32_t places(std::uint32_t known_nodes) const noexcept;

  /// Gives the longest waiting node a place, if there is one and the cool-down is over.
  std::optional<store::node_id> next(instant now, std::uint32_t known_nodes);
  /// When next() could succeed without anything else happening: the end of the cool-down, if somebody waits
  /// for just that.
  std::optional<instant> next_at(std::uint32_t known_nodes) const noexcept;

  /// The cool-down goes on across an edit of the policy.
  void remember(const label_budget& before) noexcept { last_given_ = before.last_given_; }

 private:
  struct place {
    bool taken = false;
    std::uint64_t ticket = 0;  // 0: does not wait
  };
  place& at(store::node_id node);
  bool cooled_down(instant now) const noexcept { return !last_given_ || now - *last_given_ >= cool_down_; }
  void take(place& p, instant now);

  bool open_ = true;
  std::optional<node_limit> most_;
  duration cool_down_;
  std::vector<place> places_;                      // by node
  std::map<std::uint64_t, store::node_id> queue_;  // by ticket
  std::uint64_t next_ticket_ = 1;
  std::uint32_t used_ = 0;
  std::optional<instant> last_given_;
};

}  // namespace binnacle::policy
