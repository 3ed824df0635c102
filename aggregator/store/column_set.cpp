// Which metrics are worth a number for each node, and how that number is made.
//
// A column exists while somebody uses it: rules that name the same metric and window share one. For each
// kind of node it has a plan: indexes of the series to read, and the rule that joins them. A plan is compiled
// when a kind meets a column for the first time, not when a value comes. `columns_of` is the reverse of the
// plans: for each group that a batch has read, it lists the columns that must be worked out again.
//
// A name can change its meaning while its column is in use (the user's file of aliases). Then the column
// stays, with a new serial and new plans. A plan that another thread compiled carries the serial that it was
// made for. If the column has a new serial by then, the plan is made again.
//
// wishes() says which families the agents are asked to read, and how often. For each family the fastest wish
// of all columns counts. Families that no node can have are left out.
#include "aggregator/store/column_set.hpp"

#include "common/metrics/plausible.hpp"
#include "common/metrics/watch.hpp"
#include "common/wire/names.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace binnacle::store {

namespace {

/// Adds the families of which a name is made.
void add_families(std::set<std::string, std::less<>>& to, const metrics::resolved& name) {
  to.insert(name.family);
  for (const std::string_view part : metrics::made_of(name.family)) to.emplace(part);
  const metrics::family* f = metrics::find(name.family);
  if (f == nullptr || name.rule_given) return;
  for (const metrics::member& m : f->members) to.emplace(m.family);
  for (const metrics::member& m : f->denominator) to.emplace(m.family);
}

/// The range that a statistic of the metric's values can have.
metrics::plausible_range plausible(const metrics::resolved& name, statistic stat) {
  const metrics::plausible_range of_values = metrics::plausible(name);
  if (stat == statistic::trend) return {};
  if (stat == statistic::stddev) return {0, of_values.most - of_values.least, of_values.apart};
  return of_values;
}

// For a mean or a trend over a minute, one point a second is as good as five. For a peak it is not.
constexpr int points_in_a_window = 50;
constexpr std::chrono::milliseconds relaxed{1000};

/// How often `family` is to be read for the column.
std::chrono::milliseconds wanted_period(const column& c, std::string_view family) {
  const auto watched = metrics::watched_period(family);
  if (c.length == duration::zero() || (c.stat != statistic::avg && c.stat != statistic::trend))
    return watched;
  const auto fine = std::chrono::duration_cast<std::chrono::milliseconds>(c.length / points_in_a_window);
  return std::clamp(fine, watched, std::max(watched, relaxed));
}

/// What a name means at a node that has nothing of it. There is one for all nodes: whoever may write a policy
/// invents names, and each would take a plan at each node that has a shape of its own.
const std::shared_ptr<const plan>& plan_of_nothing() {
  static const auto nothing = std::make_shared<const plan>();
  return nothing;
}

ready_plan make_plan(const shape& s, const plan_wish& wanted) {
  plan made = compile(s, wanted.metric, wanted.name);
  ready_plan out{.serial = wanted.serial};
  const std::string* last = nullptr;  // series of one family follow one another
  for (const auto* terms : {&made.terms, &made.denominator, &made.integral}) {
    for (const plan::term& t : *terms) {
      const std::string& family = s.all[t.series].family;
      if (last == nullptr || *last != family) out.families.push_back(family);
      last = &family;
    }
  }
  out.what = made.known ? std::make_shared<const plan>(std::move(made)) : plan_of_nothing();
  return out;
}

}  // namespace

std::shared_ptr<const ready_plans> make_plans(const shape& s, const std::vector<plan_wish>& wanted) {
  auto out = std::make_shared<ready_plans>();
  out->by_column.resize(wanted.size());
  std::map<std::string_view, const ready_plan*> made;  // windows of one metric have one plan
  for (std::size_t id = 0; id < wanted.size(); ++id) {
    const plan_wish& w = wanted[id];
    ready_plan& here = out->by_column[id];
    if (w.serial == 0) continue;
    const auto [at, fresh] = made.try_emplace(w.metric, &here);
    here = fresh ? make_plan(s, w) : *at->second;
    here.serial = w.serial;
  }
  return out;
}

std::shared_ptr<const std::vector<plan_wish>> column_set::plan_wishes() const {
  if (plan_wishes_ == nullptr) {
    auto all = std::make_shared<std::vector<plan_wish>>(columns_.size());
    for (std::size_t id = 0; id < columns_.size(); ++id) {
      if (const auto& c = columns_[id]) (*all)[id] = {c->serial, c->spec.metric, c->name};
    }
    plan_wishes_ = std::move(all);
  }
  return plan_wishes_;
}

void column_set::name(column& c, metrics::resolved meant) {
  c.serial = ++last_serial_;
  plan_wishes_.reset();
  c.name = std::move(meant);
  // The rule's own window counts. Without one, an old name keeps its window, because thresholds for it were
  // chosen for that mean.
  const bool own_window = c.spec.window > duration::zero();
  c.length = own_window ? c.spec.window : c.name.window;
  c.stat = own_window ? c.spec.stat : statistic::avg;
  c.stale_after = {};
  c.families.clear();
  add_families(c.families, c.name);
  c.values->set_plausible(plausible(c.name, c.stat));
}

/// Another column of this kind with the same plan.
std::optional<std::uint32_t> column_set::twin_of(const kind& k, std::uint32_t id) const {
  const column& c = *columns_[id];
  for (auto at = by_spec_.lower_bound({c.spec.metric}); at != by_spec_.end(); ++at) {
    if (at->first.metric != c.spec.metric) break;
    const std::uint32_t other = at->second;
    // While the table of old names is being replaced, the other column may still have the name's former
    // meaning.
    if (other != id && other < k.plans.size() && k.plans[other] != nullptr && columns_[other]->name == c.name)
      return other;
  }
  return std::nullopt;
}

void column_set::attach(kind& k, std::uint32_t id, const ready_plans* ready) {
  if (k.plans.size() <= id) {
    k.plans.resize(id + 1);
    k.twins.resize(id + 1, kind::alone);
  }
  column& c = *columns_[id];
  if (const auto twin = twin_of(k, id)) {
    const column& other = *columns_[*twin];
    if (k.twins[*twin] == kind::alone) k.twins[*twin] = *twin;
    k.twins[id] = k.twins[*twin];
    k.plans[id] = k.plans[*twin];
    for (const std::uint16_t g : k.plans[id]->groups) k.columns_of[g].push_back(id);
    c.stale_after = std::max(c.stale_after, other.stale_after);
    for (const std::string& family : other.families) {
      if (c.families.insert(family).second) ++interest_version_;
    }
    return;
  }
  const bool fits =
      ready != nullptr && id < ready->by_column.size() && ready->by_column[id].serial == c.serial;
  ready_plan own;
  if (!fits) {
    own = make_plan(*k.what, {c.serial, c.spec.metric, c.name});
    ++compiled_;
  }
  const ready_plan& made = fits ? ready->by_column[id] : own;
  k.plans[id] = made.what;
  for (const std::uint16_t g : made.what->groups) k.columns_of[g].push_back(id);
  c.stale_after = std::max(c.stale_after, made.what->longest_gap);
  // Flat names, and the counters behind a mean, become known only here, from nodes that have them.
  for (const std::string& family : made.families) {
    if (c.families.insert(family).second) ++interest_version_;
  }
}

void column_set::detach(kind& k, std::uint32_t id) {
  for (const std::uint16_t g : k.plans[id]->groups) std::erase(k.columns_of[g], id);
  k.plans[id].reset();
  k.twins[id] = kind::alone;
  // The freed id may soon belong to another metric. So the remaining twins are marked with the id of one of
  // themselves.
  std::uint32_t heir = kind::alone;
  for (std::uint32_t other = 0; other < k.twins.size(); ++other) {
    if (k.twins[other] != id) continue;
    if (heir == kind::alone) heir = other;
    k.twins[other] = heir;
  }
}

column_set::added column_set::add(const column_spec& spec) {
  if (const auto known = by_spec_.find(spec); known != by_spec_.end()) {
    ++columns_[known->second]->users;
    return {column_id{known->second}, false};
  }
  auto fresh = std::make_unique<column>();
  fresh->spec = spec;
  fresh->values = std::make_shared<shared_column>(spec);
  name(*fresh, names_->resolve(spec.metric));
  fresh->users = 1;
  ++interest_version_;

  std::uint32_t id = 0;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(columns_.size());
    columns_.push_back(nullptr);
  } else {
    id = free_.back();
    free_.pop_back();
  }
  columns_[id] = std::move(fresh);
  by_spec_.emplace(spec, id);
  for (auto& [what, entry] : kinds_) {
    if (const auto k = entry.lock()) attach(*k, id);
  }
  return {column_id{id}, true};
}

std::vector<column_id> column_set::set_names(const metrics::alias_table& names) {
  names_ = &names;
  std::vector<column_id> others;
  for (std::uint32_t id = 0; id < columns_.size(); ++id) {
    if (!columns_[id]) continue;
    auto meant = names.resolve(columns_[id]->spec.metric);
    if (meant == columns_[id]->name) continue;
    name(*columns_[id], std::move(meant));
    for (auto& [what, entry] : kinds_) {
      const auto k = entry.lock();
      if (!k) continue;
      detach(*k, id);
      attach(*k, id);
    }
    others.push_back(column_id{id});
  }
  if (!others.empty()) ++interest_version_;
  return others;
}

bool column_set::remove(column_id which) {
  const std::uint32_t id = index(which);
  if (!used(which) || --columns_[id]->users > 0) return false;
  for (auto& [what, entry] : kinds_) {
    if (const auto k = entry.lock()) detach(*k, id);
  }
  ++interest_version_;
  plan_wishes_.reset();
  by_spec_.erase(columns_[id]->spec);
  columns_[id].reset();
  free_.push_back(id);
  return true;
}

std::shared_ptr<const kind> column_set::kind_of(std::shared_ptr<const shape> s, const ready_plans* ready) {
  if (const auto known = kinds_.find(s.get()); known != kinds_.end()) {
    // A kind keeps its shape alive. So while the kind lives, an equal address means an equal shape.
    if (auto k = known->second.lock()) return k;
  }
  if (kinds_.size() >= sweep_at_) {
    std::erase_if(kinds_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, kinds_.size() * 2);
  }
  auto k = std::make_shared<kind>();
  k->what = std::move(s);
  k->columns_of.resize(k->what->groups.size());
  k->plans.resize(columns_.size());
  k->twins.resize(columns_.size(), kind::alone);
  for (std::uint32_t id = 0; id < columns_.size(); ++id) {
    if (columns_[id]) attach(*k, id, ready);
  }
  kinds_[k->what.get()] = k;
  k->families = families_.hold(k->what->names->families);
  return k;
}

std::vector<reading_wish> column_set::wishes() const {
  std::vector<reading_wish> out;
  for (const auto& c : columns_) {
    if (c == nullptr) continue;
    for (const std::string& family : c->families) {
      // A policy may use a name that no series can have ("cpu-x"), because TAS's pattern allows it.
      if (wire::valid_metric_name(family)) out.push_back({&c->spec, family, wanted_period(*c, family)});
    }
  }
  return out;
}

}  // namespace binnacle::store
