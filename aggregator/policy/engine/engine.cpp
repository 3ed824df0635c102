// The policy engine, and why it is built like this.
//
//   store column ─→ watched_column ─→ input ─→ strategy_run ─→ verdict cells   (the extender reads them)
//                   one for each      one for each             ├→ events, conditions (log, status)
//                   column_spec       staleAfter of its rules  └→ relabel: nodes whose wished labels changed
//   deadlines ──────────────────────────┴────────┘
//
// Samples are pushed: update() is called for every read and touches only the strategies that use the column,
// at that one node. So a verdict is milliseconds old, and a fleet that does not change costs nothing. What
// happens because nothing arrives (a value expires, a cool-down ends) comes from one heap of deadlines. Time
// is an argument everywhere. So a test, or a replay of recorded events, yields the same verdicts each time.
//
// Invariants:
// - Every public call first does what is due (begin) and last tells the sink (flush). If an expired value
//   were still counted when the next one arrives, `for` would go on across the gap, and a frozen label would
//   not be noticed. And a sink that is told in the middle would see half of a change.
// - Only update() and go_on() leave the end to the next call, or to another node's first sample. So a
//   strategy that reads several values of one batch is judged once, after all of them: two rules of which
//   one ends when the other begins are never both true. It also saves the most in the worst case, where each
//   of 64 values is read by a strategy of 64 rules.
// - The sink may look at the engine, but not call it back: flush() walks over the lists that a call would
//   change.
// - A deadline that no longer matters stays in the heap; its owner says so when it comes up (awaited()).
//   Removing it from the middle of a heap would cost more. An input has at most one deadline that matters for
//   each node. The rest is pruned when it is more than half of the heap, and by set_policies().
// - An edit loses nothing. A strategy that did not change keeps its run, and its entry keeps its address,
//   because runs_ points to it. A changed one is started, takes over the old state and watches its columns
//   before the old one lets go of them. Otherwise a window that both use would be emptied, and a label would
//   go off and on.
// - A verdict cell's address never changes while a published table holds it. Faces read it without a lock.
// - Serial numbers name runs and inputs in the deadlines. They are never reused, so a deadline of a strategy
//   that is gone cannot reach another one.

#include "aggregator/policy/engine/engine.hpp"

#include "aggregator/policy/label_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace binnacle::policy {

engine::engine(column_source& columns, sink& out, engine_options options)
    : columns_(columns), out_(out), options_(std::move(options)) {
  context_.told_nodes_only = options_.told_nodes_only;
}

engine::~engine() {
  for (const auto& [spec, column] : watched_) columns_.release(column->from.id);
}

void engine::update(store::column_id column, store::node_id node, const store::sample& s, instant now) {
  // If the last value has expired, the engine must see the absence before it sees this value.
  do_what_is_due(now);
  if (end_batch_of_others(node, now)) do_what_is_due(now);  // judging may set deadlines that are due already
  go_on(column, node, s, now);
}

void engine::go_on(store::column_id column, store::node_id node, const store::sample& s, instant now) {
  const auto found = by_column_.find(index(column));
  if (found == by_column_.end()) return;
  ++context_.counters.updates;
  (void)end_batch_of_others(node, now);
  add_node(node, now, true);
  for (const auto& i : found->second->inputs) i->feed(node, i->seen(s), now, context_);
  // A value that expires earlier than the one before it leaves that one's deadline behind. So an agent
  // whose values become older and older could fill the heap.
  context_.due.prune_if_large([this](const deadline& d) { return awaited(d); });
}

/// Whatever comes, only strategies of one node wait, once each.
bool engine::end_batch_of_others(store::node_id node, instant now) {
  if (context_.unjudged.empty() || context_.unjudged.back().node == node) return false;
  judge_touched(now);
  return true;
}

void engine::node_added(store::node_id node, instant now) {
  begin(now);
  add_node(node, now);
  flush();
}

/// `in_batch`: more values of the node may follow, so it is judged later.
void engine::add_node(store::node_id node, instant now, bool in_batch) {
  if (index(node) < known_.size() && known_[index(node)]) return;
  if (index(node) >= known_.size()) known_.resize(index(node) + 1);
  known_[index(node)] = true;
  ++known_count_;
  count_shares();
  for (const auto& [spec, column] : watched_) {
    const store::sample s = column->from.values->stored(node);
    for (const auto& i : column->inputs) i->seed(node, i->seen(s), now, context_.due);
  }
  for (auto& [id, e] : entries_) {
    seed(e, node, now);
    if (in_batch) {
      e.run->judge_later(node, context_);
    } else {
      e.run->judge(node, now, context_);
    }
    e.run->serve_waiting(now, context_);  // a share of more nodes may give one more slot
    check_conditions(id, e);
  }
}

void engine::node_gone(store::node_id node, instant now) {
  begin(now);
  if (index(node) < known_.size() && known_[index(node)]) {
    known_[index(node)] = false;
    --known_count_;
    for (const auto& [spec, column] : watched_) {
      for (const auto& i : column->inputs) i->forget(node);
    }
    told_.erase(node);
    context_.tell(node, false);
    context_.taken.erase(node);
    count_shares();
    for (auto& [id, e] : entries_) {
      e.run->forget(node, now, context_);
      check_conditions(id, e);
    }
  }
  flush();
}

void engine::set_node_labels(store::node_id node, const std::map<std::string, std::string>& labels,
                             instant now) {
  begin(now);
  add_node(node, now);
  const bool fresh = context_.tell(node, true);
  told_[node] = labels;
  count_shares();
  for (auto& [id, e] : entries_) {
    inherit(e, node, labels, now);
    if (fresh) {
      e.run->judge(node, now, context_);  // it may take a slot now
      e.run->serve_waiting(now, context_);
    }
    check_conditions(id, e);
  }
  flush();
}

void engine::set_taken_keys(store::node_id node, taken_keys keys, instant now) {
  begin(now);
  add_node(node, now);
  const auto before = context_.taken.find(node);
  const bool same = before == context_.taken.end() ? keys.empty() : before->second == keys;
  if (!same) {
    if (keys.empty()) {
      context_.taken.erase(before);
    } else {
      context_.taken[node] = std::move(keys);
    }
    for (auto& [id, e] : entries_) {
      if (!e.run->labels()) continue;
      e.run->judge(node, now, context_);
      check_conditions(id, e);
    }
  }
  flush();
}

void engine::set_writes_labels(bool writes, instant now) {
  begin(now);
  writes_labels_ = writes;
  for (auto& [id, e] : entries_) {
    e.run->set_writes_labels(written_by_us(e), now, context_);
    check_conditions(id, e);
  }
  flush();
}

void engine::tick(instant now) {
  begin(now);
  flush();
}

void engine::begin(instant now) {
  do_what_is_due(now);
  judge_touched(now);
}

void engine::judge_touched(instant now) {
  for (const run_context::judging& j : context_.unjudged) {
    j.run->judge(j.node, now, context_);
    if (!j.run->take_conditions_may_change()) continue;
    auto& [id, e] = *runs_.at(j.run->serial());
    check_conditions(id, e);
  }
  context_.unjudged.clear();
}

void engine::do_what_is_due(instant now) {
  if (now - said_since_ >= saying) {
    said_since_ = now;
    search_left_ = most_search;
    sentences_left_ = most_sentences;
    for (const std::uint32_t serial : std::exchange(unsaid_, {})) {
      const auto found = runs_.find(serial);
      if (found != runs_.end()) check_conditions(found->second->first, found->second->second);
    }
  }
  while (meet_deadlines(now)) judge_touched(now);  // which may set deadlines that are due already
}

/// Meets all that are due; false if there were none.
bool engine::meet_deadlines(instant now) {
  const std::uint64_t before = context_.counters.deadlines_met;
  while (const auto d = context_.due.pop(now)) {
    ++context_.counters.deadlines_met;
    if (d->what == due::expiry) {
      const auto found = inputs_.find(d->owner);
      if (found == inputs_.end()) continue;
      (void)end_batch_of_others(d->node, now);
      found->second->expire(d->node, d->at, now, context_);
      continue;
    }
    judge_touched(now);
    const auto found = runs_.find(d->owner);
    if (found == runs_.end()) continue;
    auto& [id, e] = *found->second;
    if (d->what == due::cool_down) e.run->serve_waiting(now, context_);
    if (d->what == due::give_up) {
      set_patience(e);  // a stale-after may have been announced since
      e.run->give_up(d->node, now, context_);
    }
    if (d->what == due::grace) grace(e, now);
    check_conditions(id, e);
  }
  return context_.counters.deadlines_met != before;
}

/// How long to wait for a rule's values that have never come: a whole stale-after.
duration engine::patience(const entry& e, std::size_t rule) const {
  // The longest that any agent announced, and an agent may announce weeks.
  constexpr duration longest = std::chrono::minutes(10);
  const duration announced = std::min(columns_.stale_after(e.columns[rule]->from.id), longest);
  const duration own = std::max(options_.patience, announced);
  return e.inputs[rule]->stale_after().value_or(own);
}

void engine::set_patience(entry& e) const {
  for (std::size_t r = 0; r < e.inputs.size(); ++r) e.run->set_patience(r, patience(e, r));
}

/// When values that have never come are said to be missing: a whole stale-after after the strategy's columns
/// began to be watched.
instant engine::grace_end(const entry& e) const {
  instant end{};
  for (std::size_t r = 0; r < e.inputs.size(); ++r) end = std::max(end, e.columns[r]->since + patience(e, r));
  return end;
}

duration engine::longest_patience(const entry& e) const {
  duration out{};
  for (std::size_t r = 0; r < e.inputs.size(); ++r) out = std::max(out, patience(e, r));
  return out;
}

void engine::grace(entry& e, instant now) {
  const instant end = grace_end(e);
  e.patient = e.patient && end > now;
  std::optional<instant> next = begin_to_reject(e, now);
  if (e.patient) next = std::min(end, next.value_or(end));
  if (next) context_.due.push({*next, due::grace, e.run->serial(), {}});
}

/// Lets missing data reject nodes (onMissing: Reject), or returns when to call again if that is too early.
/// Only this process has a grace, after its start, while it may itself be the reason that nothing is known. A
/// node has no grace of its own: one whose link breaks every few seconds would get pods without data for
/// ever.
std::optional<instant> engine::begin_to_reject(entry& e, instant now) {
  const strategy& s = e.run->definition();
  if (description_of(s.kind).yields != yield::refusals || s.on_missing != missing::reject) return {};
  if (e.run->rejects_missing()) return {};
  const instant from = fleet_has_come_ ? now : *began_ + longest_patience(e);
  e.run->verdicts()->reject_missing_from(from);
  if (from > now) return from;
  e.run->reject_missing();
  for (std::uint32_t n = 0; n < known_.size(); ++n) {
    if (known_[n]) e.run->judge(store::node_id{n}, now, context_);
  }
  return {};
}

void engine::fleet_has_come(instant now) {
  begin(now);
  fleet_has_come_ = true;
  for (auto& [id, e] : entries_) (void)begin_to_reject(e, now);
  flush();
}

bool engine::awaited(const deadline& d) const {
  if (d.what != due::expiry) return runs_.contains(d.owner);
  const auto found = inputs_.find(d.owner);
  return found != inputs_.end() && found->second->awaits(d.node, d.at);
}

void engine::check_conditions(const strategy_id& id, entry& e) {
  const bool all = e.said_of != e.run->serial();
  // While another process writes the labels, a node is not held only because its label has not been seen yet.
  const bool held = e.run->count(state::held) > 0 && e.run->writes_labels();
  if (all || held != e.said_held) {
    e.said_held = held;
    const strategy& s = e.run->definition();
    std::string limit;
    if (s.max_nodes)
      limit = fmt::format("maxNodes {}{}", s.max_nodes->count, s.max_nodes->percent ? "%" : "");
    if (s.cool_down > duration::zero())
      limit += (limit.empty() ? "" : ", ") + fmt::format("coolDown {}", duration_text(s.cool_down));
    set_condition({id.policy, condition_kind::held, id.kind}, held,
                  "violating nodes wait for their label: " + limit);
  }
  const bool frozen = e.run->count(state::frozen) > 0;
  if (all || frozen != e.said_frozen) {
    e.said_frozen = frozen;
    set_condition({id.policy, condition_kind::frozen, id.kind}, frozen,
                  "data is missing at some nodes, or covers too little of a rule's window; their labels stay "
                  "as they are until it is "
                  "back");
  }
  std::uint64_t missing = 0;
  if (!e.patient && known_count_ > 0) {
    for (std::size_t r = 0; r < e.inputs.size() && r < 64; ++r) {
      if (e.inputs[r]->present() == 0) missing |= std::uint64_t{1} << r;
    }
  }
  if (!all && missing == e.said_missing) return;
  if (missing != 0) {
    if (sentences_left_ == 0) {
      unsaid_.insert(e.run->serial());
      return;
    }
    --sentences_left_;
  }
  e.said_of = e.run->serial();
  e.said_missing = missing;
  std::vector<std::string> names, metrics;
  for (std::size_t r = 0; r < e.inputs.size(); ++r) {
    if ((missing >> r & 1) == 0) continue;
    const rule& about = e.run->definition().rules[r];
    if (std::ranges::find(metrics, about.metric) == metrics.end()) metrics.push_back(about.metric);
    std::string name = about.metric;
    if (about.stale_after)
      name +=
          fmt::format(" that is younger than the rule's staleAfter ({})", duration_text(*about.stale_after));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  set_condition({id.policy, condition_kind::metric_missing, id.kind}, missing != 0,
                missing == 0 ? std::string()
                             : fmt::format("no node has a value of {}: {}", fmt::join(names, ", "),
                                           remedy_for(metrics)));
}

std::string engine::remedy_for(const std::vector<std::string>& missing) {
  family_names announced;
  if (search_left_ > 0) announced = columns_.announced();
  search_left_ -= std::min(search_left_, work_of_a_name * announced.size());
  return remedy_for_unmeasured(missing, announced, search_left_);
}

void engine::flush() {
  auto& nodes = context_.relabel;
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()),
              nodes.end());  // clang 14 cannot compile ranges::unique
  // The sink may look but not call back, so nothing is added to these lists here.
  if (table_changed_) out_.published(table_);
  for (const event& e : context_.events) out_.happened(e);
  for (const condition& c : changed_conditions_) out_.changed(c);
  for (const store::node_id n : nodes) out_.relabel(n);
  table_changed_ = false;
  context_.events.clear();
  changed_conditions_.clear();
  nodes.clear();
}

label_wishes engine::wishes(store::node_id node, bool enforced) const {
  label_wishes out;
  for (const auto& [id, e] : entries_) {
    if (e.run->labels() && e.enforced == enforced && e.allowed) e.run->wishes(node, out);
  }
  return out;
}

std::set<std::string, std::less<>> engine::label_keys() const {
  std::set<std::string, std::less<>> out;
  for (const auto& [id, e] : entries_) {
    if (!e.run->labels() || !e.enforced || !e.allowed) continue;
    if (e.run->form() == label_form::policy_name) out.insert(deschedule_key(id.policy));
    for (const label_plan::key& k : e.run->plan().keys()) out.insert(labeling_key(id.policy, k.name));
  }
  return out;
}

label_wishes engine::labels(store::node_id node) const { return wishes(node, true); }
label_wishes engine::would_be_labels(store::node_id node) const { return wishes(node, false); }

std::vector<condition> engine::conditions() const {
  std::vector<condition> out;
  out.reserve(conditions_.size());
  for (const auto& [id, message] : conditions_)
    out.push_back({id.policy, id.what, id.strategy, true, message});
  return out;
}

std::vector<strategy_status> engine::status() const {
  std::vector<strategy_status> out;
  for (const auto& [id, e] : entries_) {
    const strategy_run& r = *e.run;
    out.push_back({id.policy, id.kind, e.enforced ? mode::enforce : mode::dry_run, r.count(state::pass),
                   r.count(state::violating), r.count(state::missing), r.count(state::held),
                   r.count(state::frozen), r.violated_by()});
  }
  return out;
}

}  // namespace binnacle::policy
