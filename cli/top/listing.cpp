#include "cli/top/listing.hpp"

#include "cli/terminal_text.hpp"
#include "cli/top/filter.hpp"
#include "cli/top/group.hpp"
#include "cli/views/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::cli::top {
namespace {

constexpr std::size_t least_name = 8, most_name = 40;
constexpr std::size_t value_width = 10;  // "1234.5 GiB"
constexpr std::size_t most_title = 18;   // names of metrics and policies are long
constexpr std::size_t state_width = 11;  // "(violating)"
constexpr std::size_t count_width = 13;  // "123 violating"
constexpr std::size_t age_width = 6;     // "4m10s"
constexpr std::size_t trend_width = 12;
constexpr std::size_t curve_width = 19;  // "node 100 % ±12.3 %", in ASCII "+-"
constexpr std::size_t least_why = 3;

/// What a row is sorted by. Rows without a value come last in either direction.
struct rank {
  bool absent = false;
  double number = 0;
  std::string_view text;
};

/// The change from the oldest number in the trail to the newest.
std::optional<double> change(const trail& t) {
  std::optional<double> first, last;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const float v = t.at(i);
    if (std::isnan(v)) continue;
    if (!first) first = v;
    last = v;
  }
  return first ? std::optional(*last - *first) : std::nullopt;
}

rank rank_of(const node& n, const column& by, std::size_t trend) {
  const auto by_number = [](std::optional<double> v) {
    return rank{!v || std::isnan(*v), v.value_or(0), {}};
  };
  switch (by.kind) {
    case column_kind::name: return {false, 0, n.name};
    case column_kind::metric: return by_number(n.values[by.index].value);
    case column_kind::trend: return by_number(n.trails.empty() ? std::nullopt : change(n.trails[trend]));
    case column_kind::age: {
      std::int64_t oldest = -1;
      for (const reading& r : n.values) oldest = std::max(oldest, r.age_ms);
      return {oldest < 0, static_cast<double>(oldest), {}};
    }
    case column_kind::curve: return {n.model.empty(), static_cast<double>(n.covered), n.model};
    case column_kind::policy:
      return {
          false, badness(n.standings[by.index].state) * 1e6 + static_cast<double>(n.concerned[by.index]), {}};
    case column_kind::why: return {n.why.empty(), 0, n.why};
  }
  return {};
}

/// Whether the column sorts upwards: text does, from A on. Numbers and states begin with the largest.
bool begins_with_least(const column& c) { return c.kind == column_kind::name || c.kind == column_kind::why; }

}  // namespace

std::string shown_name(const node& n) {
  if (n.members > 0) return fmt::format("{} ({})", n.name, n.members);
  return n.name + (n.connected == 0 ? " (down)" : n.lacking ? " (in part)" : "");
}

void listing::make_columns(const fleet& of, const choices& how, const std::vector<std::string>& compared) {
  every_.clear();
  columns_.clear();
  std::size_t name_width = least_name;
  for (const node* n : rows_) name_width = std::max(name_width, columns_of(shown_name(*n)));
  const bool groups = !how.grouping.empty();
  const auto add = [&](column c, bool usual) {
    const auto chosen = how.shown.find(c.id);
    if (chosen == how.shown.end() ? usual : chosen->second) columns_.push_back(c);
    every_.push_back(std::move(c));
  };

  columns_.push_back({column_kind::name, "node", groups ? "GROUP" : "NODE", 0, "",
                      std::min(name_width, most_name), align::left});
  for (std::size_t i = 0; i < of.metrics().size(); ++i) {
    const shown_metric& m = of.metrics()[i];
    const bool of_policy = std::ranges::find(compared, m.name) != compared.end();
    const std::string how_many = !groups ? "" : adds_up(m.unit) ? " sum" : " mean";
    const std::string title = shortened(m.title, most_title) + how_many;
    add({column_kind::metric, "metric:" + m.name, title, i, m.unit, std::max(value_width, columns_of(title)),
         align::right},
        i < of.usual() || of_policy);
  }
  add({column_kind::age, "age", "AGE", 0, "", age_width, align::right}, true);
  add({column_kind::trend, "trend", "TREND", 0, "", trend_width, align::left}, true);
  if (of.any_model() && !groups)
    add({column_kind::curve, "curve", "CURVE", 0, "", curve_width, align::left}, true);
  for (std::size_t i = 0; i < of.policies().size(); ++i) {
    const std::string& name = of.policies()[i];
    const std::string title = shortened(short_name(name), most_title);
    add({column_kind::policy, "policy:" + name, title, i, "",
         std::max(groups ? count_width : state_width, columns_of(title)), align::left},
        how.policy.empty() || how.policy == name);
  }
  if (!groups) add({column_kind::why, "why", "WHY", 0, "", least_why, align::left}, true);
}

void listing::order(const fleet& of, const choices& how) {
  const auto is = [](std::string_view id) { return [id](const column& c) { return c.id == id; }; };
  auto at = std::ranges::find_if(columns_, is(how.sort));
  if (at == columns_.end())
    at = std::ranges::find_if(columns_, [](const column& c) { return c.kind == column_kind::metric; });
  if (at == columns_.end()) at = columns_.begin();
  sorted_ = static_cast<std::size_t>(at - columns_.begin());
  trend_ = at->kind == column_kind::metric ? at->index : 0;
  if (of.metrics().empty() && at->kind == column_kind::trend) return;

  std::vector<std::pair<rank, const node*>> ranked;
  ranked.reserve(rows_.size());
  for (const node* n : rows_) ranked.emplace_back(rank_of(*n, *at, trend_), n);
  const bool least_first = begins_with_least(*at) != how.reversed;
  std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
    if (a.first.absent != b.first.absent) return b.first.absent;
    const auto& [first, second] = least_first ? std::pair(a.first, b.first) : std::pair(b.first, a.first);
    return first.number != second.number ? first.number < second.number : first.text < second.text;
  });
  std::ranges::transform(ranked, rows_.begin(), [](const auto& r) { return r.second; });
}

void listing::make(const fleet& of, const choices& how, const std::vector<std::string>& compared) {
  rows_.clear();
  const filter by(how.filter);
  for (const auto& [name, n] : of.nodes()) {
    if (how.within && group_of(n, how.within->first) != how.within->second) continue;
    if (by.takes(n.words)) rows_.push_back(&n);
  }
  nodes_ = rows_.size();
  const auto violates = [](const standing& s) { return s.state == "violating" && !s.dry; };
  violating_ = static_cast<std::size_t>(std::ranges::count_if(
      rows_, [&](const node* n) { return std::ranges::any_of(n->standings, violates); }));
  total_ = together("", rows_, of.metrics());
  groups_.clear();
  if (!how.grouping.empty()) {
    groups_ = grouped(rows_, how.grouping, of.metrics());
    rows_.clear();
    for (const node& g : groups_) rows_.push_back(&g);
  }
  make_columns(of, how, compared);
  order(of, how);
}

}  // namespace binnacle::cli::top
