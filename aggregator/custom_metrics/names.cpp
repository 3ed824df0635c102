#include "aggregator/custom_metrics/names.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace binnacle::custom_metrics {
namespace {

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

}  // namespace

name_list::name_list(const metrics::names_in_force& names) : in_force_(names) { begin(); }

// Clears everything, and takes the aliases that are in force now.
void name_list::begin() {
  table_ = in_force_.table();
  aliases_.clear();
  as_of_ = 0;
  seen_.clear();
  uses_.clear();
  changed_ = true;
  for (const metrics::alias& a : table_->all()) aliases_.emplace(a.family, &a);
  for (const metrics::family& f : metrics::families()) {
    if (f.source != "aggregator") count(f.name, 1);  // a node does not measure the aggregator
  }
}

void name_list::count(std::string_view name, int step) {
  auto at = uses_.find(name);
  if (at == uses_.end()) at = uses_.emplace(std::string(name), 0).first;
  const bool was_listed = at->second > 0;
  at->second += step;
  changed_ = changed_ || was_listed != (at->second > 0);
  if (at->second <= 0) uses_.erase(at);
}

// prometheus-adapter strips "node_", so policies and HPAs ask without it. The short name counts only if it
// has no other meaning.
void name_list::count_family(std::string_view name, int step) {
  count(name, step);
  constexpr std::string_view prefix = "node_";
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return;
  const std::string_view rest = name.substr(prefix.size());
  if (table_->resolve(rest).otherwise == name) count(rest, step);
}

void name_list::count(const store::shape::name_parts& n, int step) {
  for (const std::string& family : n.families) {
    count_family(family, step);
    const auto [first, last] = aliases_.equal_range(family);
    for (auto a = first; a != last; ++a) {
      if (a->second->label.empty()) count(a->second->name, step);
    }
  }
  for (const auto& series : n.series) {
    if (!series.flat.empty()) count(series.flat, step);
    const auto [first, last] = aliases_.equal_range(series.family);
    for (auto a = first; a != last; ++a) {
      if (a->second->label.empty()) continue;
      if (const std::string name = alias_name(*a->second, series); !name.empty()) count(name, step);
    }
  }
}

bool name_list::knows(std::string_view name) const {
  if (uses_.contains(name)) return true;
  const metrics::resolved meant = table_->resolve(name);
  return meant.is_alias || uses_.contains(meant.otherwise);
}

const std::vector<std::string>& name_list::of(const store::view& nodes) {
  if (table_ != in_force_.table()) begin();
  if (std::exchange(as_of_, nodes.catalogs()) == nodes.catalogs()) return names_;
  parts now;
  for (const auto& [name, node] : nodes.nodes()) {
    if (node->cells == nullptr) continue;
    const auto& has = node->cells->series().names;
    if (now.empty() || now.back() != has) now.push_back(has);  // neighbours often have one catalog
  }
  std::sort(now.begin(), now.end());
  now.erase(std::unique(now.begin(), now.end()), now.end());

  parts came, went;
  std::set_difference(now.begin(), now.end(), seen_.begin(), seen_.end(), std::back_inserter(came));
  std::set_difference(seen_.begin(), seen_.end(), now.begin(), now.end(), std::back_inserter(went));
  for (const auto& n : came) count(*n, 1);
  for (const auto& n : went) count(*n, -1);
  seen_ = std::move(now);

  if (changed_) {
    names_.clear();
    for (const auto& [name, uses] : uses_) {
      if (names_.size() == most) break;
      names_.push_back(name);
    }
    changed_ = false;
    ++revision_;
  }
  return names_;
}

}  // namespace binnacle::custom_metrics
