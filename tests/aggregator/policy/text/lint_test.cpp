#include "aggregator/policy/text/lint.hpp"

#include "common/text/utf8.hpp"
#include "tests/aggregator/policy/text_file.hpp"
#include "tests/aggregator/policy/world.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace lint_test {

using namespace binnacle;
using namespace binnacle::policy;
using binnacle::policy::test::manifest;

namespace {

std::string said(const std::string& text) {
  std::string out;
  for (const problem& p : lint("p.yaml", text)) out += p.text() + "\n";
  return out;
}
std::string of_rule(const std::string& rule, const std::string& kind = "dontschedule") {
  return said(manifest({{kind, "rules: [{" + rule + "}]"}}));
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE("aggregator/policy/text/lint") {
  TEST_CASE("a careful policy gets no word") {
    CHECK(of_rule("metricname: rapl_power_watts, operator: GreaterThan, target: 400, window: 30s, "
                  "clearBelow: 380") == "");
    CHECK(of_rule("metricname: collectd_package_0_power_power, operator: GreaterThan, target: 30, for: 1m") ==
          "");
    CHECK(of_rule("metricname: os_memory_available_bytes, operator: LessThan, targetQuantity: 2Gi, "
                  "clearAbove: 3Gi") == "");
    CHECK(of_rule("metricname: memory_MemFree_bytes, operator: LessThan, target: 10, for: 30s") == "");
  }

  TEST_CASE("errors of reading come with it, line and all") {
    const std::string out = said(test::data("mixed-quality.yaml"));
    CHECK(has(out, "p.yaml:10: error: spec.strategies.dontschedule.rules[0].target: target is an integer"));
    CHECK(has(out, "this is not YAML"));
  }

  TEST_CASE("an unknown metric is a hint, with the nearest name") {
    CHECK(has(of_rule("metricname: rapl_power_wats, operator: Equals, target: 1"),
              "hint: spec.strategies.dontschedule.rules[0]: unknown metric \"rapl_power_wats\": nearest is "
              "rapl_power_watts; fine if a textfile"));
    CHECK(has(of_rule("metricname: zzzzzzzzzzzz, operator: Equals, target: 1"),
              "unknown metric \"zzzzzzzzzzzz\"; fine if"));
    CHECK_MESSAGE(of_rule("metricname: rapl_power_watts_0, operator: GreaterThan, target: 60, window: 10s, "
                          "clearBelow: 55") == "",
                  "a flat name is known");
  }

  TEST_CASE("the watts of one second are noise; the old collectd names are means already") {
    CHECK(has(of_rule("metricname: rapl_power_watts, operator: GreaterThan, target: 400, clearBelow: 380"),
              "add window: 10s"));
    CHECK_FALSE(has(of_rule("metricname: collectd_package_0_power_power, operator: GreaterThan, target: 30"),
                    "add window"));
    CHECK(has(of_rule("metricname: rapl_power_watts, operator: LessThan", "scheduleonmetric"),
              "add window: 10s"));
  }

  TEST_CASE("targets out of any range") {
    CHECK(has(of_rule("metricname: os_cpu_utilization_ratio, operator: GreaterThan, target: 70, for: 30s"),
              "a ratio is between 0 and 1; write targetQuantity: \"0.7\" if 70 % is meant"));
    CHECK(has(
        of_rule("metricname: rapl_power_watts, operator: GreaterThan, target: 400000, window: 10s, for: 3s"),
        "look at the unit"));
    CHECK_MESSAGE(of_rule("metricname: package_power_avg, operator: GreaterThan, target: 60, for: 3s") == "",
                  "a percentage of TDP");
  }

  TEST_CASE("a staleAfter below two periods is warned of: the value is missing between two samples") {
    const std::string rule = "metricname: os_load1, operator: GreaterThan, target: 4, for: 30s, staleAfter: ";
    CHECK(has(of_rule(rule + "1ms"),
              "warning: spec.strategies.dontschedule.rules[0]: staleAfter: 1ms is less than two"));
    CHECK_FALSE(has(of_rule(rule + "2s"), "staleAfter"));
  }

  TEST_CASE("a parser's message holds no byte that is not UTF-8") {
    for (const problem& p : lint("p.yaml", "a: \"\xff\xfe\n: ]\xe9 {"))
      CHECK(find_invalid_utf8(p.message) == std::string_view::npos);
  }

  TEST_CASE("thresholds without hysteresis") {
    CHECK(has(of_rule("metricname: my_metric, operator: GreaterThan, target: 4", "deschedule"),
              "makes the label flap: add clearBelow a little below"));
    CHECK(has(of_rule("metricname: my_metric, operator: LessThan, target: 4"),
              "makes the verdict flap: add clearAbove a little above"));
    CHECK(has(of_rule("metricname: my_metric, operator: LessOrEqual, target: 4"),
              "add clearAbove a little above"));
    CHECK_FALSE(has(of_rule("metricname: my_metric, operator: Equals, target: 4"), "flap"));
    CHECK_FALSE(has(of_rule("metricname: my_metric, operator: GreaterThan, target: 4, for: 3s"), "flap"));
  }

  TEST_CASE("thresholds in the wrong order send pods round in circles; the OpenShift demo has them right") {
    const std::string place = "rules: [{metricname: m, operator: GreaterThan, target: 33, for: 3s}]";
    const std::string sooner = "rules: [{metricname: m, operator: GreaterThan, target: 30, for: 3s}]";
    const std::string out = said(manifest({{"dontschedule", place}, {"deschedule", sooner}}));
    CHECK(has(out,
              "p.yaml:8: warning: spec.strategies.deschedule.rules[0]: pods are evicted at 30 and still "
              "placed until 33"));
    CHECK_FALSE(has(said(test::data("openshift-power.yaml")), "circles"));
    // At exactly 33 one strategy evicts while the other still places.
    const std::string at_it = "rules: [{metricname: m, operator: GreaterOrEqual, target: 33, for: 3s}]";
    CHECK(has(said(manifest({{"dontschedule", place}, {"deschedule", at_it}})), "circles"));
    CHECK_FALSE(has(said(manifest({{"dontschedule", at_it}, {"deschedule", place}})), "circles"));
  }

  TEST_CASE("rules that can never or always hold") {
    const std::string pair =
        "rules: [{{metricname: m, operator: GreaterThan, target: {}, for: 3s}}, {{metricname: m, operator: "
        "LessThan, target: {}, for: 3s}}], "
        "logicalOperator: {}";
    CHECK(has(said(manifest({{"deschedule", fmt::format(fmt::runtime(pair), 80, 20, "allOf")}})),
              "allOf can never hold"));
    CHECK_FALSE(
        has(said(manifest({{"deschedule", fmt::format(fmt::runtime(pair), 20, 80, "allOf")}})), "never"));
    CHECK(has(said(manifest({{"deschedule", fmt::format(fmt::runtime(pair), 20, 80, "anyOf")}})),
              "anyOf always holds"));
    CHECK_FALSE(
        has(said(manifest({{"deschedule", fmt::format(fmt::runtime(pair), 80, 20, "anyOf")}})), "always"));

    const auto around_5 = [](std::string_view above, std::string_view below, std::string_view op) {
      return said(
          manifest({{"deschedule", fmt::format("rules: [{{metricname: m, operator: {}, target: 5, for: 3s}}, "
                                               "{{metricname: m, operator: {}, target: 5, for: 3s}}], "
                                               "logicalOperator: {}",
                                               above, below, op)}}));
    };
    CHECK_FALSE(has(around_5("GreaterOrEqual", "LessOrEqual", "allOf"), "never"));  // 5 meets both
    CHECK(has(around_5("GreaterOrEqual", "LessThan", "allOf"), "allOf can never hold"));
    CHECK(has(around_5("GreaterThan", "LessOrEqual", "anyOf"), "anyOf always holds"));
    CHECK_FALSE(has(around_5("GreaterThan", "LessThan", "anyOf"), "always"));  // 5 meets neither
  }
}

}  // namespace lint_test
