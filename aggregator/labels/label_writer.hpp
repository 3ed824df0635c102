#pragma once

#include "aggregator/kube/refusal.hpp"
#include "aggregator/labels/counters.hpp"
#include "aggregator/labels/label_change.hpp"
#include "aggregator/labels/patch_pace.hpp"
#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace binnacle::labels {

/// Which node is patched next, and how. Some patches are under way at a time (most_under_way), one of a node,
/// one a second for each node, and all of them together go at the pace that the API server has time for. A
/// patch that failed is made again after a pause, from what is known then. Changes that cancel each other
/// between two patches are never written. Pure: time is given.
class label_writer {
 public:
  struct settings {
    duration between = std::chrono::seconds(1);  ///< two patches of one node
  };
  /// `nodes` must outlive this.
  label_writer(const kube::node_objects& nodes, settings s, std::uint64_t seed);

  /// The node is new, gone or different. Nothing is kept of a node that is gone; its wishes come again with
  /// it.
  void look_at(const std::string& node, instant now);
  void wish(const std::string& node, policy::label_wishes wishes, instant now);
  /// Which labels belong to policies. Before the first call only wakes are written.
  void claim(policy::label_claims claims, instant now);
  /// Wakes pods that this node has refused and would take now.
  void wake(const std::string& node, instant now);
  /// While false only wakes are written: another replica has the Lease.
  void set_leads(bool leads, instant now);

  /// With so many, 5,000 labels take a minute where an answer takes 90 ms. Each is a call of its own, on a
  /// connection of its own.
  static constexpr std::size_t most_under_way = 8;
  struct patch {
    std::string node;
    http::call call;
  };
  /// The patch that is due, if any. Follow it with answered() or broke() of its node. Looks at some hundreds
  /// of nodes at most; if more may be due, next_wake() is now.
  std::optional<patch> next(instant now);
  void answered(const std::string& node, const http::answer& a, instant now);
  void broke(const std::string& node, const error& why, instant now);
  /// Another part got an answer from the API server. Ends a pause that began because none came.
  void reachable(instant now);
  /// When next() may yield a patch without another call before it; none: never.
  std::optional<instant> next_wake() const noexcept;

  /// Nodes on which somebody else has set a key that is wished for, by key.
  std::map<std::string, std::set<std::string>> foreign() const;
  /// Nodes where the set of wished keys that somebody else has set changed since the last call, with that
  /// set. The policy engine is told, whether or not this replica has the Lease.
  std::map<std::string, policy::taken_keys> take_taken();
  /// Why labels may not be as they should be, in one sentence, or empty.
  const std::string& trouble() const noexcept { return trouble_; }
  const patch_counters& stats() const noexcept { return counters_; }

 private:
  struct work {
    std::optional<policy::label_wishes> wishes;
    bool wake = false;
    instant not_before{};
    std::optional<instant> queued_for;
  };

  /// A patch that is not answered yet.
  struct flight {
    instant sent{};
    bool waking = false;  // it changes the label that wakes
    bool held = false;    // others were waiting for the pace, and for nothing else
    bool again = false;   // the node's turn came meanwhile
  };

  flight land(const std::string& node);
  void enqueue(const std::string& node, work& w, instant now);
  void enqueue_all(instant now);
  label_change change_of(const std::string& node, const work& w);
  void note(const std::string& node, policy::taken_keys taken);
  void pause(const flight& of, std::string why, duration at_least, instant now);

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

  std::map<std::string, flight> under_way_;  // by node
  patch_pace patches_;
  backoff pauses_;
  instant paused_at_{}, paused_until_{};
  bool unanswered_ = false;  // the pause is because the API server did not answer
  std::string trouble_;
  patch_counters counters_;
};

}  // namespace binnacle::labels
