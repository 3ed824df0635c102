#pragma once

#include "aggregator/policy/engine/events.hpp"
#include "aggregator/policy/engine/input.hpp"
#include "aggregator/policy/engine/memory.hpp"
#include "aggregator/policy/engine/strategy_run.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace binnacle::policy {

struct engine_options {
  /// How long to wait at least for values that have never come: after the start, before onMissing: Reject
  /// rejects; before a label from before the start is given up; and before "no node has a value" is said. A
  /// rule's staleAfter, or a longer stale-after of the metric (ten minutes at most), replaces it.
  duration patience = std::chrono::seconds(10);
  /// Namespaces whose policies may label nodes (deschedule, labeling); empty: all.
  std::vector<std::string> label_namespaces;
  /// How the names of policies that label nodes must begin; empty: any name.
  std::string label_prefix;
  /// maxNodes of strategies that label nodes and give none; none: no limit.
  std::optional<node_limit> default_max_nodes;
  /// In a cluster: only nodes that set_node_labels() has named can be labelled. Other nodes take no slot of
  /// maxNodes and count in no share.
  bool told_nodes_only = false;
};

/// The policy engine: samples in, verdicts and wished labels out. Pure: no clock, no socket. Its owner calls
/// it from one thread and keeps one timer for next_deadline(). `now` never goes back from one call to the
/// next. engine.cpp begins with the reasoning and the invariants.
///
/// Cost: update() touches only the rules that read the column, at the one node; tick() looks once at all
/// rules of each strategy that was touched. Memory: some tens of bytes per rule and node.
class engine {
 public:
  /// Both references must outlive the engine.
  engine(column_source& columns, sink& out, engine_options options = {});
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Replaces the policies. A strategy that did not change keeps its state and its values. A changed one
  /// starts from what the node's labels and values say, so that no label goes off and on. A policy with
  /// another uid is another one, even with the same text. New columns are
  /// watched before old ones are released. If a key or a kind of strategy comes twice, the first counts.
  void set_policies(const std::vector<policy>& policies, instant now);

  /// A sample of a watched column, already stored in its shared column. Call it for every read, also when the
  /// value did not change, because `for` and expiry count reads. Samples of columns that are not watched are
  /// ignored. What the sample changes comes with tick(), which is to follow the last sample of a batch.
  void update(store::column_id column, store::node_id node, const store::sample& s, instant now);
  /// A part of the column's value has expired, and this is what is left of it. update() would first see the
  /// whole value expire.
  void go_on(store::column_id column, store::node_id node, const store::sample& s, instant now);

  /// Nodes count for shares (maxNodes: 20%) and get verdicts from here on; update() of an unknown node adds
  /// it.
  void node_added(store::node_id node, instant now);
  /// The node is deleted, not merely silent: a silent node's values expire by themselves.
  void node_gone(store::node_id node, instant now);

  /// The labels that the node is known to carry now. Best called before its first sample. They decide what
  /// values cannot: hysteresis inside the band, a `for` that was over before a restart, and data that is
  /// still missing.
  void set_node_labels(store::node_id node, const std::map<std::string, std::string>& labels, instant now);

  /// The keys of labels on the node that somebody else has set, among those that strategies want to set. A
  /// strategy with maxNodes or coolDown that has no other label to give gives the node no slot.
  void set_taken_keys(store::node_id node, taken_keys keys, instant now);
  /// set_node_labels() has been called for every Node object. Until then a node that it was not called for
  /// may have one. Only with told_nodes_only.
  void all_nodes_told() noexcept { context_.all_nodes_told = true; }

  /// Most agents have connected since the start. From now on a node without data no longer counts as one that
  /// had no time yet: onMissing: Reject rejects it.
  void fleet_has_come(instant now);

  /// Whether this process writes the labels that it wishes for; at the start it does, as standalone. A
  /// process that does not gives no slots of maxNodes and coolDown. Its slots follow the labels that it is
  /// told of, so that it can go on with the same nodes when it becomes the writer.
  void set_writes_labels(bool writes, instant now);

  /// Does what is due, and judges the strategies that samples have touched. Calling it too early or too often
  /// does no harm.
  void tick(instant now);
  /// When tick() is to be called next; changes with every other call.
  std::optional<instant> next_deadline() const noexcept {
    const auto next = context_.due.next();
    if (unsaid_.empty()) return next;
    return std::min(next.value_or(instant::max()), said_since_ + saying);
  }

  /// The strategies whose nodes belong into a snapshot.
  std::vector<strategy_mark> marks() const;
  /// Calls strategy_run::save() of the run with this serial, which marks() gave. Also false if the run is
  /// gone.
  bool save(std::uint32_t serial, store::node_id node, store::words& into) const;
  /// A strategy that starts for the first time takes the state of nodes that are known by then from `m`. A
  /// value that expires before the node's agent has come changes nothing of that state. An empty `m` ends
  /// both.
  void set_memory(engine_memory m);

  /// Never null.
  const std::shared_ptr<const policy_table>& table() const noexcept { return table_; }
  /// What should become of the node's labels, from the policies that may label nodes.
  label_wishes labels(store::node_id node) const;
  /// What the policies in DryRun would add to that.
  label_wishes would_be_labels(store::node_id node) const;
  /// The keys of all labels that policies may give, to whatever node.
  std::set<std::string, std::less<>> label_keys() const;
  /// The conditions that hold.
  std::vector<condition> conditions() const;
  std::vector<strategy_status> status() const;
  const engine_counters& counters() const noexcept { return context_.counters; }
  /// Deadlines under way: bounded by inputs × nodes, plus those of inputs that have just gone.
  std::size_t deadlines_under_way() const noexcept { return context_.due.size(); }

 private:
  struct strategy_id {
    policy_key policy;
    strategy_kind kind;
    friend auto operator<=>(const strategy_id&, const strategy_id&) = default;
  };
  struct entry {
    std::unique_ptr<strategy_run> run;
    std::string uid;                       // of the policy
    std::vector<watched_column*> columns;  // one per rule
    std::vector<input*> inputs;            // one per rule
    bool enforced = true;                  // false: DryRun
    bool allowed = true;                   // label_refusal() finds nothing
    bool patient = true;                   // the grace is not over
    // What the sink has been told.
    bool said_held = false;
    bool said_frozen = false;
    std::uint64_t said_missing = 0;  // rules, as bits
    std::uint32_t said_of = 0;       // serial of the run; 0: nothing was said yet
  };
  struct condition_id {
    policy_key policy;
    condition_kind what;
    std::optional<strategy_kind> strategy;
    friend auto operator<=>(const condition_id&, const condition_id&) = default;
  };
  using entries = std::map<strategy_id, entry>;

  // engine_policies.cpp: policies come, change and go.
  bool replace_runs(const std::map<policy_key, policy>& wanted, instant now);
  bool adopt(entries& next, const policy& p, const strategy& s, instant now);
  void publish(std::map<policy_key, policy> wanted);
  void forget_conditions();
  void start(entries& next, const policy& p, const strategy& s, const entry* before, instant now);
  void seed(entry& e, store::node_id node, instant now);
  void recall(entry& e, instant now);  // memory.cpp
  void inherit(entry& e, store::node_id node, const std::map<std::string, std::string>& labels, instant now);
  void disown_labels(strategy_run& run) const;
  void stop(entry& e);
  input& open_input(const rule& r, watched_column& column, instant now);
  watched_column& watch(const store::column_spec& spec, instant now);
  void drop_unused();
  std::shared_ptr<const published_policy> make_published(const policy& p) const;
  void find_conflicts();
  void set_condition(const condition_id& id, bool active, std::string message);
  strategy effective(const strategy& s) const;
  void find_label_owners(const std::map<policy_key, policy>& wanted);
  /// Why nothing that this strategy wishes is written, though it labels nodes; empty: it is written.
  struct label_refusal {
    condition_kind what = condition_kind::not_allowed;
    std::string message;
    bool empty() const noexcept { return message.empty(); }
  };
  label_refusal refusal_of(const policy_key& key, label_form form) const;

  // engine.cpp: samples, nodes, time.
  bool end_batch_of_others(store::node_id node, instant now);
  void add_node(store::node_id node, instant now, bool in_batch = false);
  void count_shares() noexcept {
    context_.known_nodes = options_.told_nodes_only ? static_cast<std::uint32_t>(told_.size()) : known_count_;
  }
  void begin(instant now);
  void do_what_is_due(instant now);
  bool meet_deadlines(instant now);
  void judge_touched(instant now);
  duration patience(const entry& e, std::size_t rule) const;
  void set_patience(entry& e) const;
  duration longest_patience(const entry& e) const;
  instant grace_end(const entry& e) const;
  void grace(entry& e, instant now);
  std::optional<instant> begin_to_reject(entry& e, instant now);
  bool awaited(const deadline& d) const;
  void check_conditions(const strategy_id& id, entry& e);
  std::string remedy_for(const std::vector<std::string>& missing);
  label_wishes wishes(store::node_id node, bool enforced) const;
  bool written_by_us(const entry& e) const noexcept { return writes_labels_ || !e.enforced || !e.allowed; }
  void flush();

  column_source& columns_;
  sink& out_;
  const engine_options options_;

  entries entries_;
  std::map<store::column_spec, std::unique_ptr<watched_column>> watched_;
  boost::unordered_flat_map<std::uint32_t, watched_column*> by_column_;  // by column id
  boost::unordered_flat_map<std::uint32_t, input*> inputs_;              // by serial
  boost::unordered_flat_map<std::uint32_t, entries::value_type*> runs_;  // by serial
  std::uint32_t next_serial_ = 1;
  std::vector<bool> known_;  // by node
  std::uint32_t known_count_ = 0;
  std::map<store::node_id, std::map<std::string, std::string>> told_;  // labels as last heard
  bool writes_labels_ = true;
  std::optional<instant> began_;  // the first set_policies()
  bool fleet_has_come_ = false;
  engine_memory memory_;
  std::set<strategy_id> recalled_;  // those that have asked memory_
  run_context context_;
  std::map<policy_key, policy> policies_;
  std::map<std::string, std::string, std::less<>> label_owners_;  // namespaces, by policy name
  std::shared_ptr<const policy_table> table_ = std::make_shared<policy_table>();
  bool table_changed_ = false;
  std::map<condition_id, std::string> conditions_;  // those that hold, with their message
  std::vector<condition> changed_conditions_;       // since the last flush

  // Sentences about metrics that no node has are made on the loop that takes agents' values. Authors choose
  // how many such metrics there are, and nodes when they come and go. So there is a number of sentences for a
  // second, some 8 ms; what is left is said in the next one. An announced metric that may have been meant is
  // looked for with so much of nearest()'s work in a second, another 8 ms, and then none is named.
  static constexpr duration saying = std::chrono::seconds(1);
  static constexpr std::size_t most_sentences = 500;
  static constexpr std::size_t most_search = 4'000'000;
  static constexpr std::size_t work_of_a_name = 16;  // to be listed
  instant said_since_{};
  std::size_t sentences_left_ = most_sentences;
  std::size_t search_left_ = most_search;
  std::set<std::uint32_t> unsaid_;  // serials of runs
};

}  // namespace binnacle::policy
