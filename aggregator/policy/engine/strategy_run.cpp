// One strategy on all nodes, and why it is built like this.
//
// A node is judged in four steps. Each step is a part of its own, so that it can be tested alone:
//
//   sample ─→ rule_state   one rule at one node: off, pending (`for`), on; hysteresis       rule_state.hpp
//          ─→ judgement    all rules together: pass, violating, missing or frozen           judge.hpp
//          ─→ slot         may the node carry the label: maxNodes, coolDown, free keys      budget.hpp
//          ─→ labels       which rule gives which label, where several want the same key    label_plan.hpp
//
// A strategy that only refuses pods (dontschedule) ends after the judgement: its verdict is what the extender
// reads. The last two steps are for strategies that label nodes.
//
// Two questions are kept apart. Does the node violate the strategy (node_cell::violating)? And does the node
// carry the label (node_cell::carries, as the Node object says)? The first changes with every sample. The
// second changes later, when somebody has written a patch, and after a restart it is known before the first.
//
// Invariants:
// - There are never more labels on nodes than slots of maxNodes. So a slot is taken before the label is
//   wished for, and is given back when the label has been seen to be gone. It is not given back when the
//   violation ends: the label is still there then, and another node would get one too many.
// - No label is touched before the node has had a value since the start (`touched`); until then wishes() says
//   keep. Otherwise each restart would take all labels off and put them back on.
// - A label found on a node is what an earlier process knew. inherit() uses it where values decide nothing:
//   between the target and the clearing threshold, while `for` runs, before the first value. Where another
//   rule's values explain the label, it says nothing about this rule (explained()). Otherwise one label would
//   turn on every rule that could have given it.
// - Missing data changes no label. A value that may still come is waited for (`waiting`), but not for ever:
//   after a stale-after due::give_up lets the rule count as off. Otherwise a node without a BMC would keep
//   the label of a BMC rule that was there before a restart.
// - A replica that does not write labels gives no slots (a closed budget): there a slot is a label that is
//   seen. So all replicas know the same slots, and the next writer goes on with the same nodes.
// - Code that changes wishes() for a node must also put the node into run_context::relabel. Otherwise a wrong
//   label stays until the node's next change.
//
// Nodes, rule states and winners are three flat arrays indexed by the node's id. Judging a node allocates
// nothing and costs the same whether the fleet has ten nodes or ten thousand.

#include "aggregator/policy/engine/strategy_run.hpp"

#include "aggregator/policy/label_keys.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::policy {

strategy_run::strategy_run(policy_key key, strategy s, columns values, std::uint32_t serial)
    : key_(std::move(key)),
      strategy_(std::move(s)),
      values_(std::move(values)),
      serial_(serial),
      form_(description_of(strategy_.kind).labels),
      judges_(description_of(strategy_.kind).judged_by_engine()),
      plan_(form_ == label_form::of_rules ? strategy_ : strategy{}),
      patience_(strategy_.rules.size()),
      budget_(strategy_.max_nodes, strategy_.cool_down) {}

strategy_run::node_cell& strategy_run::at(store::node_id node) {
  const std::size_t needed = std::size_t{index(node)} + 1;
  if (nodes_.size() < needed) {
    nodes_.resize(needed);
    states_.resize(needed * strategy_.rules.size());
    winners_.resize(needed * plan_.keys().size(), label_plan::none);
  }
  node_cell& cell = nodes_[index(node)];
  if (!cell.alive) {
    cell.alive = true;
    ++counts_[static_cast<std::size_t>(cell.last)];
  }
  return cell;
}

std::span<rule_state> strategy_run::rules(store::node_id node) noexcept {
  return std::span(states_).subspan(index(node) * strategy_.rules.size(), strategy_.rules.size());
}
std::span<const rule_state> strategy_run::rules(store::node_id node) const noexcept {
  return std::span(states_).subspan(index(node) * strategy_.rules.size(), strategy_.rules.size());
}
std::span<std::uint16_t> strategy_run::winners(store::node_id node) noexcept {
  return std::span(winners_).subspan(index(node) * plan_.keys().size(), plan_.keys().size());
}

void strategy_run::observe(std::size_t rule, store::node_id node, const store::sample& present) {
  at(node);
  rule_state& state = rules(node)[rule];
  if (state.recalled && !present.link_down) go_on(state, present.newest_read_at() - recalled_of_);
  if (labels() && !present.covers_window()) return fill(state);
  if (!decides(state, strategy_.rules[rule], present)) return lose(rule, node);
  binnacle::policy::observe(state, strategy_.rules[rule], present);
}

void strategy_run::lose(std::size_t rule, store::node_id node) {
  at(node);
  binnacle::policy::lose(rules(node)[rule], labels());
}

void strategy_run::judge(store::node_id node, instant now, run_context& out) {
  if (unjudged_ == node) unjudged_.reset();
  if (!judges()) return;
  const bool was_violating = at(node).violating;
  ++out.counters.judged;
  const auto states = rules(node);
  out.counters.compared += states.size();
  settle(node,
         labels() ? judge_frozen(strategy_.op, states, was_violating)
                  : judge_ignoring_missing(strategy_.op, states, rejects_),
         now, out);
}

void strategy_run::settle(store::node_id node, const judgement& j, instant now, run_context& out) {
  verdict shown = j.found;
  bool slot_free = false;
  if (labels()) {
    watch_knowledge(node, j, now, out);
    const std::uint32_t used = budget_.used();
    shown.violating = slot_for(node, j, now, out);
    slot_free = budget_.used() < used;
    if (j.found.what == state::violating && !shown.violating) shown.what = state::held;
    resolve_labels(node, shown.violating && !nodes_[index(node)].blocked, now, out);
  }
  node_cell& cell = nodes_[index(node)];
  if (j.found.violating != cell.violating) {
    cell.violating = j.found.violating;
    say(node, j.found, out);
  }
  if (cell.last != shown.what) {
    --counts_[static_cast<std::size_t>(cell.last)];
    ++counts_[static_cast<std::size_t>(shown.what)];
    cell.last = shown.what;
    conditions_may_change();
  }
  if (verdicts_->load(node) != shown) verdicts_->store(node, shown);
  if (slot_free) serve_waiting(now, out);
}

/// Labels may be written once the node has had a value; rules that never have one are given up after a while.
void strategy_run::watch_knowledge(store::node_id node, const judgement& j, instant now, run_context& out) {
  node_cell& cell = nodes_[index(node)];
  const auto states = rules(node);
  const bool touched = std::ranges::any_of(states, &rule_state::ever_known);
  std::uint16_t waiting = 0;
  duration shortest = duration::max();
  for (std::size_t r = 0; r < states.size(); ++r) {
    if (states[r].ever_known || states[r].given_up || states[r].filling) continue;
    ++waiting;
    shortest = std::min(shortest, patience_[r]);
  }
  if (touched != cell.touched || j.blind != cell.blind || waiting != cell.waiting)
    out.relabel.push_back(node);
  cell.touched = touched;
  cell.blind = j.blind;
  cell.waiting = waiting;
  if (touched && waiting > 0 && !cell.giving_up) {
    cell.giving_up = true;
    if (cell.waiting_since == instant{}) cell.waiting_since = now;
    out.due.push({cell.waiting_since + shortest, due::give_up, serial_, node});
  }
}

/// Whether the node is to carry the label. A violating node asks for a slot; a frozen one keeps what it has.
/// The slot of a node that no longer violates becomes free when its label is off, not before.
bool strategy_run::slot_for(store::node_id node, const judgement& j, instant now, run_context& out) {
  const bool wants = j.found.violating && budget_.limits();
  const bool blocked = wants && !can_get_label(node, out);
  if (std::exchange(nodes_[index(node)].blocked, blocked) != blocked) out.relabel.push_back(node);
  if (blocked || (wants && !out.may_label(node))) {
    // Before the first list of Node objects is complete nothing says that the node has none: it keeps slot
    // and turn.
    if (!blocked && !out.all_nodes_told) return true;
    // The label cannot be written on this node. The node violates, but takes no slot from the others.
    // After a restart the label may look blocked only because the Node object has not been read yet. So a
    // node that waits for a slot keeps its turn until this process writes labels.
    if (blocked || budget_.writes_labels()) budget_.stop_waiting(node);
    if (!nodes_[index(node)].carries && budget_.has(node)) budget_.give_back(node);
    return true;
  }
  const bool had = labelled(node);
  bool has = budget_.has(node);
  if (!j.found.violating) {
    budget_.stop_waiting(node);
    if (!nodes_[index(node)].carries) budget_.give_back(node);
    has = false;
  } else if (j.found.what == state::frozen) {
    budget_.stop_waiting(node);
  } else {
    has = budget_.ask(node, now, out.known_nodes);
    wake_after_cool_down(out);
  }
  if (has != had) out.relabel.push_back(node);
  return has;
}

/// Whether any label that its true rules give is free on the node.
bool strategy_run::can_get_label(store::node_id node, const run_context& out) const {
  const auto found = out.taken.find(node);
  if (found == out.taken.end()) return true;
  const taken_keys& taken = found->second;
  if (form_ == label_form::policy_name) return !taken.contains(deschedule_key(key_));
  return std::ranges::any_of(plan_.keys(), [&](const label_plan::key& k) {
    return given(node, k) && !taken.contains(labeling_key(key_, k.name));
  });
}

bool strategy_run::given(store::node_id node, const label_plan::key& k) const noexcept {
  const auto states = rules(node);
  return std::ranges::any_of(k.offers, [&](const label_plan::offer& o) { return states[o.rule].on; });
}

void strategy_run::wake_after_cool_down(run_context& out) {
  const auto at = budget_.next_at(out.known_nodes);
  if (!at || at == waking_at_) return;
  waking_at_ = at;
  out.due.push({*at, due::cool_down, serial_, {}});
}

void strategy_run::serve_waiting(instant now, run_context& out) {
  if (waking_at_ && *waking_at_ <= now) waking_at_.reset();
  while (const auto node = budget_.next(now, out.known_nodes)) {
    out.relabel.push_back(*node);
    judge(*node, now, out);
  }
  wake_after_cool_down(out);
}

void strategy_run::resolve_labels(store::node_id node, bool labelled, instant now, run_context& out) {
  if (plan_.keys().empty()) return;
  if (plan_.contested()) {
    contenders_.resize(values_.size());
    for (std::size_t r = 0; r < values_.size(); ++r) {
      const store::sample s = strategy_.rules[r].seen(values_[r]->load(node));
      contenders_[r] = s.present(now) ? std::optional(s.value) : std::nullopt;
    }
  }
  if (plan_.resolve(strategy_, rules(node), labelled, contenders_, winners(node)))
    out.relabel.push_back(node);
}

bool strategy_run::explained(store::node_id node, std::size_t rule, const rule_label* label) const noexcept {
  if (strategy_.op == logic::all_of) return false;  // the label says that every rule was true
  const auto states = rules(node);
  for (std::size_t other = 0; other < states.size(); ++other) {
    if (other == rule || !states[other].explains) continue;
    if (label == nullptr || std::ranges::count(strategy_.rules[other].labels, *label) > 0) return true;
  }
  return false;
}

void strategy_run::inherit(store::node_id node, const std::map<std::string, std::string>& labels, instant now,
                           run_context& out) {
  if (!this->labels()) return;
  const auto carries = [&](const std::string& key, std::string_view value) {
    const auto found = labels.find(key);
    return found != labels.end() && found->second == value;
  };
  const bool descheduled = form_ == label_form::policy_name && carries(deschedule_key(key_), violating_value);
  node_cell& cell = at(node);
  const bool carried = std::exchange(cell.carries, false);
  bool decides = false;
  for (std::size_t r = 0; r < strategy_.rules.size(); ++r) {
    rule_state& state = rules(node)[r];
    bool told = descheduled, unexplained = descheduled && !explained(node, r, nullptr);
    if (form_ == label_form::of_rules) {
      // Where rules contest a key, the node shows only the winner's value. So one label of this rule is
      // enough.
      for (const auto& l : strategy_.rules[r].labels) {
        if (!carries(labeling_key(key_, l.first), l.second)) continue;
        told = true;
        unexplained = unexplained || !explained(node, r, &l);
      }
    }
    cell.carries = cell.carries || told;
    if (!told) binnacle::policy::see_no_label(state);
    if (unexplained) decides = binnacle::policy::inherit(state) || decides;
  }
  cell.violating = cell.violating || decides;
  if (cell.carries && (decides || !budget_.writes_labels()) && !budget_.has(node)) {
    budget_.adopt(node);
    budget_.given(now);
    out.relabel.push_back(node);
  }
  // A node that waits keeps its turn.
  if (!cell.carries && !budget_.writes_labels() && budget_.has(node)) budget_.give_back(node);
  if (decides || cell.carries != carried) judge(node, now, out);
}

void strategy_run::set_writes_labels(bool yes, instant now, run_context& out) {
  yes = yes || !budget_.limits();
  if (yes == budget_.writes_labels()) return;
  budget_.set_writes_labels(yes);
  if (yes) return serve_waiting(now, out);
  // From here on a slot is a label that is there. A label that was wished for may never be written now.
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    const store::node_id node{n};
    if (!nodes_[n].alive) continue;
    if (nodes_[n].carries) {
      budget_.adopt(node);
    } else {
      budget_.give_back(node);
    }
    out.relabel.push_back(node);
    judge(node, now, out);
  }
}

void strategy_run::give_up(store::node_id node, instant now, run_context& out) {
  if (index(node) >= nodes_.size() || !nodes_[index(node)].alive) return;
  node_cell& cell = nodes_[index(node)];
  cell.giving_up = false;
  for (std::size_t r = 0; r < patience_.size(); ++r) {
    if (now - cell.waiting_since >= patience_[r]) binnacle::policy::give_up(rules(node)[r]);
  }
  judge(node, now, out);
}

void strategy_run::forget(store::node_id node, instant now, run_context& out) {
  if (index(node) >= nodes_.size() || !nodes_[index(node)].alive) return;
  node_cell& cell = nodes_[index(node)];
  --counts_[static_cast<std::size_t>(cell.last)];
  cell = {};
  std::ranges::fill(rules(node), rule_state{});
  std::ranges::fill(winners(node), label_plan::none);
  verdicts_->store(node, rejects_ ? verdict{state::missing, false, 0, 1} : verdict{});
  out.relabel.push_back(node);
  if (budget_.give_back(node)) serve_waiting(now, out);
}

void strategy_run::carry_over(const strategy_run& before, std::uint32_t known_nodes) {
  // Which old rule each new one continues: the same comparison first, then the same metric and
  // operator, then at least the same direction.
  std::vector<std::size_t> old_rule(strategy_.rules.size(), before.strategy_.rules.size());
  std::vector<bool> taken(before.strategy_.rules.size());
  const auto match = [&](auto alike) {
    for (std::size_t r = 0; r < strategy_.rules.size(); ++r) {
      for (std::size_t o = 0; o < taken.size() && old_rule[r] == taken.size(); ++o) {
        if (taken[o] || !alike(strategy_.rules[r], before.strategy_.rules[o])) continue;
        old_rule[r] = o;
        taken[o] = true;
      }
    }
  };
  match([](const rule& a, const rule& b) {
    return a.column() == b.column() && a.op == b.op && a.target == b.target;
  });
  match([](const rule& a, const rule& b) { return a.metric == b.metric && a.op == b.op; });
  match([](const rule& a, const rule& b) { return a.metric == b.metric && towards(a.op) == towards(b.op); });

  for (std::uint32_t n = 0; n < before.nodes_.size(); ++n) {
    const store::node_id node{n};
    if (!before.nodes_[n].alive) continue;
    node_cell& cell = at(node);
    cell.violating = before.nodes_[n].violating;
    cell.carries = before.nodes_[n].carries;
    for (std::size_t r = 0; r < old_rule.size(); ++r) {
      const std::size_t o = old_rule[r];
      if (o < taken.size())
        rules(node)[r] = carried_over(strategy_.rules[r], before.strategy_.rules[o], before.rules(node)[o]);
    }
    for (std::size_t k = 0; k < plan_.keys().size(); ++k) {
      const auto winner = before.winner_of(node, plan_.keys()[k].name);
      const auto now = std::ranges::find(old_rule, std::size_t{winner});
      if (now != old_rule.end()) winners(node)[k] = static_cast<std::uint16_t>(now - old_rule.begin());
    }
    const bool room = !budget_.writes_labels() || budget_.used() < budget_.slots(known_nodes);
    if (before.budget_.has(node) && room) budget_.adopt(node);
  }
  budget_.remember(before.budget_);
  recalled_of_ = before.recalled_of_;
}

std::uint16_t strategy_run::winner_of(store::node_id node, std::string_view label) const noexcept {
  const auto& keys = plan_.keys();
  const auto at = std::ranges::find(keys, label, &label_plan::key::name);
  if (at == keys.end()) return label_plan::none;
  return winners_[index(node) * keys.size() + static_cast<std::size_t>(at - keys.begin())];
}

void strategy_run::wishes(store::node_id node, label_wishes& into) const {
  if (index(node) >= nodes_.size() || !nodes_[index(node)].alive) return;
  const node_cell& cell = nodes_[index(node)];
  using action = label_wish::action;
  if (form_ == label_form::policy_name) {
    const bool on = cell.touched && labelled(node);
    const action what = on                            ? action::set
                        : !cell.touched || cell.blind ? action::keep
                        : cell.blocked                ? action::blocked
                                                      : action::remove;
    merge(into, deschedule_key(key_), {what, on ? std::string(violating_value) : ""});
    return;
  }
  const auto states = rules(node);
  const auto& keys = plan_.keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const label_plan::key& k = keys[i];
    const std::uint16_t by = winners_[index(node) * keys.size() + i];
    const auto waits = [&](const label_plan::offer& o) {
      return !states[o.rule].ever_known && !states[o.rule].given_up;
    };
    label_wish wish{cell.touched && by == label_plan::none ? action::remove : action::keep, ""};
    if (wish.what == action::remove && std::ranges::any_of(k.offers, waits)) wish.what = action::keep;
    if (cell.touched && cell.blocked && given(node, k)) wish.what = action::blocked;
    if (cell.touched && by != label_plan::none) {
      const auto offer = std::ranges::find(k.offers, by, &label_plan::offer::rule);
      wish = {action::set, offer->value};
    }
    merge(into, labeling_key(key_, k.name), std::move(wish));
  }
}

std::string strategy_run::rules_text(const verdict& v) const {
  if (strategy_.op == logic::any_of) return strategy_.rules[v.rule].text();
  std::string out;
  for (const rule& r : strategy_.rules) out += (out.empty() ? "" : " and ") + r.text();
  return out;
}

void strategy_run::say(store::node_id node, const verdict& v, run_context& out) const {
  const std::string kind(to_string(strategy_.kind));
  event e{
      v.violating ? event_kind::violating : event_kind::cleared, key_, strategy_.kind, node, dry_run_, {}};
  if (v.violating) {
    e.message = kind + " is violated: " + rules_text(v);
  } else {
    e.message = kind + " is no longer violated" + (v.unknown > 0 ? ": data is missing" : "");
  }
  out.events.push_back(std::move(e));
}

}  // namespace binnacle::policy
