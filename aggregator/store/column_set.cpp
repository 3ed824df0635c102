#include "aggregator/store/column_set.hpp"

#include "common/metrics/watch.hpp"
#include "common/wire/names.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace binnacle::store {

namespace {

/// The families that the catalogue says a name is made of.
void add_families(std::set<std::string, std::less<>>& to, const metrics::resolved& name) {
  to.insert(name.family);
  for (const std::string_view part : metrics::made_of(name.family)) to.emplace(part);
  const metrics::family* f = metrics::find(name.family);
  if (f == nullptr || name.rule_given) return;
  for (const metrics::member& m : f->members) to.emplace(m.family);
  for (const metrics::member& m : f->denominator) to.emplace(m.family);
}

// A mean or a trend over a minute is as good from a point a second as from five. Peaks are not.
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

}  // namespace

void column_set::name(column& c, metrics::resolved meant) {
  c.name = std::move(meant);
  // A rule that gives its own window knows what it wants; an old name without one keeps the mean its
  // threshold was chosen for.
  const bool own_window = c.spec.window > duration::zero();
  c.length = own_window ? c.spec.window : c.name.window;
  c.stat = own_window ? c.spec.stat : statistic::avg;
  c.stale_after = {};
  c.families.clear();
  add_families(c.families, c.name);
}

void column_set::attach(kind& k, std::uint32_t id) {
  if (k.plans.size() <= id) k.plans.resize(id + 1);
  column& c = *columns_[id];
  k.plans[id] = std::make_unique<const plan>(compile(*k.what, c.spec.metric, c.name));
  const plan& p = *k.plans[id];
  for (const std::uint16_t g : p.groups) k.columns_of[g].push_back(id);
  c.stale_after = std::max(c.stale_after, p.longest_gap);
  // Flat names, and the counters behind a mean, are known from the nodes that have them.
  for (const auto* terms : {&p.terms, &p.denominator, &p.integral}) {
    for (const plan::term& t : *terms) {
      if (c.families.insert(k.what->all[t.series].family).second) ++interest_version_;
    }
  }
}

void column_set::detach(kind& k, std::uint32_t id) {
  for (const std::uint16_t g : k.plans[id]->groups) std::erase(k.columns_of[g], id);
  k.plans[id].reset();
}

column_set::added column_set::add(const column_spec& spec) {
  if (const auto known = by_spec_.find(spec); known != by_spec_.end()) {
    ++columns_[known->second]->users;
    return {column_id{known->second}, false};
  }
  auto fresh = std::make_unique<column>();
  fresh->spec = spec;
  name(*fresh, names_->resolve(spec.metric));
  fresh->users = 1;
  ++interest_version_;
  fresh->values = std::make_shared<shared_column>(spec);

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
  by_spec_.erase(columns_[id]->spec);
  columns_[id].reset();
  free_.push_back(id);
  return true;
}

std::shared_ptr<const kind> column_set::kind_of(std::shared_ptr<const shape> s) {
  if (const auto known = kinds_.find(s.get()); known != kinds_.end()) {
    // The shape of an entry that is still alive is alive too, so equal addresses are equal shapes.
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
  for (std::uint32_t id = 0; id < columns_.size(); ++id) {
    if (columns_[id]) attach(*k, id);
  }
  kinds_[k->what.get()] = k;
  const std::string* last = nullptr;  // those of one family stand together
  for (const std::uint32_t i : k->what->by_family) {
    const std::string& family = k->what->all[i].family;
    const bool is_next = last == nullptr || *last != family;
    if (is_next && families_.size() < most_families) families_.insert(family);
    last = &family;
  }
  return k;
}

std::vector<reading_wish> column_set::wishes() const {
  std::vector<reading_wish> out;
  for (const auto& c : columns_) {
    if (c == nullptr) continue;
    for (const std::string& family : c->families) {
      // A policy may name what no series can be called ("cpu-x"): TAS's pattern allows it.
      if (wire::valid_metric_name(family)) out.push_back({&c->spec, family, wanted_period(*c, family)});
    }
  }
  return out;
}

}  // namespace binnacle::store
