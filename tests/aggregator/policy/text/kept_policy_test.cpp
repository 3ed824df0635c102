#include "aggregator/policy/text/kept_policy.hpp"

#include "aggregator/policy/text/yaml.hpp"

#include <doctest/doctest.h>

#include <string>

namespace kept_policy_test {

using namespace binnacle;
using namespace binnacle::policy;

namespace {

/// Every field that a policy may have, with numbers that are hard to write.
constexpr auto every_field = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: all, namespace: lab, uid: "a \"quoted\" uid", creationTimestamp: "2026-05-01T00:00:00Z"}
spec:
  mode: DryRun
  herdDamping: Disabled
  strategies:
    deschedule:
      logicalOperator: allOf
      maxNodes: "20%"
      coolDown: 1h0m1.000000001s
      rules:
      - {metricname: "a:b-c.d", operator: GreaterThan, target: 9223372036854775807, clearBelow: "-0.000000001"}
      - {metricname: m, operator: LessOrEqual, targetQuantity: "1.5Ki", window: 167h59m59.999999999s, statistic: p95, for: 1ns}
    dontschedule:
      onMissing: Reject
      rules:
      - {metricname: m, operator: LessThan, targetQuantity: "0.3", clearAbove: "1e20", staleAfter: 1ns}
      - {metricname: m, operator: Equals, target: -1, window: 0s, statistic: max}
    labeling:
      maxNodes: 3
      rules:
      - {metricname: m, operator: GreaterOrEqual, target: 0, window: 10s, statistic: trend, labels: ["a=b", "c="]}
      - {metricname: m, operator: GreaterThan, target: 7}
    minimizepower:
      onMissing: Reject
      objective: WaoV2
      model: External
      cpuFormat: Raw
      podUsageAssumption: "0.123456789"
---
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: order}
spec:
  strategies:
    scheduleonmetric: {rules: [{metricname: m, operator: LessThan}]}
---
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: watts}
spec: {strategies: {minimizepower: {maxLoad: "0.7"}}}
---
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: nothing}
spec: {strategies: {dontschedule: {rules: []}}}
---
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: empty}
spec: {strategies: {}}
)";

}  // namespace

TEST_SUITE("aggregator/policy/text/kept_policy") {
  TEST_CASE("a policy that was written as a manifest is read as the same policy, whatever fields it has") {
    const parsed_text all = parse_policies("all.yaml", every_field);
    REQUIRE(all.policies.size() == 5);
    for (const parsed_policy& p : all.policies) {
      CAPTURE(p.value.key.text());
      REQUIRE(p.usable);
      REQUIRE(p.refused.empty());
      const std::string manifest = manifest_of(p.value);
      CAPTURE(manifest);
      const auto again = policy_of_manifest(manifest);
      REQUIRE(again);
      CHECK(*again == p.value);
      CHECK(again->revision == p.value.revision);
      CHECK(manifest.size() < size_of(kept_policy{p.value, {}}));
    }
    CHECK(all.policies[0].value.uid == "a \"quoted\" uid");
  }

  TEST_CASE("what is not one policy that is right as a whole is none") {
    CHECK_FALSE(policy_of_manifest(""));
    CHECK_FALSE(policy_of_manifest("{"));
    CHECK_FALSE(policy_of_manifest(every_field));
    const std::string right = manifest_of(
        policy_of_manifest(
            "{apiVersion: telemetry.intel.com/v1alpha1, kind: TASPolicy, metadata: {name: p}, spec: "
            "{strategies: {dontschedule: {rules: [{metricname: m, operator: GreaterThan, target: 1}]}}}}")
            .value());
    std::string wrong = right;
    wrong.replace(wrong.find("GreaterThan"), 11, "GreaterTham");
    CHECK(policy_of_manifest(right));
    CHECK_FALSE(policy_of_manifest(wrong));
  }
}

}  // namespace kept_policy_test
