// What an edit of the policies changes, and what goes on as if nothing had happened.
//
// The set of policies is given as a whole, and compared with what runs, strategy by strategy:
// - A strategy whose definition is the same keeps its run: values, `for`, labels and slots. It does not
//   notice.
// - A changed one starts anew with what can be carried over (carry_over), and is judged at once by the
//   values that its columns hold. So tightening a target takes effect at every node with the edit.
// - A new one remembers what a snapshot knew of it, before an edit or not (recall), and takes the labels that
//   are on nodes as what an earlier process found out (inherit). A policy with another uid is new: its object
//   was deleted and created again, and a replica that has seen the deletion has forgotten the old one.
//
// The order keeps what is shared alive. New strategies watch their columns before old ones let go of
// theirs, and drop_unused() comes last, so a column that both read keeps its window. Map nodes are moved
// and not copied, because runs_ points at them.
//
// Keys of labels hold a policy's name and not its namespace, as in TAS. So one name belongs to one
// namespace in a cluster, that of the oldest object (find_label_owners). Any edit of any policy may change
// the owner. So permission is worked out again for all policies, and if the keys or their owner change, the
// wishes of every known node are looked at again. Labels that are on nodes then are the former owner's. They
// say nothing of the new owner's rules (disown_labels), but are counted as its labels until they are off.

#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/policy/label_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace binnacle::policy {

/// The strategy with only the rules that count, and with the default limit if it gives none.
strategy engine::effective(const strategy& s) const {
  strategy out = s;
  const strategy_description& is = description_of(out.kind);
  if (is.first_rule_only && out.rules.size() > 1) out.rules.resize(1);
  if (is.yields == yield::labels && !out.max_nodes) out.max_nodes = options_.default_max_nodes;
  return out;
}

void engine::set_policies(const std::vector<policy>& policies, instant now) {
  begin(now);
  if (!began_) began_ = now;
  std::map<policy_key, policy> wanted;
  for (const policy& p : policies) wanted.emplace(p.key, p);

  find_label_owners(wanted);
  const bool labels_change = replace_runs(wanted, now);
  publish(std::move(wanted));
  forget_conditions();
  find_conflicts();
  for (auto& [id, e] : entries_) check_conditions(id, e);
  // Which keys belong to which policy may have changed anywhere.
  for (std::uint32_t n = 0; labels_change && n < known_.size(); ++n) {
    if (known_[n]) context_.relabel.push_back(store::node_id{n});
  }
  flush();
}

/// Lets what is wanted run, and nothing else. True if the keys that belong to policies have changed, or who
/// gives them.
bool engine::replace_runs(const std::map<policy_key, policy>& wanted, instant now) {
  bool labels_change = false;
  entries next;
  for (const auto& [key, p] : wanted) {
    for (const strategy& s : p.strategies) {
      if (s.rules.empty() || next.contains(strategy_id{key, s.kind})) continue;
      if (adopt(next, p, s, now)) labels_change = true;
    }
  }
  for (auto& [id, e] : entries_) {
    labels_change = labels_change || e.run->labels();
    stop(e);
  }
  entries_ = std::move(next);
  drop_unused();
  context_.due.prune([this](const deadline& d) { return awaited(d); });
  return labels_change;
}

/// Moves a strategy's run to `next` if its definition is the same, and starts one there otherwise. True if
/// that changes which labels policies give, or who writes them.
bool engine::adopt(entries& next, const policy& p, const strategy& s, instant now) {
  const strategy_id id{p.key, s.kind};
  const auto at = entries_.find(id);
  const entry* const before = at != entries_.end() && at->second.uid == p.uid ? &at->second : nullptr;
  const std::uint32_t serial_before = before == nullptr ? 0 : before->run->serial();
  const bool was_allowed = before != nullptr && before->allowed;
  const bool was_written = was_allowed && before->enforced;
  if (before != nullptr && before->run->definition() == effective(s)) {
    next.insert(entries_.extract(at));  // the very same map node: runs_ points at it
  } else {
    start(next, p, s, before, now);
  }
  entry& e = next.at(id);
  const bool enforced = p.how == mode::enforce;
  const bool allowed = refusal_of(p.key, e.run->form()).empty();
  const bool as_before =
      e.run->serial() == serial_before && was_written == (enforced && allowed) && e.enforced == enforced;
  const bool labels_change = e.run->labels() && !as_before;
  e.enforced = enforced;
  e.allowed = allowed;
  e.run->set_dry_run(!e.enforced);
  if (before != nullptr && was_allowed != allowed) {
    disown_labels(*e.run);
    for (const auto& [node, labels] : told_) inherit(e, node, labels, now);
  }
  // Labels that it gave in a dry run, or while it was not allowed to, were never written. They lose their
  // slots; only labels that are on nodes keep theirs.
  if (before != nullptr && !was_written && e.enforced && e.allowed)
    e.run->set_writes_labels(false, now, context_);
  e.run->set_writes_labels(written_by_us(e), now, context_);
  return labels_change;
}

/// Shows what runs in a new table, and says what came, changed and went.
void engine::publish(std::map<policy_key, policy> wanted) {
  policy_table table;
  for (const auto& [key, p] : wanted) {
    const auto before = policies_.find(key);
    const bool same = before != policies_.end() && before->second == p;
    table.emplace(key, same ? table_->find(key)->second : make_published(p));
    if (same) continue;
    std::vector<std::string_view> kinds;
    kinds.reserve(p.strategies.size());
    for (const strategy& s : p.strategies) kinds.push_back(to_string(s.kind));
    context_.events.push_back(
        {event_kind::accepted,
         key,
         {},
         {},
         p.how == mode::dry_run,
         fmt::format(
             "{} in force{}{}{}",
             before == policies_.end() || before->second.uid != p.uid ? "new policy" : "changed policy",
             p.how == mode::dry_run ? " as a dry run" : "", kinds.empty() ? ", without a strategy" : ": ",
             fmt::join(kinds, ", "))});
  }
  for (const auto& [key, p] : policies_) {
    if (!wanted.contains(key))
      context_.events.push_back({event_kind::removed, key, {}, {}, false, "policy removed"});
  }
  policies_ = std::move(wanted);
  table_ = std::make_shared<const policy_table>(std::move(table));
  table_changed_ = true;
}

/// Of policies and strategies that are gone.
void engine::forget_conditions() {
  std::erase_if(conditions_, [this](const auto& c) {
    const bool gone =
        !policies_.contains(c.first.policy) ||
        (c.first.strategy && !entries_.contains(strategy_id{c.first.policy, *c.first.strategy}));
    if (gone) changed_conditions_.push_back({c.first.policy, c.first.what, c.first.strategy, false, {}});
    return gone;
  });
}

void engine::start(entries& next, const policy& p, const strategy& s, const entry* before, instant now) {
  const strategy definition = effective(s);
  entry fresh;
  strategy_run::columns values;
  for (const rule& r : definition.rules) {
    watched_column& column = watch(r.column(), now);
    fresh.columns.push_back(&column);
    fresh.inputs.push_back(&open_input(r, column, now));
    values.push_back(column.from.values);
  }
  const std::uint32_t serial = next_serial_++;
  fresh.run = std::make_unique<strategy_run>(p.key, definition, std::move(values), serial);
  fresh.uid = p.uid;
  fresh.run->set_dry_run(p.how == mode::dry_run);
  fresh.enforced = p.how == mode::enforce;
  fresh.allowed = refusal_of(p.key, fresh.run->form()).empty();
  fresh.run->set_writes_labels(written_by_us(fresh), now, context_);
  for (std::size_t r = 0; r < fresh.inputs.size(); ++r) fresh.inputs[r]->attach(*fresh.run, r);
  if (before != nullptr) fresh.run->carry_over(*before->run, context_.known_nodes);
  const auto at = next.emplace(strategy_id{p.key, s.kind}, std::move(fresh)).first;
  runs_[serial] = &*at;
  entry& e = at->second;
  set_patience(e);
  if (before == nullptr) {
    recall(e, now);
    for (const auto& [node, labels] : told_) inherit(e, node, labels, now);
  }
  for (std::uint32_t n = 0; n < known_.size(); ++n) {
    if (!known_[n]) continue;
    seed(e, store::node_id{n}, now);
    e.run->judge(store::node_id{n}, now, context_);
  }
  grace(e, now);
}

/// Tells the strategy the values that the columns already hold of a node. It is to be judged then.
void engine::seed(entry& e, store::node_id node, instant now) {
  for (std::size_t r = 0; r < e.inputs.size(); ++r) {
    const store::sample s = e.inputs[r]->seen(e.columns[r]->from.values->stored(node));
    if (s.present(now)) {
      e.run->observe(r, node, s);
    } else {
      e.run->lose(r, node);
    }
  }
}

/// Labels under the name of a policy that may give none are another policy's, or nobody's.
void engine::inherit(entry& e, store::node_id node, const std::map<std::string, std::string>& labels,
                     instant now) {
  static const std::map<std::string, std::string> none;
  e.run->inherit(node, e.allowed ? labels : none, now, context_);
}

/// For all nodes that are known, whether the run has seen them or not.
void engine::disown_labels(strategy_run& run) const {
  for (std::uint32_t n = 0; n < known_.size(); ++n) {
    if (known_[n]) run.disown_labels(store::node_id{n});
  }
}

void engine::stop(entry& e) {
  for (input* i : e.inputs) i->detach(*e.run);
  runs_.erase(e.run->serial());
}

watched_column& engine::watch(const store::column_spec& spec, instant now) {
  auto& column = watched_[spec];
  if (!column) {
    column = std::make_unique<watched_column>();
    column->from = columns_.watch(spec, now);
    column->since = now;
    by_column_[index(column->from.id)] = column.get();
  }
  return *column;
}

input& engine::open_input(const rule& r, watched_column& column, instant now) {
  const auto at =
      std::ranges::find_if(column.inputs, [&r](const auto& i) { return i->stale_after() == r.stale_after; });
  if (at != column.inputs.end()) return **at;
  auto& fresh = *column.inputs.emplace_back(std::make_unique<input>(next_serial_++, r.stale_after));
  inputs_[fresh.serial()] = &fresh;
  for (std::uint32_t n = 0; n < known_.size(); ++n) {
    if (known_[n])
      fresh.seed(store::node_id{n}, fresh.seen(column.from.values->stored(store::node_id{n})), now,
                 context_.due);
  }
  return fresh;
}

/// Columns are released last, so that a column that an edited policy still reads is never released.
void engine::drop_unused() {
  for (auto at = watched_.begin(); at != watched_.end();) {
    watched_column& column = *at->second;
    std::erase_if(column.inputs, [this](const auto& i) {
      if (!i->users().empty()) return false;
      inputs_.erase(i->serial());
      return true;
    });
    if (!column.inputs.empty()) {
      ++at;
      continue;
    }
    by_column_.erase(index(column.from.id));
    columns_.release(column.from.id);
    at = watched_.erase(at);
  }
}

std::shared_ptr<const published_policy> engine::make_published(const policy& p) const {
  auto out = std::make_shared<published_policy>();
  out->key = p.key;
  out->revision = p.revision;
  out->how = p.how;
  out->damping = p.damping;
  for (const strategy& s : p.strategies) {
    const auto found = entries_.find(strategy_id{p.key, s.kind});
    if (found == entries_.end() || out->find(s.kind) != nullptr) continue;
    const entry& e = found->second;
    published_strategy shown{s.kind,
                             s.op,
                             s.on_missing,
                             {},
                             e.run->judges() ? e.run->verdicts() : nullptr,
                             e.run->definition().max_nodes,
                             s.cool_down,
                             s.power};
    for (std::size_t r = 0; r < e.columns.size(); ++r) {
      const rule& definition = e.run->definition().rules[r];
      shown.rules.push_back(
          {definition, description_of(s.kind).rule_text(definition), e.columns[r]->from.values});
    }
    out->strategies.push_back(std::move(shown));
  }
  return out;
}

/// Keys of labels hold a policy's name and not its namespace. So a name belongs to one namespace: that of the
/// oldest object that gives labels under it.
void engine::find_label_owners(const std::map<policy_key, policy>& wanted) {
  label_owners_.clear();
  std::map<std::string, const policy*> oldest;
  for (const auto& [key, p] : wanted) {
    if (p.how != mode::enforce) continue;
    // clang 14 captures no structured binding.
    const bool gives = std::ranges::any_of(p.strategies, [&, &policy_name = key](const strategy& s) {
      const label_form form = description_of(s.kind).labels;
      return form != label_form::none && !s.rules.empty() && refusal_of(policy_name, form).empty();
    });
    if (!gives) continue;
    const auto [at, first] = oldest.try_emplace(key.name, &p);
    if (!first && p.created < at->second->created) at->second = &p;  // equal: the first by namespace
  }
  for (const auto& [name, p] : oldest) label_owners_.emplace(name, p->key.name_space);
}

engine::label_refusal engine::refusal_of(const policy_key& key, label_form form) const {
  if (form == label_form::none) return {};
  const auto& spaces = options_.label_namespaces;
  if (!spaces.empty() && std::ranges::find(spaces, key.name_space) == spaces.end())
    return {
        condition_kind::not_allowed,
        fmt::format("namespace {} may not label nodes: add it to the allowed namespaces or move the policy",
                    key.name_space)};
  if (!key.name.starts_with(options_.label_prefix))
    return {condition_kind::not_allowed,
            fmt::format("names of policies that label nodes begin with {} here: rename the policy",
                        options_.label_prefix)};
  if (std::string theirs = others_key(key.name, form); !theirs.empty())
    return {condition_kind::not_allowed, "no label of the policy is written: " + theirs};
  const auto owner = label_owners_.find(key.name);
  if (owner == label_owners_.end() || owner->second == key.name_space) return {};
  return {condition_kind::conflict,
          fmt::format("the labels of policies named {} belong to namespace {}, which had one first: no label "
                      "of this policy is written; give it another name",
                      key.name, owner->second)};
}

void engine::find_conflicts() {
  for (const auto& [id, e] : entries_) {
    if (!e.run->labels()) continue;
    const label_refusal refused = refusal_of(id.policy, e.run->form());
    const bool taken = !refused.empty() && refused.what == condition_kind::conflict;
    set_condition({id.policy, condition_kind::not_allowed, id.kind}, !refused.empty() && !taken,
                  refused.message);
    const std::vector<std::string> mixed = labels_at_odds(e.run->definition());
    set_condition(
        {id.policy, condition_kind::conflict, id.kind}, taken || !mixed.empty(),
        taken
            ? refused.message
            : fmt::format("rules with different operators give the label {}: where two of them are true the "
                          "node gets none of this policy's labels, as with TAS; give them different labels",
                          fmt::join(mixed, ", ")));
  }
}

void engine::set_condition(const condition_id& id, bool active, std::string message) {
  const auto at = conditions_.find(id);
  if (!active) {
    if (at == conditions_.end()) return;
    conditions_.erase(at);
    changed_conditions_.push_back({id.policy, id.what, id.strategy, false, {}});
    return;
  }
  if (at != conditions_.end() && at->second == message) return;
  const bool reworded = at != conditions_.end();
  conditions_[id] = message;
  changed_conditions_.push_back({id.policy, id.what, id.strategy, true, std::move(message), reworded});
}

}  // namespace binnacle::policy
