#include "aggregator/policy/text/lint.hpp"

#include "aggregator/policy/strategies.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "common/metrics/family_of.hpp"
#include "common/metrics/plausible.hpp"
#include "common/text/plain.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace binnacle::policy {
namespace {

/// What we know of a metric's name.
struct known_metric {
  const metrics::family* family = nullptr;
  metrics::resolved name;
};

std::optional<known_metric> look_up(const std::string& metric) {
  known_metric out{metrics::family_of(metric), metrics::resolve(metric)};
  return out.family == nullptr ? std::nullopt : std::optional(out);
}

/// Whether `a` is true of some values of which `b` is not. Both look in the same direction.
bool begins_sooner(const rule& a, const rule& b) {
  const bool at_the_same_target = a.target == b.target && includes_target(a.op) && !includes_target(b.op);
  switch (towards(a.op)) {
    case direction::larger: return a.target < b.target || at_the_same_target;
    case direction::smaller: return a.target > b.target || at_the_same_target;
    case direction::at_target: break;
  }
  return false;
}

class linter {
 public:
  linter(const parsed_policy& p, const std::string& file, std::vector<problem>& out)
      : p_(p), file_(file), out_(out) {}

  void run() {
    for (const strategy& s : p_.value.strategies) {
      for (std::size_t i = 0; i < s.rules.size(); ++i) check_rule(s, i);
      check_together(s);
    }
    check_order();
  }

 private:
  void say(severity level, strategy_kind kind, std::size_t rule, std::string message) {
    const auto lines = p_.rule_lines.find(kind);
    const int line =
        lines != p_.rule_lines.end() && rule < lines->second.size() ? lines->second[rule] : p_.line;
    out_.push_back({file_, line, fmt::format("spec.strategies.{}.rules[{}]", to_string(kind), rule),
                    std::move(message), level});
  }

  void check_rule(const strategy& s, std::size_t i) {
    const rule& r = s.rules[i];
    if (const auto metric = look_up(r.metric)) {
      const bool instantaneous = r.window == duration::zero() && metric->name.window == duration::zero();
      if (metric->family->unit == "watts" && instantaneous && r.hold == duration::zero()) {
        say(severity::hint, s.kind, i, "the watts of one second are noise: add window: 10s");
      }
      if (description_of(s.kind).compares) check_target(s.kind, i, r, *metric);
    } else {
      const std::string_view near = metrics::nearest_name(r.metric);
      say(severity::hint, s.kind, i,
          fmt::format("unknown metric {}{}; fine if a textfile or another exporter provides it",
                      in_quotes(r.metric), near.empty() ? "" : fmt::format(": nearest is {}", near)));
    }
    // Agents read and send once a second, unless told otherwise.
    if (r.stale_after && *r.stale_after < std::chrono::seconds(2))
      say(severity::warning, s.kind, i,
          fmt::format(
              "staleAfter: {} is less than two of the agent's periods of 1s: the value is missing again "
              "before the next one comes",
              duration_text(*r.stale_after)));
    const bool guarded = r.clear || r.hold > duration::zero() || clearing_key(r.op).empty();
    const std::string_view flaps = description_of(s.kind).flaps;
    if (!guarded && !flaps.empty()) {
      say(severity::hint, s.kind, i,
          fmt::format("a value near the target makes the {} flap: add {} a little {} it, or for: 30s", flaps,
                      clearing_key(r.op), clearing_side(r.op)));
    }
  }

  void check_target(strategy_kind kind, std::size_t i, const rule& r, const known_metric& metric) {
    if (r.stat == store::statistic::stddev || r.stat == store::statistic::trend) return;
    const metrics::plausible_range can_be = metrics::plausible(metric.name);
    const double target = static_cast<double>(r.target.nano) / 1e9;
    if (target >= can_be.least && target <= can_be.most) return;
    // 1 is the highest ratio; a rule that waits for more can never hold.
    std::string remedy = "look at the unit";
    if (metric.family->unit == "ratio" && metric.name.scale == 1 && target > 1 && target <= 100) {
      remedy = fmt::format("write targetQuantity: \"{}\" if {} % is meant", target / 100, target);
    }
    say(severity::warning, kind, i,
        fmt::format("the target {} is out of range: {}; {}", plain(r.target),
                    metrics::plausible_text(*metric.family), remedy));
  }

  /// Hints about two rules on one metric that exclude each other, or of which one is always true.
  void check_together(const strategy& s) {
    const strategy_description& is = description_of(s.kind);
    // Rules that give labels of their own need not agree.
    if (!is.compares || is.labels == label_form::of_rules) return;
    for (std::size_t i = 0; i < s.rules.size(); ++i) {
      for (std::size_t j = 0; j < s.rules.size(); ++j) {
        const rule& above = s.rules[i];
        const rule& below = s.rules[j];
        if (towards(above.op) != direction::larger || towards(below.op) != direction::smaller ||
            above.column() != below.column())
          continue;
        const bool same = above.target == below.target;
        const bool both_at_target = includes_target(above.op) && includes_target(below.op);
        const bool one_at_target = includes_target(above.op) || includes_target(below.op);
        if (s.op == logic::all_of && (above.target > below.target || (same && !both_at_target))) {
          say(severity::warning, s.kind, std::max(i, j),
              fmt::format("allOf can never hold: {} and {} exclude each other", above.text(), below.text()));
        }
        if (s.op == logic::any_of && (above.target < below.target || (same && one_at_target))) {
          say(severity::warning, s.kind, std::max(i, j),
              fmt::format("anyOf always holds: every value meets {} or {}", above.text(), below.text()));
        }
      }
    }
  }

  /// Evicting where placing is still allowed sends pods round in circles.
  void check_order() {
    for (const strategy& evicting : p_.value.strategies) {
      if (!description_of(evicting.kind).evicts) continue;
      for (const strategy& refusing : p_.value.strategies) {
        if (description_of(refusing.kind).yields == yield::refusals) check_order(evicting, refusing);
      }
    }
  }

  void check_order(const strategy& evicting, const strategy& refusing) {
    for (std::size_t i = 0; i < evicting.rules.size(); ++i) {
      for (const rule& r : refusing.rules) {
        const rule& e = evicting.rules[i];
        if (e.metric != r.metric || towards(e.op) != towards(r.op) || !begins_sooner(e, r)) continue;
        say(severity::warning, evicting.kind, i,
            fmt::format("pods are evicted at {} and still placed until {}: they go round in circles; let "
                        "{} begin first",
                        plain(e.target), plain(r.target), to_string(refusing.kind)));
      }
    }
  }

  const parsed_policy& p_;
  const std::string& file_;
  std::vector<problem>& out_;
};

}  // namespace

void add_hints(const parsed_policy& p, const std::string& file, std::vector<problem>& out) {
  linter(p, file, out).run();
}

std::vector<problem> lint(const std::string& file, std::string_view text) {
  policy_set set;
  set.put(file, text);
  std::vector<problem> out = set.problems();
  for (const parsed_policy& p : parse_policies(file, text).policies) {
    if (p.usable) add_hints(p, file, out);
  }
  std::ranges::stable_sort(out, {}, &problem::line);
  return out;
}

}  // namespace binnacle::policy
