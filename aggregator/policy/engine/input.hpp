#pragma once

#include "aggregator/policy/engine/strategy_run.hpp"

#include <map>
#include <memory>
#include <vector>

namespace binnacle::policy {

/// A column as rules with one staleAfter see it: which nodes have a value, and until when. Passes samples on
/// to these rules.
class input {
 public:
  struct user {
    strategy_run* run;
    std::vector<std::size_t> rules;
  };

  input(std::uint32_t serial, std::optional<duration> stale_after)
      : serial_(serial), stale_after_(stale_after) {}

  std::uint32_t serial() const noexcept { return serial_; }
  const std::optional<duration>& stale_after() const noexcept { return stale_after_; }
  const std::vector<user>& users() const noexcept { return users_; }
  /// Nodes that have a value.
  std::uint32_t present() const noexcept { return present_; }

  /// A sample of the column as the rules of this input see it: their staleAfter replaces its expiry.
  store::sample seen(const store::sample& s) const noexcept { return s.with_life(stale_after_); }

  void attach(strategy_run& run, std::size_t rule);
  void detach(const strategy_run& run);

  // Samples below are as seen() makes them.
  /// Takes a sample without telling the rules: for a node or an input that is new. True if there is a value.
  bool seed(store::node_id node, const store::sample& s, instant now, deadlines& due_list);
  /// Takes a sample and tells the rules. The strategies wait in run_context::unjudged.
  void feed(store::node_id node, const store::sample& s, instant now, run_context& out);
  /// due::expiry, set for `at`: the value becomes absent, unless it has been renewed. The strategies wait,
  /// too.
  void expire(store::node_id node, instant at, instant now, run_context& out);
  /// Whether that deadline still matters.
  bool awaits(store::node_id node, instant at) const noexcept;
  void forget(store::node_id node);

 private:
  struct cell {
    instant expires_at{};
    instant queued_for{};  // when due::expiry comes; only one for each node counts, so the heap is bounded
    bool present = false;
  };
  cell& at(store::node_id node);
  void count(cell& c, bool present);
  void wake(store::node_id node, cell& c, deadlines& due_list);
  void lose(store::node_id node, run_context& out);

  std::uint32_t serial_;
  std::optional<duration> stale_after_;
  std::vector<user> users_;
  std::vector<cell> cells_;  // by node
  std::uint32_t present_ = 0;
};

/// A column that some rule watches, with its inputs: one, or more if rules differ in their staleAfter.
struct watched_column {
  column_source::watched from;
  instant since{};  ///< watched since then
  std::vector<std::unique_ptr<input>> inputs;
};

}  // namespace binnacle::policy
