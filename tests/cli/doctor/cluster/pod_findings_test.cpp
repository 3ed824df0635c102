#include "cli/doctor/cluster/pod_findings.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace pod_findings_test {

namespace {

using namespace binnacle::cli;
using namespace binnacle::cli::doctor;

/// A pod in an API server's list; `containers` are its containerStatuses.
std::string pod(const char* name, const char* component, const char* ready, const char* containers,
                const char* more_conditions = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"binnacle-agents","uid":"u-{0}","labels":{{"app.kubernetes.io/component":"{1}"}}}},
          "spec":{{"nodeName":"n1"}},
          "status":{{"phase":"Pending","conditions":[{2}{{"type":"Ready","status":"{3}"}}],"containerStatuses":[{4}]}}}})",
      name, component, more_conditions, ready, containers);
}
std::vector<stuck_pod> stuck_of(const std::string& pods) {
  return stuck_pods(json::parse("{\"items\":[" + pods + "]}"));
}
std::string waiting(const char* reason, const char* message) {
  return fmt::format(
      R"({{"name":"agent","lastState":{{}},"state":{{"waiting":{{"reason":"{}","message":"{}"}}}}}})", reason,
      message);
}
finding only(const std::vector<stuck_pod>& stuck) {
  const auto groups = by_reason(stuck);
  REQUIRE(groups.size() == 1);
  return finding_of_stuck_pods(groups.front());
}
bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST_SUITE("cli/doctor/cluster/pod_findings") {
  TEST_CASE("pods that are ready, are being deleted, have done their work or test are not stuck") {
    CHECK(stuck_of(pod("a", "agent", "True", R"({"name":"agent","state":{"running":{}}})")).empty());
    CHECK(stuck_of(pod("a", "test", "False", "")).empty());
    CHECK(stuck_of(R"({"metadata":{"name":"a","deletionTimestamp":"x"},"status":{}})").empty());
    CHECK(stuck_of(R"({"metadata":{"name":"a"},"status":{"phase":"Succeeded"}})").empty());
    CHECK(stuck_pods(json::parse(R"({"items":[null, 3, {}]})")).size() == 3);  // of another hand: not a crash
  }

  TEST_CASE("an image that is not there is told with the values that name it") {
    const auto f =
        only(stuck_of(pod("agent-1", "agent", "False",
                          waiting("ErrImageNeverPull", "Container image x is not present").c_str())));
    CHECK(f.how == grade::failure);
    CHECK(f.sentence ==
          "binnacle-agents/agent-1 on n1, container agent: ErrImageNeverPull: Container image x is not "
          "present");
    CHECK(has(f.remedy, "image.registry"));
    CHECK(has(f.remedy, "images/README.md"));
  }

  TEST_CASE("a seccomp profile that a node lacks is told with the page that says where it goes") {
    const auto f = only(
        stuck_of(pod("agent-1", "agent", "False",
                     waiting("CreateContainerError",
                             "failed to generate seccomp spec opts: seccomp profile not found: open b.json")
                         .c_str())));
    CHECK(f.how == grade::failure);
    CHECK(has(f.remedy, "charts/binnacle/seccomp/README.md"));
  }

  TEST_CASE("a missing secret is told by the newest warning among the pod's events") {
    auto stuck = stuck_of(pod("agent-1", "agent", "False", waiting("ContainerCreating", "").c_str()));
    REQUIRE(stuck.size() == 1);
    CHECK(stuck[0].container.empty());
    CHECK(finding_of_stuck_pods(stuck).how == grade::warning);  // only a warning: the pod may be new
    explain_by_events(stuck[0].reason, stuck[0].message, json::parse(R"({"items":[
        {"type":"Warning","reason":"Old","message":"an older one","lastTimestamp":"2026-11-23T10:00:00Z"},
        {"type":"Warning","reason":"FailedMount","lastTimestamp":"2026-11-23T10:05:00Z",
         "message":"MountVolume.SetUp failed for volume \"pki\" : secret \"trust\" not found"},
        {"type":"Normal","reason":"Scheduled","message":"assigned","lastTimestamp":"2026-11-23T10:09:00Z"}]})"));
    const auto f = finding_of_stuck_pods(stuck);
    CHECK(f.how == grade::failure);
    CHECK(has(f.sentence,
              R"(FailedMount: MountVolume.SetUp failed for volume "pki" : secret "trust" not found)"));
    CHECK(has(f.remedy, "create that secret in namespace binnacle-agents"));
  }

  TEST_CASE("a device that no plug-in gives is told with the chart's value for it") {
    const auto f = only(stuck_of(pod(
        "agent-1", "agent", "False", "",
        R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/2 nodes are available: 2 Insufficient example.com/ipmi."},)")));
    CHECK(f.how == grade::failure);
    CHECK(has(f.sentence, "Unschedulable: 0/2 nodes"));
    CHECK(has(f.remedy, "agent.ipmi.deviceResource"));
  }

  TEST_CASE("a container that was killed for its memory is told, also when it is ready again") {
    const char* const again =
        R"({"name":"ipmi","restartCount":1,"state":{"running":{}},"lastState":{"terminated":{"reason":"OOMKilled","exitCode":137}}})";
    const auto f = only(stuck_of(pod("agent-1", "agent", "True", again)));
    CHECK(f.how == grade::warning);
    CHECK(has(f.sentence, "container ipmi: is ready again after OOMKilled"));
    CHECK(f.remedy == "raise agent.ipmi.resources.limits.memory");
    const char* const still =
        R"({"name":"aggregator","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"reason":"OOMKilled"}}})";
    const auto g = only(stuck_of(pod("a-1", "aggregator", "False", still)));
    CHECK(g.how == grade::failure);
    CHECK(g.remedy == "raise aggregator.resources.limits.memory");
  }

  TEST_CASE("a program that ends again and again is told with where its last words are") {
    const auto f = only(stuck_of(pod(
        "a-1", "aggregator", "False",
        R"({"name":"aggregator","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 40s"}},"lastState":{"terminated":{"reason":"Error","exitCode":2}}})")));
    CHECK(has(f.sentence, "CrashLoopBackOff: it ended with exit code 2 the last time, after 4 restarts"));
    CHECK(f.remedy == "its log says why: kubectl logs --previous -n binnacle-agents a-1 -c aggregator");
  }

  TEST_CASE("a pod that the kubelet ended for good is told, and is no failure: another comes") {
    const auto f = only(stuck_of(
        R"({"metadata":{"name":"a-1","namespace":"binnacle","labels":{"app.kubernetes.io/component":"aggregator"}},"spec":{"nodeName":"n1"},
            "status":{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}})"));
    CHECK(f.how == grade::warning);
    CHECK(f.sentence == "binnacle/a-1 on n1: ended: Evicted: The node was low on resource: memory.");
    CHECK(has(f.remedy, "kubectl delete pod -n binnacle a-1"));
  }

  TEST_CASE("pods with the same reason share one finding; each reason has its own") {
    std::string pods;
    const std::string no_image = waiting("ImagePullBackOff", "Back-off pulling image x");
    for (const char* name : {"a-1", "a-2", "a-3", "a-4", "a-5"})
      pods += pod(name, "agent", "False", no_image.c_str()) + ",";
    pods += pod("b-1", "aggregator", "False", no_image.c_str());
    const auto groups = by_reason(stuck_of(pods));
    REQUIRE(groups.size() == 2);
    const auto f = finding_of_stuck_pods(groups[0]);
    CHECK(has(f.sentence, "a-1 on n1, a-2 on n1, a-3 on n1 and 2 more"));
  }
}

}  // namespace

}  // namespace pod_findings_test
