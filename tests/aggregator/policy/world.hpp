#pragma once

#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/policy/text/yaml.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::policy::test {

using namespace std::chrono_literals;

inline constexpr auto dont = strategy_kind::dontschedule;
inline constexpr auto evict = strategy_kind::deschedule;

/// The part of the store that the engine uses.
class fake_columns : public column_source {
 public:
  struct column {
    store::column_id id{};
    std::shared_ptr<store::shared_column> values;
    bool watched = false;
    duration stale_after{};  ///< as announced: the longest life of its samples so far, or what a test says
  };

  watched watch(const store::column_spec& spec, instant) override {
    auto& c = at(spec);
    CHECK_FALSE_MESSAGE(c.watched, "watched twice: " << spec.metric);
    c.watched = true;
    ++watches;
    return {c.id, c.values};
  }
  void release(store::column_id id) override {
    for (auto& [spec, c] : columns) {
      if (c.id != id) continue;
      CHECK_MESSAGE(c.watched, "released twice: " << index(id));
      c.watched = false;
      ++releases;
    }
  }
  duration stale_after(store::column_id id) const override {
    for (const auto& [spec, c] : columns) {
      if (c.id == id) return c.stale_after;
    }
    return {};
  }
  family_names announced() const override {
    ++listings;
    return families;
  }
  column& at(const store::column_spec& spec) {
    auto& c = columns[spec];
    if (!c.values) c = {store::column_id{next++}, std::make_shared<store::shared_column>(spec)};
    return c;
  }

  std::map<store::column_spec, column> columns;
  std::uint32_t next = 0;
  int watches = 0, releases = 0;
  mutable int listings = 0;  // of families
  family_names families;
};

/// What the engine reported, in order.
class recorder : public sink {
 public:
  void happened(const event& e) override { events.push_back(e); }
  void changed(const condition& c) override { conditions.push_back(c); }
  void relabel(store::node_id n) override { relabelled.push_back(n); }
  void published(std::shared_ptr<const policy_table> t) override { table = std::move(t); }

  std::vector<event> events;
  std::vector<condition> conditions;
  std::vector<store::node_id> relabelled;
  std::shared_ptr<const policy_table> table;
};

/// An engine with nodes "a", "b"… (ids 0, 1…) and a time that only the test moves. Deadlines are met when
/// they are due, as by the aggregator's timer.
class world {
 public:
  explicit world(engine_options options = {}) : e(columns, out, std::move(options)) {}

  /// Puts the policies of a manifest in force. The manifest must have no mistake.
  void apply(const std::string& manifest) {
    const parsed_text t = parse_policies("test.yaml", manifest);
    std::vector<policy> all;
    for (const parsed_policy& p : t.policies) {
      REQUIRE(p.usable);
      REQUIRE(p.refused.empty());
      all.push_back(p.value);
    }
    e.set_policies(all, now);
  }

  /// Moves the time to `t` after the test's start. Everything that is due until then happens.
  void at(duration t) {
    const instant end = start + t;
    REQUIRE(end >= now);
    while (const auto next = e.next_deadline()) {
      if (*next > end) break;
      now = std::max(now, *next);
      e.tick(now);
    }
    now = end;
  }
  duration time() const { return now - start; }

  static store::node_id id(char node) { return store::node_id{static_cast<std::uint32_t>(node - 'a')}; }

  /// Sends a value that is read now and valid for `life`. Every column of the metric gets it, whatever its
  /// window.
  void value(char node, const std::string& metric, double v, duration life = 10s) {
    sample(node, metric, {from_double(v, -3).value(), now, now + life, absence::none});
  }
  void absent(char node, const std::string& metric, absence why = absence::missing) {
    sample(node, metric, {{}, now, now, why});
  }
  void sample(char node, const std::string& metric, const store::sample& s) {
    columns.at({metric});
    for (auto& [spec, c] : columns.columns) {
      if (spec.metric != metric) continue;
      if (s.reason == absence::none) c.stale_after = std::max(c.stale_after, s.expires_at - s.read_at);
      c.values->store(id(node), s);
      e.update(c.id, id(node), s, now);
    }
    e.tick(now);
  }

  verdict of(char node, strategy_kind kind = strategy_kind::dontschedule,
             const std::string& policy = "p") const {
    const auto found = e.table()->find(policy_key{"default", policy});
    REQUIRE(found != e.table()->end());
    const published_strategy* s = found->second->find(kind);
    REQUIRE(s != nullptr);
    return s->verdicts->load(id(node));
  }
  state what(char node, strategy_kind kind = strategy_kind::dontschedule,
             const std::string& policy = "p") const {
    return of(node, kind, policy).what;
  }

  /// The label wishes as "p=violating -q ~r !s": set p, remove q, keep r as it is, s belongs to somebody
  /// else. Long prefixes are cut off.
  std::string labels(char node) const { return text(e.labels(id(node))); }
  std::string would_be(char node) const { return text(e.would_be_labels(id(node))); }
  static std::string text(const label_wishes& wishes) {
    std::string out;
    for (const auto& [key, wish] : wishes) {
      const std::string prefix = "telemetry.aware.scheduling.";
      const std::string name = key.starts_with(prefix) ? key.substr(prefix.size()) : key;
      if (!out.empty()) out += " ";
      out += wish.what == label_wish::action::set      ? name + "=" + wish.value
             : wish.what == label_wish::action::remove ? "-" + name
             : wish.what == label_wish::action::keep   ? "~" + name
                                                       : "!" + name;
    }
    return out;
  }

  bool holds(condition_kind kind) const {
    for (const condition& c : e.conditions()) {
      if (c.what == kind) return true;
    }
    return false;
  }
  std::string why(condition_kind kind) const {
    for (const condition& c : e.conditions()) {
      if (c.what == kind) return c.message;
    }
    return {};
  }

  fake_columns columns;
  recorder out;
  engine e;
  const instant start{1h};
  instant now = start;
};

/// A manifest of policy "p" with the given strategies, each {kind, flow text}.
inline std::string manifest(const std::vector<std::pair<std::string, std::string>>& strategies,
                            const std::string& name = "p", const std::string& name_space = "default",
                            const std::string& mode = "Enforce") {
  std::string out = fmt::format(
      "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {{name: {}, namespace: "
      "{}}}\nspec:\n  mode: {}\n  strategies:\n",
      name, name_space, mode);
  for (const auto& [kind, body] : strategies) out += fmt::format("    {}: {{{}}}\n", kind, body);
  return out;
}

// Rules that many tests share, and one strategy.
inline const std::string hot = "{metricname: temp, operator: GreaterThan, target: 80}";
inline const std::string low = "{metricname: ram, operator: LessThan, target: 200}";

inline std::string rules(const std::string& more, const std::string& strategy = "") {
  return strategy + (strategy.empty() ? "" : ", ") + "rules: [" + more + "]";
}
/// A manifest of policy "p" with one strategy.
inline std::string one(const std::string& kind, const std::string& rule, const std::string& strategy = "") {
  return manifest({{kind, rules(rule, strategy)}});
}

/// The labels of a node that violates policy p.
inline const std::map<std::string, std::string> violating{{"p", "violating"}};

}  // namespace binnacle::policy::test

namespace binnacle::policy {

inline std::ostream& operator<<(std::ostream& out, state s) { return out << to_string(s); }

}  // namespace binnacle::policy
