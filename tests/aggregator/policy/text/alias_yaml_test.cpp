#include "aggregator/policy/text/alias_yaml.hpp"

#include <doctest/doctest.h>

#include <string>

namespace alias_yaml_test {

using namespace binnacle;
using metrics::node_rule;

namespace {

std::vector<policy::problem> parse(const std::string& text, metrics::alias_table& into) {
  return policy::parse_aliases("aliases.yaml", text, into);
}

std::string only_problem(const std::string& text) {
  metrics::alias_table table;
  const auto problems = parse(text, table);
  CHECK(table.own() == 0);
  return problems.size() == 1 ? problems.front().text() : std::to_string(problems.size()) + " problems";
}

}  // namespace

TEST_SUITE("aggregator/policy/text/alias_yaml") {
  TEST_CASE("a user's aliases go before the built-in ones") {
    metrics::alias_table table;
    const auto problems = parse(R"(
- name: rack_power_kw
  family: rapl_power_watts
  rule: sum
  scale: 0.001
  window: 1m
- {name: inlet_f, family: bmc_inlet_temperature_celsius, scale: 1.8, offset: 32}
- {name: "socket<N>_watts", family: rapl_power_watts, selector: {package: "<N>"}, rule: sole}
- {name: load1, family: my_load}
)",
                                table);
    CHECK(problems.empty());
    REQUIRE(table.own() == 4);
    const auto power = table.resolve("rack_power_kw");
    CHECK(power.is_alias);
    CHECK(power.family == "rapl_power_watts");
    CHECK(power.rule_given);
    CHECK(power.rule == node_rule::sum);
    CHECK(power.scale == 0.001);
    CHECK(power.window == std::chrono::minutes(1));
    CHECK(table.resolve("inlet_f").offset == 32);
    CHECK_FALSE(table.resolve("inlet_f").rule_given);
    CHECK(table.resolve("socket12_watts").label == "package");
    CHECK(table.resolve("socket12_watts").value == "12");
    CHECK(table.resolve("load1").family == "my_load");
    // Other names resolve as before.
    CHECK(table.resolve("node_load5").family == "os_load5");
    CHECK(table.resolve("rapl_power_watts").family == "rapl_power_watts");
    CHECK(metrics::resolve("load1").family == "os_load1");
  }

  TEST_CASE("an empty file has no aliases") {
    metrics::alias_table table;
    CHECK(parse("", table).empty());
    CHECK(parse("# none yet\n", table).empty());
    CHECK(table.own() == 0);
  }

  TEST_CASE("a wrong entry is one sentence with file, line and remedy") {
    struct row {
      std::string text, problem;
    };
    const row rows[] = {
        {"- {family: os_load1}",
         "aliases.yaml:1: error: [0]: name is missing: the old name that policies use"},
        {"- {name: x}",
         "aliases.yaml:1: error: [0]: family is missing: the metric that the name stands for (METRICS.md)"},
        {"\n- {name: \"a b\", family: os_load1}",
         "aliases.yaml:2: error: [0].name: \"a b\" is not a metric name: 1 to 253 letters, digits, '_', '-', "
         "':', "
         "'.'"},
        {"- {name: os_load1, family: os_load5}",
         "aliases.yaml:1: error: [0].name: os_load1 is a metric of Binnacle's own and keeps its meaning: "
         "choose another "
         "name"},
        {"- {name: x, family: rapl_power_watts, selector: {core: 1}}",
         "aliases.yaml:1: error: [0].selector: rapl_power_watts has no label \"core\": it has package"},
        {"- {name: x, family: os_load1, selector: {core: 1}}",
         "aliases.yaml:1: error: [0].selector: os_load1 has no label \"core\": it has none; remove the "
         "selector"},
        {"- {name: x, family: os_load1, scale: much}",
         "aliases.yaml:1: error: [0].scale: \"much\" is not a number between 1e-9 and 1e9: write one such as "
         "0.001"},
        {"- {name: x, family: os_load1, scale: 0}",
         "aliases.yaml:1: error: [0].scale: a scale of 0 makes every value the same: leave it out or write "
         "another"},
        {"- {name: x, family: os_load1, rule: avg}",
         "aliases.yaml:1: error: [0].rule: \"avg\" is unknown: it is one of sole, sum, max, min or mean, "
         "case "
         "included"},
        {"- {name: x, family: os_load1, window: 10}",
         "aliases.yaml:1: error: [0].window: \"10\" has no unit: write 10s if seconds are meant"},
        {"- {name: x, family: os_load1, factor: 2}",
         "aliases.yaml:1: error: [0].factor: the field \"factor\" is unknown here: remove it"},
        {"name: x",
         "aliases.yaml:1: error: a list of aliases is expected: - {name: old_name, family: "
         "rapl_power_watts}"},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      CHECK(only_problem(r.text) == r.problem);
    }
    CHECK(only_problem("- {name: x").find("this is not YAML") != std::string::npos);
  }

  TEST_CASE("a wrong entry leaves the others alone, a second of one name is refused") {
    metrics::alias_table table;
    const auto problems =
        parse("- {name: a, family: os_load1}\n- {name: a, family: os_load5}\n- {name: b}\n", table);
    CHECK(problems.size() == 2);
    CHECK(table.own() == 1);
    CHECK(table.resolve("a").family == "os_load1");
  }
}

}  // namespace alias_yaml_test
