#include "cli/top/group.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace binnacle::cli::top {
namespace {

/// Gathers the numbers that are there, and gives their sum or their mean.
class gathered {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value(bool sums) const {
    if (count_ == 0) return std::nullopt;
    return sums ? sum_ : sum_ / static_cast<double>(count_);
  }
  std::size_t count() const { return count_; }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

reading together(const std::vector<const node*>& members, std::size_t metric, bool sums) {
  reading r;
  gathered all;
  for (const node* n : members) {
    const reading& one = n->values[metric];
    if (one.value) all.add(*one.value);
    r.partial |= one.partial;
    r.age_ms = std::max(r.age_ms, one.age_ms);
    if (r.absent.empty()) r.absent = one.absent;
  }
  r.value = all.value(sums);
  r.partial = r.value && (r.partial || all.count() < members.size());
  return r;
}

/// Adds up or averages trails. A trail has one number per answer, so their newest ends are aligned.
trail together_seen(const std::vector<const node*>& members, std::size_t metric, bool sums) {
  trail out;
  std::size_t longest = 0;
  for (const node* n : members) longest = std::max(longest, n->trails[metric].size());
  for (std::size_t back = longest; back > 0; --back) {
    gathered all;
    for (const node* n : members) {
      const trail& t = n->trails[metric];
      if (back > t.size()) continue;
      if (const float v = t.at(t.size() - back); !std::isnan(v)) all.add(v);
    }
    out.add(static_cast<float>(all.value(sums).value_or(std::numeric_limits<double>::quiet_NaN())));
  }
  return out;
}

}  // namespace

std::vector<grouping> groupings_of(const fleet& all) {
  std::vector<grouping> found{
      {"link", "connection"}, {"version", "the agent's version"}, {"prefix", "name, up to its last part"}};
  std::set<std::string> keys(all.label_keys().begin(), all.label_keys().end());
  for (const auto& [name, n] : all.nodes()) {
    for (const auto& label : n.labels) keys.insert(label.first);
  }
  for (const std::string& key : keys) found.push_back({std::string(label_prefix) + key, "label " + key});
  return found;
}

std::string group_of(const node& n, std::string_view grouping) {
  if (grouping == "link") return n.connected > 0 ? "connected" : "down";
  if (grouping == "version") return n.version.empty() ? "(none)" : n.version;
  if (grouping == "prefix") {
    const auto end = n.name.find_last_of("-.");
    return end == std::string::npos || end == 0 ? n.name : n.name.substr(0, end);
  }
  if (grouping.starts_with(label_prefix)) {
    const std::string key(grouping.substr(label_prefix.size()));
    const auto shown = [](const std::string& value) { return value.empty() ? "(empty)" : value; };
    // The Node object's label counts first, then the label that a policy gives.
    if (const auto own = n.object_labels.find(key); own != n.object_labels.end()) return shown(own->second);
    const auto given = std::ranges::find(n.labels, key, [](const auto& label) { return label.first; });
    if (given != n.labels.end()) return shown(given->second);
  }
  return "(none)";
}

bool adds_up(std::string_view unit) noexcept {
  return unit == "watts" || unit == "joules" || unit == "bytes" || unit == "amperes";
}

node together(std::string name, const std::vector<const node*>& members,
              const std::vector<shown_metric>& metrics) {
  node all;
  all.name = std::move(name);
  all.members = members.size();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    all.values.push_back(together(members, i, adds_up(metrics[i].unit)));
    all.trails.push_back(together_seen(members, i, adds_up(metrics[i].unit)));
  }
  for (const node* n : members) {
    all.connected += n->connected;
    all.lacking |= n->lacking;
    if (all.standings.empty()) {
      all.standings = n->standings;
      all.concerned = n->concerned;
      continue;
    }
    for (std::size_t p = 0; p < all.standings.size(); ++p) {
      if (badness(n->standings[p].state) > badness(all.standings[p].state))
        all.standings[p] = n->standings[p];
      all.concerned[p] += n->concerned[p];
    }
  }
  return all;
}

std::vector<node> grouped(const std::vector<const node*>& nodes, std::string_view grouping,
                          const std::vector<shown_metric>& metrics) {
  std::map<std::string, std::vector<const node*>> members;
  for (const node* n : nodes) members[group_of(*n, grouping)].push_back(n);
  std::vector<node> groups;
  for (const auto& [name, in_it] : members) groups.push_back(together(name, in_it, metrics));
  return groups;
}

}  // namespace binnacle::cli::top
