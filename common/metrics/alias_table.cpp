#include "common/metrics/alias_table.hpp"

#include "common/metrics/aliases.hpp"
#include "common/metrics/aliases_pmu.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>

namespace binnacle::metrics {
namespace {

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

/// The digits in a name at the places of "<N>" and "<M>".
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

}  // namespace

std::span<const alias> aliases() noexcept { return sorted_aliases; }

resolved resolve(std::string_view name) { return alias_table::built_in().resolve(name); }

alias_table::alias_table() : rows_(sorted_aliases.begin(), sorted_aliases.end()) {}

const alias_table& alias_table::built_in() {
  static const alias_table table;
  return table;
}

const names_in_force& names_in_force::built_in() {
  static const names_in_force names(std::make_shared<const alias_table>());
  return names;
}

std::string_view alias_table::keep(std::string_view text) { return texts_.emplace_back(text); }

void alias_table::add(const alias& row) {
  alias own = row;
  own.name = keep(row.name);
  own.family = keep(row.family);
  own.label = keep(row.label);
  own.value = keep(row.value);
  own.note = keep(row.note);
  rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(own_++), own);
}

resolved alias_table::resolve(std::string_view name) const {
  captured digits;
  for (const alias& a : rows_) {
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

}  // namespace binnacle::metrics
