#pragma once

#include "aggregator/policy/text/yaml.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

/// Short ways to write TASPolicy texts, and to read them.
namespace binnacle::policy::test {

inline parsed_text read(std::string_view text) { return parse_policies("p.yaml", text); }

inline std::string all(const std::vector<problem>& problems) {
  std::string out;
  for (const problem& p : problems) out += p.text() + "\n";
  return out;
}

/// A policy with one rule, or with none if `rule` is empty. `strategy` and `rule` are further lines of the
/// strategy and of the rule; `spec` is further lines of the spec.
struct recipe {
  std::string kind = "dontschedule";
  std::string rule = "metricname: m, operator: GreaterThan, target: 1";
  std::string strategy;
  std::string spec;
  std::string name = "p";

  std::string text() const {
    return fmt::format(
        "apiVersion: telemetry.intel.com/v1alpha1\n"
        "kind: TASPolicy\n"
        "metadata: {{name: {}}}\n"
        "spec:\n"
        "  strategies:\n"
        "    {}:\n"
        "      rules:{}\n{}{}",
        name, kind, rule.empty() ? " []" : "\n        - {" + rule + "}",
        strategy.empty() ? "" : "      " + strategy + "\n", spec.empty() ? "" : "  " + spec + "\n");
  }
};

inline const rule& only_rule(const parsed_text& t) {
  REQUIRE_MESSAGE(t.problems.empty(), all(t.problems));
  REQUIRE(t.policies.size() == 1);
  REQUIRE(t.policies[0].value.strategies.size() == 1);
  REQUIRE(t.policies[0].value.strategies[0].rules.size() == 1);
  return t.policies[0].value.strategies[0].rules[0];
}

}  // namespace binnacle::policy::test
