#include "common/metrics/catalog.hpp"

#include "common/metrics/aliases.hpp"
#include "common/metrics/aliases_pmu.hpp"
#include "common/metrics/families_agent.hpp"
#include "common/metrics/families_aggregator.hpp"
#include "common/metrics/families_bmc.hpp"
#include "common/metrics/families_network.hpp"
#include "common/metrics/families_os.hpp"
#include "common/metrics/families_pmu.hpp"
#include "common/metrics/families_rapl.hpp"
#include "common/metrics/families_textfile.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace binnacle::metrics {
namespace {

/// All tables in one array, sorted by name, at compile time.
constexpr auto sorted_families = [] {
  using namespace tables;
  constexpr std::size_t count = std::size(agent) + std::size(aggregator) + std::size(bmc) +
                                std::size(network) + std::size(os) + std::size(pmu) + std::size(pmu_events) +
                                std::size(pmu_pods) + std::size(rapl) + std::size(textfile);
  std::array<family, count> all{};
  auto next = all.begin();
  for (std::span<const family> part :
       {std::span<const family>(agent), std::span<const family>(aggregator), std::span<const family>(bmc),
        std::span<const family>(network), std::span<const family>(os), std::span<const family>(pmu),
        std::span<const family>(pmu_events), std::span<const family>(pmu_pods), std::span<const family>(rapl),
        std::span<const family>(textfile)}) {
    next = std::ranges::copy(part, next).out;
  }
  std::ranges::sort(all, {}, &family::name);
  return all;
}();

constexpr std::string_view node_prefix = "node_";

constexpr std::array<std::span<const alias>, 2> alias_tables{tables::old_names, tables::old_pmu_names};

constexpr std::size_t all_names = [] {
  std::size_t count = 0;
  for (const auto& table : alias_tables) {
    for (const alias& row : table) count += row.name.starts_with(node_prefix) ? 2 : 1;
  }
  return count;
}();

constexpr auto sorted_aliases = [] {
  std::array<alias, all_names> all{};
  std::size_t next = 0;
  for (const auto& table : alias_tables) {
    for (const alias& row : table) {
      all[next++] = row;
      if (!row.name.starts_with(node_prefix)) continue;
      all[next] = row;
      all[next++].name.remove_prefix(node_prefix.size());
    }
  }
  std::ranges::sort(all, {}, &alias::name);
  return all;
}();

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The digits that "<N>" and "<M>" stood for in a name.
struct captured {
  std::string_view n, m;
};

bool matches(std::string_view pattern, std::string_view name, captured& out) {
  while (!pattern.empty()) {
    if (!pattern.starts_with("<N>") && !pattern.starts_with("<M>")) {
      if (name.empty() || name.front() != pattern.front()) return false;
      pattern.remove_prefix(1);
      name.remove_prefix(1);
      continue;
    }
    const auto length = static_cast<std::size_t>(std::ranges::find_if_not(name, is_digit) - name.begin());
    if (length == 0) return false;
    (pattern[1] == 'N' ? out.n : out.m) = name.substr(0, length);
    pattern.remove_prefix(3);
    name.remove_prefix(length);
  }
  return name.empty();
}

std::string filled(std::string_view text, const captured& digits) {
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("<N>") || text.starts_with("<M>")) {
      out += text[1] == 'N' ? digits.n : digits.m;
      text.remove_prefix(3);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

/// Lower case, runs of other characters than [a-z0-9] as one "_", none at the ends.
std::string flattened(std::string_view value) {
  std::string out;
  bool gap = false;
  for (char c : value) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_digit(c) && !(c >= 'a' && c <= 'z')) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += '_';
    gap = false;
    out += c;
  }
  return out;
}

}  // namespace

std::span<const family> catalog() noexcept { return sorted_families; }

const family* find(std::string_view name) noexcept {
  const auto at = std::ranges::lower_bound(sorted_families, name, {}, &family::name);
  return at != sorted_families.end() && at->name == name ? &*at : nullptr;
}

std::span<const alias> aliases() noexcept { return sorted_aliases; }

resolved resolve(std::string_view name) {
  captured digits;
  for (const alias& a : sorted_aliases) {
    digits = {};
    if (!matches(a.name, name, digits)) continue;
    resolved r;
    r.family = a.family;
    r.label = a.label;
    r.value = filled(a.value, digits);
    r.rule = a.rule.value_or(node_rule::sole);
    r.rule_given = a.rule.has_value();
    r.scale = a.scale;
    r.offset = a.offset;
    r.window = a.window;
    r.is_alias = true;
    return r;
  }
  resolved itself;
  itself.family = name;
  if (!name.empty() && find(name) == nullptr && !name.starts_with(node_prefix))
    itself.otherwise.append(node_prefix).append(name);
  return itself;
}

label_set flat_labels(const family& f, const label_set& labels) {
  if (f.flat_labels == 0) return labels;
  const auto named = f.labels.first(std::min(f.flat_labels, f.labels.size()));
  label_set kept;
  for (const auto& l : labels) {
    if (std::ranges::count(named, l.first) > 0) kept.push_back(l);
  }
  return kept;
}

std::string flat_name(std::string_view family, const label_set& labels) {
  std::string out(family);
  if (labels.empty()) return out;
  for (const auto& [name, value] : labels) {
    const std::string part = flattened(value);
    if (!part.empty()) out.append(1, '_').append(part);
  }
  return out.size() == family.size() ? std::string() : out;
}

}  // namespace binnacle::metrics
