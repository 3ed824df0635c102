#pragma once

#include "aggregator/policy/engine/budget.hpp"
#include "aggregator/policy/engine/counters.hpp"
#include "aggregator/policy/engine/deadlines.hpp"
#include "aggregator/policy/engine/events.hpp"
#include "aggregator/policy/engine/judge.hpp"
#include "aggregator/policy/engine/label_plan.hpp"
#include "aggregator/policy/published/labels.hpp"
#include "aggregator/store/words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace binnacle::policy {

class strategy_run;

/// Work that the runs leave for the engine, and facts that they need from it. Belongs to the engine.
struct run_context {
  deadlines due;
  std::vector<event> events;
  std::vector<store::node_id> relabel;
  struct judging {
    strategy_run* run;
    store::node_id node;
  };
  std::vector<judging> unjudged;  // values have come or gone there
  std::uint32_t known_nodes = 0;  // maxNodes may be a share of them
  engine_counters counters;

  bool told_nodes_only = false;                // engine_options
  bool all_nodes_told = false;                 // engine::all_nodes_told()
  std::map<store::node_id, taken_keys> taken;  // of the few nodes that have any
  bool may_label(store::node_id node) const noexcept {
    return !told_nodes_only || (index(node) < told_.size() && told_[index(node)]);
  }
  /// Notes whether labels of the node have been told. True if that changed.
  bool tell(store::node_id node, bool is_told) {
    if (index(node) >= told_.size()) told_.resize(index(node) + 1);
    const bool before = told_[index(node)];
    told_[index(node)] = is_told;
    return before != is_told;
  }

 private:
  std::vector<bool> told_;  // by node
};

/// One strategy of one policy on all nodes: rule states, verdicts, labels. Of the store it knows only the
/// columns that it reads. strategy_run.cpp begins with the reasoning and the invariants.
/// Cost: judging a node is linear in the strategy's rules. Set-up, the end of the grace and the end of the
/// run are linear in the nodes.
class strategy_run {
 public:
  using columns = std::vector<std::shared_ptr<const store::shared_column>>;

  /// `values`: one column per rule. `serial` names this run among the engine's deadlines.
  strategy_run(policy_key key, strategy s, columns values, std::uint32_t serial);

  const policy_key& key() const noexcept { return key_; }
  const strategy& definition() const noexcept { return strategy_; }
  std::uint32_t serial() const noexcept { return serial_; }
  const std::shared_ptr<verdict_column>& verdicts() const noexcept { return verdicts_; }
  const columns& values() const noexcept { return values_; }
  bool labels() const noexcept { return form_ != label_form::none; }
  label_form form() const noexcept { return form_; }
  bool judges() const noexcept { return judges_; }

  /// Set by the engine before anything else is called: only what is said about violations depends on it.
  void set_dry_run(bool dry) noexcept { dry_run_ = dry; }

  // A node's values, as the rule sees them (rule::seen). Follow with judge() or judge_later(). A node that
  // was not known is added.
  void observe(std::size_t rule, store::node_id node, const store::sample& present);
  void lose(std::size_t rule, store::node_id node);
  void judge(store::node_id node, instant now, run_context& out);
  /// Puts the node into `out.unjudged`, once for all values that follow one another.
  void judge_later(store::node_id node, run_context& out) {
    if (unjudged_ == node) return;
    unjudged_ = node;
    out.unjudged.push_back({this, node});
  }

  /// Whether conditions of this strategy may have changed since the last call: nodes are in other states, or
  /// an input that had no value at any node has one, or the other way round.
  bool take_conditions_may_change() noexcept { return std::exchange(conditions_may_change_, false); }
  void conditions_may_change() noexcept { conditions_may_change_ = true; }

  /// Whether this process writes the labels: see engine::set_writes_labels().
  void set_writes_labels(bool yes, instant now, run_context& out);
  bool writes_labels() const noexcept { return budget_.writes_labels(); }

  /// The labels that the node carries. They decide what values cannot decide yet (after a restart). Where
  /// another process writes the labels, they also say which nodes have a slot.
  void inherit(store::node_id node, const std::map<std::string, std::string>& labels, instant now,
               run_context& out);
  /// The labels that are on the node are another policy's doing: values alone decide from now on.
  void disown_labels(store::node_id node) {
    at(node);
    for (rule_state& s : rules(node)) s.settled = true;
  }
  /// The node is gone: its state, its slot in the budget.
  void forget(store::node_id node, instant now, run_context& out);

  /// Takes over what the strategy knew before an edit. Call it before the first observe(). `before` is of the
  /// same policy and kind. Labels stay, except those beyond a smaller maxNodes.
  void carry_over(const strategy_run& before, std::uint32_t known_nodes);

  /// Appends what is known of the node to a snapshot. Returns false and writes nothing if nothing is known.
  bool save(store::node_id node, store::words& into) const;
  /// Takes over what save() of a run with the same content wrote, before the first observe(). Impossible
  /// words change nothing. Takes no more slots than there are.
  void recall(store::node_id node, store::word_reader from, std::uint32_t known_nodes);
  /// When the state that recall() takes over was copied.
  void recall_as_of(instant taken) noexcept { recalled_of_ = taken; }
  /// The cool-down goes on from before a restart.
  void recall_cool_down(instant last_given) noexcept { budget_.given(last_given); }
  /// Recalled states of nodes whose agents have not come by now count no longer.
  void end_recall() noexcept;

  /// Missing data rejects from now on (onMissing: Reject); judge the nodes again.
  void reject_missing() noexcept { rejects_ = true; }
  bool rejects_missing() const noexcept { return rejects_; }
  /// due::give_up: rules whose values never came to this node in their time count as off.
  void give_up(store::node_id node, instant now, run_context& out);
  /// due::cool_down, or slots became free: gives labels to nodes that wait.
  void serve_waiting(instant now, run_context& out);

  /// What should become of this strategy's labels on the node.
  void wishes(store::node_id node, label_wishes& into) const;
  /// Nodes in each state, by `state`.
  std::uint32_t count(state s) const noexcept { return counts_[static_cast<std::size_t>(s)]; }
  /// Nodes that violate it, whatever state they show. Cost: linear in the nodes.
  std::uint32_t violated_by() const noexcept {
    return static_cast<std::uint32_t>(std::ranges::count_if(nodes_, &node_cell::violating));
  }
  const label_budget& budget() const noexcept { return budget_; }
  const label_plan& plan() const noexcept { return plan_; }
  /// How long to wait for a rule's values that never came; the engine sets it from the column's stale-after,
  /// at the start and before give_up().
  void set_patience(std::size_t rule, duration d) noexcept { patience_[rule] = d; }

 private:
  struct node_cell {
    bool alive = false;
    bool violating = false;     // by its rules, whatever the budget says
    bool touched = false;       // a value has been seen since the start, so labels may be written
    bool blind = true;          // judgement::blind
    bool giving_up = false;     // due::give_up is under way
    bool carries = false;       // a label of this strategy is on the node, as last told
    bool blocked = false;       // violating, but others have set the keys of all labels that it would get
    std::uint16_t waiting = 0;  // rules that have had no value yet and are not given up
    instant waiting_since{};    // when another rule had its first value; the epoch: none has had one
    state last = state::pass;
  };

  node_cell& at(store::node_id node);
  void watch_knowledge(store::node_id node, const judgement& j, instant now, run_context& out);
  bool can_get_label(store::node_id node, const run_context& out) const;
  /// Whether a rule that is true of the node gives the label.
  bool given(store::node_id node, const label_plan::key& k) const noexcept;
  void wake_after_cool_down(run_context& out);
  std::span<rule_state> rules(store::node_id node) noexcept;
  std::span<const rule_state> rules(store::node_id node) const noexcept;
  std::span<std::uint16_t> winners(store::node_id node) noexcept;
  void settle(store::node_id node, const judgement& j, instant now, run_context& out);
  bool slot_for(store::node_id node, const judgement& j, instant now, run_context& out);
  bool labelled(store::node_id node) const noexcept {
    return nodes_[index(node)].violating && budget_.has(node);
  }
  void resolve_labels(store::node_id node, bool labelled, instant now, run_context& out);
  void say(store::node_id node, const verdict& v, run_context& out) const;
  using rule_label = decltype(rule::labels)::value_type;
  /// Whether another rule's values explain that label (null: deschedule's label). If so, the label says
  /// nothing about `rule`.
  bool explained(store::node_id node, std::size_t rule, const rule_label* label) const noexcept;
  std::uint16_t winner_of(store::node_id node, std::string_view label) const noexcept;
  std::string rules_text(const verdict& v) const;

  // Constant.
  policy_key key_;
  strategy strategy_;
  columns values_;
  std::uint32_t serial_;
  label_form form_;
  bool judges_;

  // Beside what each sample reads.
  bool conditions_may_change_ = false;
  std::optional<store::node_id> unjudged_;  // the last node that judge_later() put into run_context::unjudged

  label_plan plan_;  // constant
  std::shared_ptr<verdict_column> verdicts_ = std::make_shared<verdict_column>();

  bool dry_run_ = false;
  bool rejects_ = false;
  std::vector<duration> patience_;  // by rule
  label_budget budget_;
  std::optional<instant> waking_at_;  // due::cool_down is under way for then
  instant recalled_of_{};             // rule_state::recalled: when those states were copied
  std::vector<node_cell> nodes_;
  std::vector<rule_state> states_;      // node × rules
  std::vector<std::uint16_t> winners_;  // node × keys of the plan
  std::array<std::uint32_t, 5> counts_{};
  std::vector<std::optional<decimal>> contenders_;  // scratch of resolve_labels()
};

}  // namespace binnacle::policy
