#include "aggregator/policy/cost/cost.hpp"

#include "aggregator/policy/power_columns.hpp"
#include "aggregator/policy/strategies.hpp"
#include "aggregator/store/window.hpp"
#include "common/metrics/alias_table.hpp"
#include "common/metrics/watch.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>

namespace binnacle::policy {
namespace {

// Measured, and rounded up: tests/aggregator/core/cost_test.cpp compares them with what the core takes.
constexpr std::uint64_t column_bytes = 192;  // a sample, its spread, its deadline, an input's cell
// The column's plan (store::plan). Nodes of one shape share it, but each node may have a shape of its own:
// one pod among its series is enough. Shapes come and go with pods, so the price counts as many as there are
// nodes. A plan that reads several series takes 16 to 32 bytes more for each, far less than the series
// itself. A name that no node has is one plan (store/column_set.cpp).
constexpr std::uint64_t plan_bytes = 320;
constexpr std::uint64_t rule_bytes = 32;       // rule_state
constexpr std::uint64_t strategy_bytes = 128;  // a node's state, its verdict, its slot, a deadline
constexpr std::uint64_t label_bytes = 400;     // a wish and its texts, on both loops
// What is learned of a node's power, its model and the one before, its chords up to the policy's maxLoad.
constexpr std::uint64_t power_bytes = 2'500;

struct reading {
  duration length{};  // of the window; zero: none
  store::statistic stat = store::statistic::avg;
  std::chrono::milliseconds period{};
  std::uint64_t a_second = 1;
};

/// How the store reads the column: window, statistic and period, by the same rules as store::column_set.
reading reading_of(const store::column_spec& spec, const metrics::alias_table& names) {
  const metrics::resolved meant = names.resolve(spec.metric);
  reading out;
  const bool own_window = spec.window > duration::zero();
  out.length = own_window ? spec.window : meant.window;
  out.stat = own_window ? spec.stat : store::statistic::avg;
  out.period = metrics::watched_period(meant.family);
  out.a_second = std::max<std::uint64_t>(1, 1000 / static_cast<std::uint64_t>(out.period.count()));
  return out;
}

cost column_cost(const store::column_spec& spec, const metrics::alias_table& names) {
  const reading how = reading_of(spec, names);
  cost out{.columns = 1,
           .label_keys = 0,
           .rules = 0,
           .node_bytes = column_bytes + plan_bytes,
           .node_evaluations = how.a_second};
  if (how.length <= duration::zero()) return out;
  const store::window_cost window = store::cost_of_window(how.stat, how.length, how.period);
  out.node_bytes += window.bytes;
  out.node_evaluations += window.points_looked_at * how.a_second;
  return out;
}

std::uint64_t label_keys_of(const strategy& s) {
  switch (description_of(s.kind).labels) {
    case label_form::none: return 0;
    case label_form::policy_name: return 1;
    case label_form::of_rules: break;
  }
  std::set<std::string_view> keys;
  for (const rule& r : s.rules) {
    for (const auto& [key, value] : r.labels) keys.insert(key);
  }
  return keys.size();
}

}  // namespace

cost& cost::operator+=(const cost& other) noexcept {
  columns += other.columns;
  label_keys += other.label_keys;
  rules += other.rules;
  node_bytes += other.node_bytes;
  node_evaluations += other.node_evaluations;
  return *this;
}

cost& cost::operator-=(const cost& other) noexcept {
  columns -= other.columns;
  label_keys -= other.label_keys;
  rules -= other.rules;
  node_bytes -= other.node_bytes;
  node_evaluations -= other.node_evaluations;
  return *this;
}

cost priced::total() const noexcept {
  cost out = own;
  for (const auto& [spec, one] : columns) out += one;
  return out;
}

priced price(const policy& p, const metrics::alias_table& names) {
  priced out;
  const auto pay = [&](const store::column_spec& spec) {
    const auto [at, fresh] = out.columns.try_emplace(spec);
    if (fresh) at->second = column_cost(spec, names);
  };
  for (const strategy& s : p.strategies) {
    const strategy_description& kind = description_of(s.kind);
    if (kind.predicts_watts()) {
      // core's power_learning reads these, once for all policies.
      const power_columns read;
      pay(read.watts);
      pay(read.load);
      out.own.node_bytes += power_bytes;
    }
    if (s.rules.empty()) continue;
    const std::span<const rule> rules(s.rules.data(), kind.first_rule_only ? 1 : s.rules.size());
    std::set<store::column_spec> read;
    for (const rule& r : rules) read.insert(r.column());
    for (const store::column_spec& spec : read) {
      pay(spec);
      // A value that comes alone makes the engine compare all rules of the strategy.
      if (kind.judged_by_engine())
        out.own.node_evaluations += reading_of(spec, names).a_second * rules.size();
    }
    const std::uint64_t keys = label_keys_of(s);
    out.own.label_keys += keys;
    if (kind.judged_by_engine()) out.own.rules += rules.size();
    out.own.node_bytes += strategy_bytes + rules.size() * rule_bytes + keys * label_bytes;
  }
  return out;
}

void bill::add(const priced& p) {
  total_ += p.own;
  for (const auto& [spec, one] : p.columns) {
    if (++users_[spec] == 1) total_ += one;
  }
}

cost bill::with(const priced& p) const noexcept {
  cost out = total_;
  out += p.own;
  for (const auto& [spec, one] : p.columns) {
    if (!users_.contains(spec)) out += one;
  }
  return out;
}

void bill::remove(const priced& p) {
  total_ -= p.own;
  for (const auto& [spec, one] : p.columns) {
    const auto at = users_.find(spec);
    if (--at->second > 0) continue;
    users_.erase(at);
    total_ -= one;
  }
}

}  // namespace binnacle::policy
