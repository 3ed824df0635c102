#include "aggregator/policy/text/lint.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "tests/aggregator/policy/text/recipe.hpp"

#include <doctest/doctest.h>

namespace yaml_power_test {

using namespace binnacle::policy;
using binnacle::policy::test::all;
using binnacle::policy::test::read;
using binnacle::predict::objective;

std::string manifest(const std::string& terms, const std::string& others = "") {
  return "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: p}\n"
         "spec:\n  strategies:\n    minimizepower: {" +
         terms + "}\n" + others;
}
std::string problems(const std::string& terms, const std::string& others = "") {
  return all(read(manifest(terms, others)).problems);
}
strategy good(const std::string& terms) {
  const auto t = read(manifest(terms));
  REQUIRE_MESSAGE(t.problems.empty(), all(t.problems));
  const strategy* s = t.policies.at(0).value.find(strategy_kind::minimizepower);
  REQUIRE(s != nullptr);
  return *s;
}

TEST_SUITE("aggregator/policy/text/yaml_power") {
  TEST_CASE("without terms it is the best chord up to 90 % load, by the best model there is") {
    const auto s = good("");
    CHECK(s.power.objective == objective::best_chord);
    CHECK(s.power.model == power_model::automatic);
    CHECK(s.power.max_load == doctest::Approx(0.9));
    CHECK(s.power.pod_usage == doctest::Approx(1));
    CHECK(s.on_missing == missing::reject);
    REQUIRE(s.rules.size() == 1);
    CHECK(s.rules[0].metric == load_metric);
  }

  TEST_CASE("every term is read") {
    const auto s = good(
        "objective: Marginal, model: Learned, maxLoad: 0.75, podUsageAssumption: 0.8, "
        "onMissing: Allow, rules: []");
    CHECK(s.power.objective == objective::marginal);
    CHECK(s.power.model == power_model::learned);
    CHECK(s.power.max_load == doctest::Approx(0.75));
    CHECK(s.power.pod_usage == doctest::Approx(0.8));
    CHECK(s.on_missing == missing::allow);
    CHECK(good("objective: WaoV1").power.objective == objective::wao_v1);
    const auto v2 = good("objective: WaoV2");
    CHECK(v2.power.objective == objective::wao_v2);
    CHECK(v2.power.pod_usage == doctest::Approx(0.5));
    CHECK(good("objective: WaoV2, podUsageAssumption: 1").power.pod_usage == doctest::Approx(1));
    CHECK_MESSAGE(good("podUsageAssumption: 0").power.pod_usage == doctest::Approx(1),
                  "0 is not set, as with WAO");
    CHECK(good("objective: WaoV2, podUsageAssumption: 0").power.pod_usage == doctest::Approx(0.5));
  }

  TEST_CASE("other terms are another policy") {
    const auto revision = [](const std::string& terms) {
      return read(manifest(terms)).policies.at(0).value.revision;
    };
    CHECK(revision("") == revision("maxLoad: 0.9"));
    CHECK(revision("") != revision("maxLoad: 0.8"));
    CHECK(revision("") != revision("objective: Marginal"));
    CHECK(revision("") != revision("onMissing: Allow"));
    CHECK(revision("") == revision("cpuFormat: Percent"));
    CHECK(revision("") != revision("cpuFormat: Raw"));
    CHECK(revision("") != revision("model: External"));
  }

  TEST_CASE("what cannot be is refused with the field's name and a remedy") {
    CHECK(problems("objective: Cheapest").find("objective: \"Cheapest\"") != std::string::npos);
    CHECK(problems("maxLoad: 0").find("maxLoad: 0 is no share") != std::string::npos);
    CHECK(problems("maxLoad: 90").find("maxLoad: 90 is no share") != std::string::npos);
    CHECK(problems("podUsageAssumption: -1").find("is no share") != std::string::npos);
    CHECK(problems("maxNodes: 3").find("maxNodes: limits node labels") != std::string::npos);
    CHECK(problems("rules: [{metricname: m, operator: LessThan}]").find("has no rules") != std::string::npos);
    CHECK(problems("maxLod: 0.5").find("did you mean maxLoad") != std::string::npos);
  }

  TEST_CASE("a policy says whose models count, and in which form a model server gets the load") {
    const auto power = [](const std::string& terms) {
      return read(manifest(terms)).policies.at(0).value.strategies.at(0).power;
    };
    CHECK(power("").model == power_model::automatic);
    CHECK(power("model: Learned").model == power_model::learned);
    CHECK(power("model: External").model == power_model::external);
    CHECK(power("").format == cpu_format::percent);
    CHECK(power("cpuFormat: Raw").format == cpu_format::raw);
    CHECK(problems("model: TFServing").find("model: \"TFServing\"") != std::string::npos);
    CHECK(problems("cpuFormat: Cores").find("cpuFormat: \"Cores\"") != std::string::npos);
  }

  TEST_CASE("a policy has one order of nodes: with scheduleonmetric beside it the last good one stays") {
    const std::string other = "    scheduleonmetric: {rules: [{metricname: m, operator: LessThan}]}\n";
    CHECK(problems("", other).find(
              "spec.strategies: scheduleonmetric and minimizepower each give the nodes an "
              "order, and a pod follows one: make two policies of it") != std::string::npos);
    policy_set set;
    set.put("p.yaml", manifest("maxLoad: 0.5"));
    set.put("p.yaml", manifest("maxLoad: 0.6", other));
    REQUIRE(set.policies().size() == 1);
    const auto p = set.policies()[0];
    REQUIRE(p.strategies.size() == 1);
    CHECK(p.strategies[0].power.max_load == doctest::Approx(0.5));
  }

  TEST_CASE("the last good order does not stay beside another one") {
    const auto with = [](const std::string& strategies) {
      return "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: power}\nspec:\n  "
             "strategies:\n" +
             strategies;
    };
    const std::string order = "    scheduleonmetric: {rules: [{metricname: m, operator: LessThan}]}\n";
    const std::string broken = "    scheduleonmetric: {rules: [{metricname: m, operator: Lest}]}\n";
    const std::string refuses =
        "    dontschedule: {rules: [{metricname: m, operator: GreaterThan, target: 1}]}\n";
    policy_set set;
    set.put("p.yaml", with(order));
    set.put("p.yaml", with(broken + "    minimizepower: {}\n"));
    REQUIRE(set.policies().size() == 1);
    REQUIRE(set.policies()[0].strategies.size() == 1);
    CHECK(set.policies()[0].strategies[0].kind == strategy_kind::minimizepower);
    // The last good version also stays beside a strategy of another purpose.
    set.put("q.yaml", with(order));
    set.put("q.yaml", with(broken + refuses));
    set.remove("p.yaml");
    REQUIRE(set.policies().size() == 1);
    CHECK(set.policies()[0].strategies.size() == 2);
  }

  TEST_CASE("lint has nothing to say of a good one") {
    CHECK(all(lint("p.yaml", manifest("maxLoad: 0.8"))).empty());
  }
}

}  // namespace yaml_power_test
