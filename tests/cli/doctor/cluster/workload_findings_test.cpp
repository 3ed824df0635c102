#include "cli/doctor/cluster/workload_findings.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace workload_findings_test {

namespace {

using namespace binnacle::cli;
using namespace binnacle::cli::doctor;

json::value items(const char* component, const char* spec, const char* status) {
  return json::parse(fmt::format(
      R"({{"items":[{{"metadata":{{"name":"x","namespace":"ns","uid":"u","labels":{{"app.kubernetes.io/component":"{}"}}}},"spec":{},"status":{}}}]}})",
      component, spec, status));
}
bool contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST_SUITE("cli/doctor/cluster/workload_findings") {
  TEST_CASE("workloads with all their pods, without a wish for any, or being deleted lack nothing") {
    CHECK(
        short_daemon_sets(items("agent", "{}", R"({"desiredNumberScheduled":2,"currentNumberScheduled":2})"))
            .empty());
    CHECK(short_deployments(items("aggregator", R"({"replicas":2})", R"({"replicas":3})")).empty());
    CHECK(short_deployments(items("aggregator", R"({"replicas":0})", "{}")).empty());
    CHECK(short_daemon_sets(json::parse(R"({"items":[{"metadata":{"deletionTimestamp":"x"}}]})")).empty());
    CHECK(short_deployments(json::parse(R"({"items":[null, 3, {}]})"))
              .empty());  // an answer in a wrong form must not crash
    CHECK(short_daemon_sets(json::parse("null")).empty());
  }

  TEST_CASE("agents that the namespace's pod security forbids are told with the label that it lacks") {
    auto found =
        short_daemon_sets(items("agent", "{}", R"({"desiredNumberScheduled":2,"currentNumberScheduled":0})"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].uid == "u");
    CHECK(finding_of_short_workload(found[0]).how ==
          grade::warning);  // only a warning: the object may be new
    found[0].reason = "FailedCreate";
    found[0].message =
        R"(Error creating: pods "x-1" is forbidden: violates PodSecurity "restricted:latest": hostPath volumes)";
    const auto f = finding_of_short_workload(found[0]);
    CHECK(f.how == grade::failure);
    CHECK(contains(f.sentence, "DaemonSet ns/x has 0 of 2 pods: FailedCreate: Error creating"));
    CHECK(contains(f.remedy,
                   "kubectl label --overwrite namespace ns pod-security.kubernetes.io/enforce=privileged"));
  }

  // Once helm kept the privileged sidecar of a failed upgrade, and no check reported it.
  TEST_CASE("a container that the chart did not write is told, with the command that removes it") {
    const auto set = [](const char* written, const char* security) {
      return json::parse(fmt::format(
          R"({{"items":[{{"metadata":{{"name":"x","namespace":"ns","annotations":{{"binnacle/containers":"{}"}}}},)"
          R"("spec":{{"template":{{"spec":{{"containers":[{{"name":"agent"}},{{"name":"ipmi","securityContext":{}}}]}}}}}}}}]}})",
          written, security));
    };
    CHECK(left_over_containers(set("agent,ipmi", R"({"privileged":true})")).empty());
    CHECK(left_over_containers(set("", "{}")).empty());
    const auto found = left_over_containers(set("agent", R"({"privileged":true})"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].how == grade::warning);
    CHECK(contains(found[0].sentence, "DaemonSet ns/x has the privileged container ipmi, which"));
    CHECK(
        found[0].remedy ==
        R"(kubectl patch daemonset x -n ns -p '{"spec":{"template":{"spec":{"containers":[{"name":"ipmi","$patch":"delete"}]}}}}')");
    CHECK(contains(left_over_containers(set("agent", "{}"))[0].sentence, "has the container ipmi"));
    CHECK(left_over_containers(json::parse("null")).empty());
  }

  TEST_CASE("agents that no node is asked to have are told with the value that chooses nodes") {
    const auto found =
        short_daemon_sets(items("agent", "{}", R"({"desiredNumberScheduled":0,"currentNumberScheduled":0})"));
    REQUIRE(found.size() == 1);
    const auto f = finding_of_short_workload(found[0]);
    CHECK(f.how == grade::warning);
    CHECK(f.sentence == "DaemonSet ns/x wants no pod: no node has the labels that it asks for");
    CHECK(f.remedy == "see agent.nodeSelector");
  }

  TEST_CASE("a Deployment says itself why a pod was not made, also when the old ones are enough") {
    const auto of = [](const char* message) {
      const std::string status = fmt::format(
          R"({{"replicas":2,"conditions":[{{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"{}"}}]}})",
          message);
      const auto found = short_deployments(items("aggregator", R"({"replicas":2})", status.c_str()));
      REQUIRE(found.size() == 1);
      return finding_of_short_workload(found[0]);
    };
    const auto quota = of("pods are forbidden: exceeded quota: small");
    CHECK(quota.how == grade::failure);
    CHECK(contains(quota.sentence, "Deployment ns/x has 2 of 2 pods: FailedCreate: pods are forbidden"));
    CHECK(contains(quota.remedy, "ResourceQuota of namespace ns"));
    CHECK(contains(of("no PriorityClass with name gone was found").remedy, "priorityClass.name"));
    CHECK(contains(of("error looking up service account: serviceaccount not found").remedy, "helm upgrade"));
    CHECK(of("anything else").remedy == "kubectl describe Deployment -n ns x");
  }
}

}  // namespace

}  // namespace workload_findings_test
