#include "cli/views/nodes.hpp"

#include "common/text/first_few.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace binnacle::cli {
namespace {

constexpr std::size_t most_reasons = 3;  // in the text `why`

bool is_asked_for(std::string_view name, const std::vector<std::string>& wanted) {
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// ", now 71.4": the value of the metric that a rule compares; empty if a column shows it already.
std::string value_of_rule(const json::value& node, const std::string& rule,
                          const std::vector<shown_metric>& metrics) {
  const std::string metric = rule.substr(0, rule.find(' '));
  if (std::ranges::find(metrics, metric, &shown_metric::name) != metrics.end()) return {};
  const json::value* v = value_of(node, metric);
  const auto now = v == nullptr ? std::nullopt : number(*v, "value");
  return now ? ", now " + plain(*now) : std::string();
}

}  // namespace

std::vector<shown_metric> choose_metrics(const json::value& nodes, const std::vector<std::string>& wanted) {
  std::vector<shown_metric> chosen;
  const auto first = [&](std::string_view unit, std::string_view part, const char* title) {
    for (const auto& m : list(nodes, "metrics")) {
      const std::string name = text(m, "name");
      if (text(m, "unit") != unit || name.find(part) == std::string::npos || is_asked_for(name, wanted))
        continue;
      chosen.push_back({name, std::string(unit), title});
      return;
    }
  };
  first("watts", "power_watts", "POWER");
  first("celsius", "temperature", "TEMP");
  first("ratio", "cpu_utilization", "CPU");
  for (const std::string& name : wanted) {
    std::string unit;
    for (const auto& m : list(nodes, "metrics")) {
      if (text(m, "name") == name) unit = text(m, "unit");
    }
    chosen.push_back({name, unit, name});
  }
  return chosen;
}

const json::value* value_of(const json::value& node, const std::string& metric) {
  const json::value* values = member(node, "values");
  return values == nullptr ? nullptr : member(*values, metric);
}

std::vector<std::string> policies_of(const json::value& nodes) {
  std::set<std::string> names;
  for (const auto& n : list(nodes, "nodes")) {
    for (const auto& v : list(n, "verdicts")) names.insert(text(v, "policy"));
  }
  return {names.begin(), names.end()};
}

std::string verdicts_left_out_words(std::int64_t strategies) {
  const std::string_view noun = strategies == 1 ? "strategy" : "strategies";
  return fmt::format("no room for the verdicts of {} {}", strategies, noun);
}

std::string short_name(const std::string& policy) {
  return policy.starts_with("default/") ? policy.substr(8) : policy;
}

std::string names_of(const json::value& group) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const auto& n : list(group, "nodes")) {
    if (n.is_string()) names.push_back(text(n));
  }
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(integer(group, "count"), 0));
  return first_few(names, most, count);
}

int badness(std::string_view state) {
  static constexpr std::string_view order[] = {"violating", "missing", "held", "frozen"};
  const auto at = std::find(std::begin(order), std::end(order), state);
  return at == std::end(order) ? 0 : static_cast<int>(std::end(order) - at);
}

node_verdicts verdicts_of(const json::value& node, const std::vector<std::string>& policies,
                          const std::vector<shown_metric>& metrics) {
  node_verdicts all;
  std::size_t reasons = 0;
  std::unordered_map<std::string, std::vector<const json::value*>> by_policy;
  for (const auto& v : list(node, "verdicts")) by_policy[text(v, "policy")].push_back(&v);
  for (const std::string& policy : policies) {
    standing one;
    for (const json::value* const told : by_policy[policy]) {
      const json::value& v = *told;
      one.dry = text(v, "mode") == "DryRun";
      const std::string state = text(v, "state");
      if (badness(state) > badness(one.state)) one.state = state;
      const json::value thin = object(v, "uncovered");
      const std::string rule = text(thin, "rule").empty() ? text(v, "rule") : text(thin, "rule");
      const bool covered = text(thin, "rule").empty();
      if ((badness(state) > 0 || !covered) && ++reasons <= most_reasons) {
        all.why += fmt::format(
            "{}{}{}: {}{}{}", all.why.empty() ? "" : "; ",
            policies.size() == 1 ? "" : short_name(policy) + " ", text(v, "strategy"), rule,
            value_of_rule(node, rule, metrics),
            covered ? "" : fmt::format(", values for {} % of the window", integer(thin, "windowCovered")));
      }
    }
    all.of.push_back(std::move(one));
  }
  if (reasons > most_reasons) all.why += fmt::format("; and {} more", reasons - most_reasons);
  return all;
}

std::vector<std::string> lacks_of(const json::value& node) {
  std::vector<std::string> lacks;
  if (!flag(node, "connected")) return lacks;
  if (auto odd = text(node, "warning"); !odd.empty()) lacks.push_back(std::move(odd));
  for (const auto& s : list(node, "sources")) {
    const std::string why = text(s, "message");
    if (!flag(s, "ok") || !why.empty())
      lacks.push_back(fmt::format("{} {}: {}", text(node, "name"), text(s, "source"), why));
  }
  return lacks;
}

}  // namespace binnacle::cli
