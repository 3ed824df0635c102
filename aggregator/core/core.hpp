#pragma once

#include "aggregator/core/changes.hpp"
#include "aggregator/core/node_contact.hpp"
#include "aggregator/core/node_tenants.hpp"
#include "aggregator/core/power_learning.hpp"
#include "aggregator/core/reading_shares.hpp"
#include "aggregator/core/recollection.hpp"
#include "aggregator/labels/label_router.hpp"
#include "aggregator/policy/cost/affordable.hpp"
#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/snapshot/kept_state.hpp"
#include "aggregator/snapshot/snapshot.hpp"
#include "aggregator/store/warehouse.hpp"
#include "common/error.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::aggregator {

struct core_options {
  store::warehouse_limits limits;
  /// Options of the engine. The core sets told_nodes_only itself.
  policy::engine_options policies;
  /// How much of memory and time policies may take. Policies that would take more are not in force.
  policy::cost_limits costs;
  /// What a snapshot may take, by size_of(): windows for which there is no room begin anew after a restart.
  std::size_t snapshot_bytes = std::size_t{64} << 20;
  /// True: nodes' labels are those of Node objects, and come by node_labels(). False: the core keeps them.
  bool in_cluster = false;
};

/// All policies that are to be in force from now on, as far as they are affordable.
struct policies_in_force {
  std::vector<policy::policy> policies;
  /// Names of policies that are wrong, whole or in part. Their labels stay on nodes although no policy in
  /// force gives them.
  std::set<std::string, std::less<>> wrong;
  /// Everything that could be read has been read. Before that no label is removed because no policy gives it.
  bool complete = false;
  /// The file or object that each comes from, as policy_set calls it: for a snapshot.
  std::map<policy::policy_key, std::string> sources = {};
  /// Policies whose newest text is not read, since it would take too much.
  std::vector<policy::too_costly> refused = {};
};

/// Store, policy engine and wishes for labels as one state machine: events in, changes out (README.md). It
/// has no socket, no clock, no file and no thread: the same events with the same times yield the same
/// changes.
///
/// Time: every event says when it happened, in CLOCK_BOOTTIME of this machine. Time never goes back: an event
/// with an earlier `now` happens at the time of the last event.
/// Changes go to the function that the constructor was given, during the event and in order. That function
/// may call only the const functions of the core. Threads: one at a time, the ingest loop's. Rows and shared
/// columns may be read by any thread. Cost: a batch costs what warehouse::apply() and the engine cost,
/// and allocates nothing of its own.
class core {
 public:
  /// `names`: the old names of metrics that are in force, never null.
  core(core_options options, std::shared_ptr<const metrics::alias_table> names,
       std::function<void(change)> yield);
  ~core();
  core(const core&) = delete;
  core& operator=(const core&) = delete;

  // Events of agents' sessions.

  /// The id of a node; a new name gets a new id. Errors: overloaded; see store::warehouse::node().
  result<store::node_id> node(std::string_view name) { return store_.node(name); }
  /// An agent at this address may speak for the node, and does so until disconnected(). `boot`, `displaced`:
  /// see node_tenants::welcomed().
  void welcomed(store::node_id id, const network& from, std::string_view boot, std::string_view displaced,
                instant now);
  /// The node's link is up, to this agent.
  void connected(store::node_id id, std::string agent_version, std::string peer_address, instant now);
  /// The node's link is down.
  void disconnected(store::node_id id, instant now);
  /// The node announces its series. Errors: those of store::warehouse::set_catalog(); the old ones stay.
  result<store::warehouse::catalog_outcome> catalog(store::node_id id, store::prepared_catalog announced,
                                                    instant now);
  result<store::warehouse::catalog_outcome> catalog(store::node_id id, wire::catalog announced, instant now) {
    return catalog(id, store_.preparation(id)(std::move(announced)), now);
  }
  /// The node's values. `offset` brings the agent's boot time to ours. Errors: protocol; nothing is applied.
  result<void> batch(store::node_id id, const wire::batch& values, duration offset, instant now);
  /// How the node's sources are. The core only passes it on.
  void sources(store::node_id id, std::vector<wire::source_status> all, instant now);

  // Events of policies and Node objects.

  void policies(policies_in_force all, instant now);
  void aliases(std::shared_ptr<const metrics::alias_table> table, instant now);
  /// Our labels on Node objects, for the objects where they changed.
  void node_labels(const std::vector<labels::node_labels>& nodes, instant now);
  /// All Node objects have been told by node_labels(): nodes that have none are gone.
  void all_nodes_told(instant now);
  /// Keys that others have set on nodes, for the nodes where they changed.
  void taken_keys(std::vector<labels::node_taken> nodes, instant now);
  /// Whether this replica writes the labels; see policy::engine::set_writes_labels().
  void set_writes_labels(bool writes, instant now);

  /// Agents of most Node objects have connected since the start; see policy::engine::fleet_has_come().
  void fleet_has_come(instant now);

  // Events of the faces.

  /// One more user of a column, which is filled at once from what is known.
  store::watched_values watch(const store::column_spec& spec, instant now);
  void unwatch(store::column_id id, instant now);

  /// `busy`: the part of the time since the last call in which the caller's loop worked, 0 to 1. While that
  /// is too much, agents read the wished families less often (reading_budget).
  void load(double busy, instant now);

  // Events of time.

  /// Does what is due although nothing arrived. Calling it too early or too often does no harm. Returns when
  /// to call it again, unless deadline_moved says earlier; instant::max() means never.
  instant tick(instant now);
  /// Forgets nodes whose link has been down for `idle` and which carry no label of ours. Returns these nodes.
  std::vector<store::warehouse::gone_node> forget_idle(duration idle, instant now);

  // Across a restart.

  /// A snapshot that is being taken.
  struct draft {
    snapshot all;  ///< the clocks are the caller's to fill in
    std::vector<store::column_id> columns;
    std::size_t next = 0;                 ///< the first node that is not in yet
    std::size_t room = 0;                 ///< for the nodes that come, in bytes
    std::size_t share = 0;                ///< of each node: all have the same
    store::words states, learned, words;  ///< of the node that is being added
  };
  /// Begins a snapshot: its columns and strategies.
  draft begin_snapshot() const;
  /// Adds up to `most` nodes, so that a large fleet is copied in small pieces; events may come in between.
  /// True once all are in. A node's room goes to its labels first, then to the states of its strategies, to
  /// what it learned of its watts, to its values, and last to its windows; `all.left_out` counts what is not
  /// in. Cost: some 2 µs a node, 10 with windows.
  bool add_nodes(draft& d, std::size_t most) const;
  /// Goes on from snapshots, the preferred one first; to be called before any other event. Each node is taken
  /// from the one that knows most of it (best_nodes()), but what it learned of its watts from the one in
  /// which it had learned more. The nodes are known from now on, not connected; their values count until they
  /// expire. What the snapshots say of policies counts once these policies are set, until
  /// strategies_count_for after all policies were set. What they say of windows counts until
  /// snapshot_counts_for is over. Returns how many nodes were taken from each. At least one.
  std::vector<std::size_t> recall(std::vector<kept_state> from, instant now);
  /// Goes on from one snapshot. `shift`: shift_of(). Returns how many nodes it had.
  std::size_t recall(snapshot from, duration shift, instant now);
  /// The versions of policies that an earlier process had read last, from the snapshot; for
  /// policy_set::recall(). Empty once all policies have been set.
  const std::vector<policy::kept_policy>& recalled_policies() const noexcept { return recalled_policies_; }
  /// By then the agents that are there have come back. The rest of the snapshot is dropped.
  static constexpr duration snapshot_counts_for = std::chrono::hours(1);
  /// A policy that comes later begins anew.
  static constexpr duration strategies_count_for = std::chrono::minutes(5);
  /// Since it was taken. Somewhat less than the age at which a file is no longer used.
  static constexpr duration file_counts_for = snapshot::oldest - std::chrono::minutes(10);
  /// Whether the snapshot that the core started from says more than a new one would. It does until all
  /// policies have been read, because a new snapshot lacks what the old one says of them. Until then the old
  /// one must not be replaced, unless it will soon be too old to count: then a new one keeps the rest.
  bool remembers_more() const noexcept {
    return recalled_ != nullptr && !policies_read_ && now_ < file_counts_until_;
  }
  /// Whether all policies have been set at least once.
  bool policies_read() const noexcept { return policies_read_; }

  // What the core holds.

  const store::warehouse& store() const noexcept { return store_; }
  const policy::engine& engine() const noexcept { return engine_; }
  /// All that hold for policies: the engine's, and TooCostly.
  std::vector<policy::condition> conditions() const;
  policy::cost_report costs() const { return affordable_.report(); }
  /// What agents are to read and how often, and which parties get less than they wish for.
  const reading_shares& readings() const noexcept { return readings_; }
  const power_learning& learning() const noexcept { return learning_; }
  const node_tenants& tenants(store::node_id id) const;

 private:
  class engine_side;

  instant at(instant now);
  node_tenants& tenants_of(store::node_id id);
  node_contact& contact_of(store::node_id id);
  void heard_of(store::node_update u);
  void add_node(draft& d, store::node_id id) const;
  void recall_node(kept_node from, store::node_id id);
  void recall_learned();
  void forget_in_time();
  std::vector<policy::kept_policy> policies_to_keep() const;
  void put_in_force();
  void tell(power_learning::news learned);
  void say_too_costly();
  void share_readings();
  std::size_t fleet() const noexcept { return std::max(store_.node_count(), router_.objects()); }
  void settle();
  void announce_deadline();
  instant next_deadline() const;

  const core_options options_;
  const std::function<void(change)> yield_;
  std::shared_ptr<const metrics::alias_table> names_;
  instant now_{};                      // of the last event
  instant promised_ = instant::max();  // when the caller thinks that tick() is due
  std::uint64_t interest_told_ = 0;    // as a version
  bool store_expires_ = false;         // its samples are what is left of others
  bool readers_changed_ = false;       // or the budget: the readings are to be shared anew
  store::warehouse store_;
  const std::unique_ptr<engine_side> side_;
  policy::engine engine_;
  labels::label_router router_;
  power_learning learning_;
  std::vector<node_tenants> tenants_;       // by node id
  std::vector<node_contact> contacts_;      // by node id
  std::unique_ptr<recollection> recalled_;  // null: there is none, or no longer
  instant snapshot_counts_until_ = instant::max(), strategies_count_until_ = instant::max();
  instant file_counts_until_ = instant::min();
  std::vector<policy::kept_policy> recalled_policies_;
  policies_in_force wanted_;
  bool policies_read_ = false;  // all of them, once
  policy::affordable affordable_;
  std::map<store::column_spec, std::size_t> asked_;  // users of columns that are no policy's
  reading_budget budget_;
  reading_shares readings_;
  std::map<policy::policy_key, std::string> too_costly_;  // as said: the messages of the conditions that hold
};

}  // namespace binnacle::aggregator
