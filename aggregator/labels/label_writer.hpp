#pragma once

#include "aggregator/kube/refusal.hpp"
#include "aggregator/labels/label_change.hpp"
#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/rate_limit.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace binnacle::labels {

/// Which node is patched next, and how: one patch at a time, one a second for each node, and a bound for all
/// of them together; what fails is tried again with pauses, from what is known then. Whatever happens between
/// two writes, only the difference of the end is written. Pure: time is given.
class label_writer {
 public:
  struct settings {
    duration between = std::chrono::seconds(1);       ///< two patches of one node
    int burst = 40;                                   ///< patches at once,
    duration refill = std::chrono::milliseconds(50);  ///< and one more after each of these
  };
  struct counters {
    std::uint64_t written = 0;  ///< patches that the API server took
    std::uint64_t refused = 0;  ///< that it refused: 4xx, 5xx
    std::uint64_t broken = 0;   ///< that were not answered
    std::uint64_t woken = 0;    ///< of those written, with the label that wakes pods
  };

  /// `nodes` must outlive this.
  label_writer(const kube::node_objects& nodes, settings s, std::uint64_t seed);

  /// The node is new, gone or different. Of one that is gone nothing is kept: wishes come again with it.
  void look_at(const std::string& node, instant now);
  void wish(const std::string& node, policy::label_wishes wishes, instant now);
  /// Until the first call nothing is written but wakes.
  void claim(policy::label_claims claims, instant now);
  /// Pods wait that this node has refused and would take now.
  void wake(const std::string& node, instant now);
  /// While false only wakes are written: another replica has the Lease.
  void set_leads(bool leads, instant now);

  /// The patch that is due, if any; then answered() or broke(). Looks at some hundreds of nodes at most: when
  /// there may be more to do at once, next_wake() says so.
  std::optional<http::call> next(instant now);
  /// `name` of the node whose patch is under way.
  const std::string& under_way() const noexcept { return under_way_; }
  void answered(const http::answer& a, instant now);
  void broke(const error& why, instant now);
  /// The API server answers again, as others see: a pause because it did not is over.
  void reachable(instant now);
  /// When next() may have something without another call; none: never.
  std::optional<instant> next_wake() const noexcept;

  /// Nodes that carry a key already which is not ours, by key.
  std::map<std::string, std::set<std::string>> foreign() const;
  /// Nodes of which other keys are somebody else's than at the last call, among those that are wished for,
  /// whoever has the Lease: they are told to the policy engine.
  std::map<std::string, policy::taken_keys> take_taken();
  /// Why labels may not be as they should be, in one sentence, or empty.
  const std::string& trouble() const noexcept { return trouble_; }
  const counters& stats() const noexcept { return counters_; }

 private:
  struct work {
    std::optional<policy::label_wishes> wishes;
    bool wake = false;
    instant not_before{};
    std::optional<instant> queued_for;
  };

  void enqueue(const std::string& node, work& w, instant now);
  void enqueue_all(instant now);
  label_change change_of(const std::string& node, const work& w);
  void note(const std::string& node, policy::taken_keys taken);
  void pause(std::string why, duration at_least, instant now);

  const kube::node_objects& nodes_;
  const settings settings_;
  std::mt19937_64 random_;
  std::map<std::string, work> work_;
  std::map<std::string, std::vector<std::string>> foreign_;  // keys, by node
  std::map<std::string, policy::taken_keys> taken_;          // by node, of those that have any
  std::map<std::string, policy::taken_keys> taken_news_;
  std::set<std::pair<instant, std::string>> queue_;
  std::optional<policy::label_claims> claims_;
  bool leads_ = false;

  std::string under_way_;
  bool waking_ = false;  // the patch under way changes the label that wakes
  rate_limit patches_;
  backoff pauses_;
  instant paused_until_{};
  bool unanswered_ = false;  // that is why
  std::string trouble_;
  counters counters_;
};

}  // namespace binnacle::labels
