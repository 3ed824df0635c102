#include "aggregator/custom_metrics/names.hpp"

#include "common/metrics/families.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace binnacle::custom_metrics {
namespace {

// What finding the meaning of a name counts as: it is compared with each alias.
constexpr std::uint64_t cost_of_resolving = 4;
// Uses of the families that are always listed. No other name has so many.
constexpr std::int64_t always = std::int64_t{1} << 40;
// About half a millisecond, if each has a catalog of its own.
constexpr std::size_t nodes_per_search_step = 500;

using bindings = std::vector<std::pair<std::string_view, std::string_view>>;  // "<N>" → "0"

/// Matches `text` with `pattern`, in which "<N>" and its like stand for digits. False if it does not match.
bool match(std::string_view pattern, std::string_view text, bindings& found) {
  while (!pattern.empty()) {
    const auto end = pattern.front() == '<' ? pattern.find('>') : std::string_view::npos;
    if (end == std::string_view::npos) {
      if (text.empty() || text.front() != pattern.front()) return false;
      pattern.remove_prefix(1);
      text.remove_prefix(1);
      continue;
    }
    const std::string_view digits =
        text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
    if (digits.empty()) return false;
    found.emplace_back(pattern.substr(0, end + 1), digits);
    pattern.remove_prefix(end + 1);
    text.remove_prefix(digits.size());
  }
  return text.empty();
}

/// The name under which `a` reaches `series` of its family, or "" if it does not.
std::string alias_name(const metrics::alias& a, const store::shape::name_parts::part& series) {
  std::string name(a.name);
  const auto label = std::find_if(series.labels.begin(), series.labels.end(),
                                  [&](const auto& l) { return l.first == a.label; });
  bindings found;
  if (label == series.labels.end() || !match(a.value, label->second, found)) return {};
  for (const auto& [placeholder, digits] : found) {
    if (const auto at = name.find(placeholder); at != std::string::npos)
      name.replace(at, placeholder.size(), digits);
  }
  return name;
}

/// Whether an agent can emit the family: a node does not measure the aggregator.
bool is_of_nodes(const metrics::family& f) noexcept { return f.source != "aggregator"; }

}  // namespace

name_list::name_list(const store::view& nodes, const metrics::names_in_force& names)
    : nodes_(nodes), in_force_(names) {
  begin();
}

// Clears everything but the list of before, and takes the aliases that are in force now.
void name_list::begin() {
  table_ = in_force_.table();
  aliases_.clear();
  seen_.clear();
  uses_.clear();
  by_uses_.clear();
  place_.reset();
  looking_ = false;
  recounts_.clear();
  making_.reset();
  as_of_ = 0;
  changed_ = true;
  for (const metrics::alias& a : table_->all()) aliases_.emplace(a.family, &a);
  for (const metrics::family& f : metrics::families()) {
    if (is_of_nodes(f)) count(f.name, always);
  }
}

bool name_list::step(std::uint64_t wanted) {
  if (table_ != in_force_.table()) begin();
  if (as_of_ >= wanted) return false;
  if (!place_) {
    place_.emplace(nodes_);
    looked_as_of_ = nodes_.catalogs();
    looking_ = true;
  }
  const std::uint64_t enough = handled_ + per_step;
  if (look(enough) || count_kinds(enough) || make_list(enough)) return true;
  place_.reset();
  as_of_ = looked_as_of_;
  return as_of_ < wanted;
}

// The functions of a pass return true while they have more to do.

bool name_list::look(std::uint64_t enough) {
  if (!looking_) return false;
  const bool more = place_->go_on([&](const store::node_view& node) {
    if (node.cells != nullptr) ++seen_[node.cells->series().names].nodes;
    return ++handled_ < enough;
  });
  if (more) return true;
  looking_ = false;
  for (auto at = seen_.begin(); at != seen_.end();) {
    kind_uses& uses = at->second;
    const int now = std::min(uses.nodes, 2);
    // What comes is counted before what goes, so that a name that both have stays in the table.
    if (now > uses.counted) recounts_.push_front(recount{at->first, now - uses.counted});
    if (now < uses.counted) recounts_.push_back(recount{at->first, now - uses.counted});
    uses = {0, now};
    at = now == 0 ? seen_.erase(at) : std::next(at);
  }
  return false;
}

bool name_list::count_kinds(std::uint64_t enough) {
  for (; !recounts_.empty(); recounts_.pop_front()) {
    if (go_on(recounts_.front(), enough)) return true;
  }
  return false;
}

bool name_list::go_on(recount& r, std::uint64_t enough) {
  for (const auto& families = r.of->families; r.family < families.size(); ++r.family) {
    if (handled_ >= enough) return true;
    ++handled_;
    const std::string& family = families[r.family];
    if (metrics::find(family) == nullptr) {
      if (r.families_left == 0) continue;
      --r.families_left;
    }
    count_family(family, r.by);
  }
  for (const auto& series = r.of->series; r.series < series.size(); ++r.series) {
    if (handled_ >= enough) return true;
    ++handled_;
    const auto& one = series[r.series];
    std::size_t& left = metrics::find(one.family) != nullptr ? r.own_left : r.foreign_left;
    if (left > 0 && !one.flat.empty()) {
      count(one.flat, r.by);
      --left;
    }
    const auto [first, last] = aliases_.equal_range(one.family);
    for (auto a = first; a != last && left > 0; ++a) {
      if (a->second->label.empty()) continue;
      ++handled_;
      if (const std::string name = alias_name(*a->second, one); !name.empty()) {
        count(name, r.by);
        --left;
      }
    }
  }
  return false;
}

// prometheus-adapter strips "node_", so policies and HPAs ask without it. The short name counts only if it
// has no other meaning.
void name_list::count_family(std::string_view name, int by) {
  count(name, by);
  const auto [first, last] = aliases_.equal_range(name);
  for (auto a = first; a != last; ++a) {
    if (a->second->label.empty()) count(a->second->name, by);
  }
  constexpr std::string_view prefix = "node_";
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return;
  const std::string_view rest = name.substr(prefix.size());
  handled_ += cost_of_resolving;
  if (table_->resolve(rest).otherwise == name) count(rest, by);
}

void name_list::count(std::string_view name, std::int64_t by) {
  ++handled_;
  auto at = uses_.find(name);
  if (at == uses_.end()) at = uses_.emplace(std::string(name), 0).first;
  const std::int64_t before = at->second;
  const std::int64_t now = before + by;
  // If not all are listed, the uses decide which.
  changed_ = changed_ || before == 0 || now == 0 || uses_.size() > most;
  if (before > 0 && --by_uses_[before] == 0) by_uses_.erase(before);
  if (now > 0) ++by_uses_[now];
  at->second = now;
  if (now == 0) uses_.erase(at);
}

bool name_list::make_list(std::uint64_t enough) {
  if (!changed_) return false;
  if (making_ == nullptr) {
    making_ = std::make_shared<std::vector<std::string>>();
    making_->reserve(std::min(most, uses_.size()));
    next_ = uses_.begin();
    least_uses_ = 0;
    room_at_least_ = most;
    for (const auto& [uses, how_many] : by_uses_) {
      if (how_many >= room_at_least_) {
        least_uses_ = uses;
        break;
      }
      room_at_least_ -= how_many;
    }
  }
  for (; next_ != uses_.end(); ++next_) {
    if (handled_ >= enough) return true;
    ++handled_;
    const auto& [name, uses] = *next_;
    if (uses < least_uses_ || (uses == least_uses_ && room_at_least_ == 0)) continue;
    if (uses == least_uses_) --room_at_least_;
    making_->push_back(name);
  }
  changed_ = false;
  if (*making_ != *names_) {
    names_ = std::move(making_);
    ++revision_;
  }
  making_.reset();
  return false;
}

name_search::name_search(const store::view& nodes, const metrics::alias_table& names, std::string_view metric)
    : place_(nodes), metric_(metric) {
  metrics::resolved meant = names.resolve(metric);
  const metrics::family* own = metrics::find(metric);
  found_ = meant.is_alias || (own != nullptr && is_of_nodes(*own));
  otherwise_ = std::move(meant.otherwise);
}

bool name_search::announced_by(const store::shape& node) const noexcept {
  const auto has = [&node](std::string_view name) {
    return !name.empty() && (!node.of_family(name).empty() || node.of_flat(name) != nullptr);
  };
  return has(metric_) || has(otherwise_);
}

bool name_search::step() {
  if (found_) return false;
  std::size_t left = nodes_per_search_step;
  const store::shape* last = nullptr;  // neighbours often have one
  const bool more = place_.go_on([&](const store::node_view& node) {
    const store::shape* here = node.cells == nullptr ? nullptr : node.cells->shared_shape().get();
    found_ = here != nullptr && here != last && announced_by(*here);
    last = here;
    return !found_ && --left > 0;
  });
  return more && !found_;
}

}  // namespace binnacle::custom_metrics
