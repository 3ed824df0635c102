#include "aggregator/policy/text/yaml.hpp"
#include "tests/aggregator/policy/text/recipe.hpp"
#include "tests/aggregator/policy/text_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace yaml_mistakes_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/text/yaml/mistakes") {
  TEST_CASE("a mistake is named with line, field and remedy, and costs the strategy") {
    struct row {
      recipe text;
      int line;
      const char* field;
      const char* says;
    };
    const std::string rule = "spec.strategies.dontschedule.rules[0]";
    const std::vector<row> rows{
        {{.rule = "metricname: m, operator: GreaterThan, target: 70.5"},
         8,
         ".target",
         "use targetQuantity: \"70.5\""},
        {{.rule = "metricname: m, operator: GreaterThan, target: 1k"},
         8,
         ".target",
         "use targetQuantity: \"1k\""},
        {{.rule = "metricname: m, operator: GreaterThan, target: \"70\""}, 8, ".target", "without quotes"},
        {{.rule = "metricname: m, operator: GreaterThan, target: \"abc\""},
         8,
         ".target",
         "is not an integer"},
        {{.rule = "metricname: m, operator: GreaterThan, target: \"1Ki\""},
         8,
         ".target",
         "use targetQuantity: \"1Ki\""},
        {{.rule = "metricname: m, operator: GreaterThan, target: high"},
         8,
         ".target",
         "\"high\" is not an integer"},
        {{.rule = "metricname: m, operator: GreaterThan, target: 030"},
         8,
         ".target",
         "without leading zeros"},
        {{.rule = "metricname: m, operator: GreaterThan, target: 0x1e"}, 8, ".target", "in decimal"},
        {{.rule = "metricname: m, operator: GreaterThan, target: 9223372036854775808"},
         8,
         ".target",
         "target is a 64-bit integer in TASPolicy: use targetQuantity"},
        {{.rule = "metricname: m, operator: GreaterThan, target: 1e30"}, 8, ".target", "not an integer"},
        {{.rule = "metricname: m, operator: GreaterThan, target: [1]"}, 8, ".target", "not a list"},
        {{.rule = "metricname: m, operator: GreaterThan, target: {a: 1}"}, 8, ".target", "not a mapping"},
        {{.rule = "metricname: m, operator: GreaterThan, target: 1, targetQuantity: 1"},
         8,
         ".targetQuantity",
         "remove one"},
        {{.rule = "metricname: m, operator: GreaterThan, targetQuantity: lots"},
         8,
         ".targetQuantity",
         "lots"},
        {{.rule = "metricname: m, operator: greaterthan, target: 1"},
         8,
         ".operator",
         "did you mean GreaterThan?"},
        {{.rule = "metricname: m, operator: '>', target: 1"},
         8,
         ".operator",
         "one of LessThan, GreaterThan, Equals, LessOrEqual or GreaterOrEqual"},
        {{.rule = "metricname: m, operator: GreaterThanOrEqual, target: 1"},
         8,
         ".operator",
         "did you mean GreaterOrEqual?"},
        {{.rule = "metricname: m, operator: Resembles, target: 1"}, 8, ".operator", "is unknown"},
        {{.rule = "metricname: m, target: 1"}, 8, "", "operator is missing"},
        {{.rule = "operator: Equals, target: 1"}, 8, "", "metricname is missing"},
        {{.rule = "metricname: 'a b', operator: Equals, target: 1"}, 8, ".metricname", "not a metric name"},
        {{.rule = "metricname: '', operator: Equals, target: 1"}, 8, ".metricname", "not a metric name"},
        {{.rule = "metricname: 'p{zone=\"0\"}', operator: Equals, target: 1"}, 8, ".metricname", "flat name"},
        {{.rule = "metricname: m, operator: Equals, target: 1, metricName: x"},
         8,
         ".metricName",
         "did you mean metricname?"},
        {{.rule = "metricname: m, operator: Equals, target: 1, windows: 3s"},
         8,
         ".windows",
         "did you mean window?"},
        {{.rule = "metricname: m, operator: Equals, target: 1, xyzzy: 3s"},
         8,
         ".xyzzy",
         "unknown here: remove it"},
        {{.rule = "metricname: m, operator: Equals, target: 1, target: 2"}, 8, "", "given twice"},
        {{.rule = "metricname: m, operator: GreaterThan, target: 1, clearAbove: 0"},
         8,
         ".clearAbove",
         "write clearBelow"},
        {{.rule = "metricname: m, operator: LessThan, target: 1, clearBelow: 2"},
         8,
         ".clearBelow",
         "write clearAbove"},
        {{.rule = "metricname: m, operator: LessOrEqual, target: 1, clearBelow: 2"},
         8,
         ".clearBelow",
         "does not go with LessOrEqual: write clearAbove"},
        {{.rule = "metricname: m, operator: GreaterOrEqual, target: 1, clearBelow: 2"},
         8,
         ".clearBelow",
         "above the target"},
        {{.rule = "metricname: m, operator: Equals, target: 1, clearBelow: 0"},
         8,
         ".clearBelow",
         "no meaning with Equals"},
        {{.rule = "metricname: m, operator: GreaterThan, target: 1, clearBelow: 2"},
         8,
         ".clearBelow",
         "above the target"},
        {{.rule = "metricname: m, operator: LessThan, target: 2, clearAbove: 1"},
         8,
         ".clearAbove",
         "below the target"},
        {{.rule = "metricname: m, operator: Equals, target: 1, statistic: p95"},
         8,
         ".statistic",
         "add window: 30s"},
        {{.rule = "metricname: m, operator: Equals, target: 1, window: 0, statistic: max"},
         8,
         ".statistic",
         "add window: 30s"},
        {{.rule = "metricname: m, operator: Equals, target: 1, window: 9s, statistic: p99"},
         8,
         ".statistic",
         "did you mean p95?"},
        {{.rule = "metricname: m, operator: Equals, target: 1, window: -3s"}, 8, ".window", "negative"},
        {{.rule = "metricname: m, operator: Equals, target: 1, window: 30"}, 8, ".window", "write 30s"},
        {{.rule = "metricname: m, operator: Equals, target: 1, window: soon"},
         8,
         ".window",
         "not a duration"},
        {{.rule = "metricname: m, operator: Equals, target: 1, window: 200h"}, 8, ".window", "at most 168h"},
        {{.rule = "metricname: m, operator: Equals, target: 1, staleAfter: 0"},
         8,
         ".staleAfter",
         "too short"},
        {{.strategy = "logicalOperator: AllOf"}, 9, "logicalOperator", "did you mean allOf?"},
        {{.strategy = "logicalOperator: []"}, 9, "logicalOperator", "anyOf or allOf"},
        {{.strategy = "logicalOperator: xor"}, 9, "logicalOperator", "one of anyOf or allOf"},
        {{.strategy = "onMissing: reject"}, 9, "onMissing", "did you mean Reject?"},
        {{.strategy = "maxNodes: 3"}, 9, "maxNodes", "belongs to deschedule and labeling"},
        {{.strategy = "coolDown: 3s"}, 9, "coolDown", "belongs to deschedule and labeling"},
        {{.kind = "deschedule", .strategy = "maxNodes: 0"}, 9, "maxNodes", "at least one"},
        {{.kind = "deschedule", .strategy = "maxNodes: 120%"}, 9, "maxNodes", "at most 100%"},
        {{.kind = "deschedule", .strategy = "maxNodes: some"}, 9, "maxNodes", "neither a number"},
        {{.kind = "deschedule", .strategy = "maxNodes: -1"}, 9, "maxNodes", "neither a number"},
        {{.kind = "deschedule", .strategy = "coolDown: -1s"}, 9, "coolDown", "negative"},
        {{.kind = "deschedule", .strategy = "onMissing: Reject"}, 9, "onMissing", "belongs to dontschedule"},
        {{.kind = "scheduleonmetric", .strategy = "onMissing: Reject"}, 9, "onMissing", "scores 0"},
        {{.kind = "dontschedul"}, 6, "dontschedul", "did you mean dontschedule?"},
        {{.kind = "evict"},
         6,
         "evict",
         "there are dontschedule, scheduleonmetric, deschedule, labeling and minimizepower"},
        {{.kind = "deschedule", .name = std::string(64, 'a')}, 6, "deschedule", "shorten the name"},
        {{.kind = "labeling", .name = std::string(227, 'a')}, 6, "labeling", "shorten the policy's name"},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: [noequals]"},
         8,
         "labels[0]",
         "key=value"},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: [a=b=c]"},
         8,
         "labels[0]",
         "one '='"},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: ['=b']"},
         8,
         "labels[0]",
         "not a name for a label"},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: ['a/b=c']"},
         8,
         "labels[0]",
         "not a name for a label"},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: ['a=b c']"},
         8,
         "labels[0]",
         "not a label value"},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: [a=1, a=2]"},
         8,
         "labels[1]",
         "twice"},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: [{a: b}]"},
         8,
         "labels[0]",
         "\"key=value\""},
        {{.kind = "labeling", .rule = "metricname: m, operator: Equals, labels: a=b"},
         8,
         "labels",
         "a list is expected"},
    };
    for (const row& r : rows) {
      const std::string text = r.text.text();
      CAPTURE(text);
      const parsed_text t = read(text);
      const std::string said = all(t.problems);
      CAPTURE(said);
      const auto error = std::ranges::find(t.problems, severity::error, &problem::level);
      REQUIRE(error != t.problems.end());
      CHECK(error->line == r.line);
      CHECK(error->field.ends_with(r.field));
      CHECK(error->field.starts_with("spec.strategies."));
      CHECK(error->message.find(r.says) != std::string::npos);
      CHECK(std::ranges::count(t.problems, severity::error, &problem::level) == 1);
      // The policy is read, the wrong strategy is left out.
      REQUIRE(t.policies.size() == 1);
      CHECK(t.policies[0].usable);
      CHECK(t.policies[0].value.strategies.empty());
      CHECK_FALSE(t.unattributed);
    }
  }

  TEST_CASE("a wrong operator or target is one mistake, not two") {
    for (const char* rule : {"metricname: m, operator: above, target: 1, clearAbove: 0, clearBelow: 0",
                             "metricname: m, operator: GreaterThan, target: 70.5, clearBelow: 60"}) {
      CAPTURE(rule);
      const parsed_text t = read(recipe{.rule = rule}.text());
      CHECK_MESSAGE(t.problems.size() == 1, all(t.problems));
    }
  }

  TEST_CASE("a policy that is wrong as a whole keeps its name and loses the rest") {
    struct row {
      std::string text;
      int line;
      const char* field;
      const char* says;
    };
    const std::string good = recipe{}.text();
    const auto with = [&](std::string_view old, std::string_view fresh) {
      std::string out = good;
      return out.replace(out.find(old), old.size(), fresh);
    };
    for (const row& r : {
             row{with("v1alpha1", "v1beta1"), 1, "apiVersion",
                 "write apiVersion: telemetry.intel.com/v1alpha1"},
             row{with("apiVersion: telemetry.intel.com/v1alpha1\n", ""), 1, "", "apiVersion is missing"},
             row{with("spec:\n", "spec:\n  mode: Dryrun\n"), 5, "spec.mode", "did you mean DryRun?"},
             row{with("spec:\n", "spec:\n  Mode: DryRun\n"), 5, "spec.Mode", "did you mean mode?"},
             row{with("spec:\n", "spec:\n  herdDamping: disabled\n"), 5, "spec.herdDamping",
                 "did you mean Disabled?"},
             row{with("spec:\n", "strategy: x\nspec:\n"), 4, "strategy", "unknown here"},
             row{with("  strategies:", "  strategie:"), 5, "spec.strategie", "did you mean strategies?"},
         }) {
      CAPTURE(r.text);
      const parsed_text t = read(r.text);
      const std::string said = all(t.problems);
      CAPTURE(said);
      REQUIRE(t.policies.size() == 1);
      CHECK_FALSE(t.policies[0].usable);
      CHECK(t.policies[0].value.key.name == "p");
      const auto found = std::ranges::find_if(
          t.problems, [&](const problem& p) { return p.message.find(r.says) != std::string::npos; });
      REQUIRE(found != t.problems.end());
      CHECK(found->line == r.line);
      CHECK(found->field == r.field);
    }
  }

  TEST_CASE("what has no name or no kind cannot be told apart, and says so") {
    const std::string good = recipe{}.text();
    const auto with = [&](std::string_view old, std::string_view fresh) {
      std::string out = good;
      return out.replace(out.find(old), old.size(), fresh);
    };
    struct row {
      std::string text;
      const char* says;
    };
    for (const row& r :
         {row{with("metadata: {name: p}", "metadata: {generateName: p-}"), "the name is missing"},
          row{with("metadata: {name: p}\n", ""), "metadata with the policy's name is missing"},
          row{with("{name: p}", "{name: Power_Policy}"), "not an object name"},
          row{with("{name: p}", "{name: p, namespace: A}"), "not a namespace"},
          row{with("kind: TASPolicy\n", ""), "kind is missing"},
          row{with("kind: TASPolicy", "kind: TasPolicy"), "did you mean TASPolicy?"},
          row{"just words\n", "a mapping of fields"}, row{"- a\n- b\n", "a mapping of fields"},
          row{"spec: [\n", "not YAML"}, row{"a: b: c\n", "not YAML"}, row{"\t\n", ""},
          row{"kind: List\nitems:\n- {kind: List, items: []}\n", "a list in a list"},
          row{"kind: List\nitems: {a: b}\n", "a list of objects"}}) {
      CAPTURE(r.text);
      const parsed_text t = read(r.text);
      CAPTURE(all(t.problems));
      CHECK(t.policies.empty());
      if (*r.says == '\0') continue;
      CHECK(t.unattributed);
      REQUIRE_FALSE(t.problems.empty());
      CHECK(t.problems[0].message.find(r.says) != std::string::npos);
      CHECK(t.problems[0].line > 0);
    }
  }

  TEST_CASE("defect_13_an_unknown_strategy_leaves_the_others_alone, as does a broken document") {
    const parsed_text t = read(test::data("mixed-quality.yaml"));
    const std::string said = all(t.problems);
    CAPTURE(said);
    REQUIRE(t.policies.size() == 2);
    CHECK(t.policies[0].value.key.name == "half-right");
    CHECK(t.policies[0].usable);
    CHECK(t.policies[0].value.strategies.size() == 1);
    CHECK(t.policies[0].value.find(strategy_kind::deschedule) != nullptr);
    CHECK(t.policies[0].refused == std::set{strategy_kind::dontschedule});
    CHECK(t.policies[1].value.key.name == "right");
    CHECK(t.policies[1].value.strategies.size() == 1);
    CHECK(t.unattributed);
    REQUIRE(t.problems.size() == 4);
    CHECK(t.problems[0].text() ==
          "p.yaml:10: error: spec.strategies.dontschedule.rules[0].target: target is an integer in "
          "TASPolicy: use "
          "targetQuantity: \"70.5\"");
    CHECK(t.problems[1].line == 14);
    CHECK(t.problems[1].message.find("did you mean deschedule?") != std::string::npos);
    CHECK(t.problems[2].level == severity::note);
    CHECK(t.problems[2].line == 18);
    CHECK(t.problems[3].message.find("not YAML") != std::string::npos);
    CHECK(t.problems[3].line >= 28);
  }

  TEST_CASE("defect_26_names_that_make_no_label_are_refused_before_anything_is_written") {
    // A name may have 63 characters with deschedule and 226 with labeling. With dontschedule there is no such
    // limit.
    CHECK(
        read(recipe{.kind = "deschedule", .name = std::string(63, 'a')}.text()).policies[0].refused.empty());
    CHECK(read(recipe{.kind = "labeling", .name = std::string(226, 'a')}.text()).policies[0].refused.empty());
    CHECK(read(recipe{.name = std::string(253, 'a')}.text()).policies[0].refused.empty());
    CHECK(read(recipe{.name = std::string(254, 'a')}.text()).policies.empty());
    const parsed_text warned = read(recipe{.name = std::string(64, 'a')}.text());
    REQUIRE(warned.problems.size() == 1);
    CHECK(warned.problems[0].level == severity::warning);
    CHECK(warned.problems[0].message.find("no pod can choose") != std::string::npos);
  }

  TEST_CASE("what TAS ignored is taken with a warning") {
    struct row {
      recipe text;
      const char* says;
    };
    for (const row& r :
         {row{{.rule = "metricname: m, operator: Equals"}, "0 is taken"},
          row{{.rule = "metricname: m, operator: Equals, target: 1, labels: [a=b]"}, "does not use labels"},
          row{{.kind = "labeling"}, "gives no label"},
          row{{.kind = "scheduleonmetric", .rule = "metricname: m, operator: LessThan, for: 3s"},
              "orders nodes"}}) {
      CAPTURE(r.text.text());
      const parsed_text t = read(r.text.text());
      REQUIRE(t.problems.size() == 1);
      CHECK(t.problems[0].level == severity::warning);
      CHECK(t.problems[0].message.find(r.says) != std::string::npos);
      CHECK(t.policies.at(0).value.strategies.size() == 1);
    }
    // Labels in the rules of a strategy that does not use labels are dropped. Otherwise two equal strategies
    // would differ.
    CHECK(read(recipe{.rule = "metricname: m, operator: Equals, target: 1, labels: [a=b]"}.text())
              .policies[0]
              .value.strategies[0]
              .rules[0]
              .labels.empty());
  }

  TEST_CASE("the same policy twice in a file: the first counts") {
    recipe a{.rule = "metricname: first, operator: Equals, target: 1"},
        b{.rule = "metricname: second, operator: Equals, target: 1"};
    const parsed_text t = read(a.text() + "---\n" + b.text());
    REQUIRE(t.policies.size() == 1);
    CHECK(t.policies[0].value.strategies[0].rules[0].metric == "first");
    REQUIRE(t.problems.size() == 1);
    CHECK(t.problems[0].line == 10);
    CHECK(t.problems[0].message.find("given twice in this file, first in line 1") != std::string::npos);
  }
}

}  // namespace yaml_mistakes_test
