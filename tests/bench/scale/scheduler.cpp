#include "tests/bench/scale/scheduler.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <thread>

namespace binnacle::bench {
namespace {

constexpr const char* pod =
    R"({"metadata":{"name":"bench","namespace":"default","uid":"7f1c2d0e","labels":{"app":"bench","telemetry-policy":"power"},)"
    R"("creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"containers":[{"name":"c","image":"registry.example/app:1",)"
    R"("resources":{"limits":{"telemetry/scheduling":"1"},"requests":{"cpu":"500m","memory":"1Gi"}}}],"schedulerName":"binnacle"},)"
    R"("status":{"phase":"Pending","qosClass":"Burstable"}})";

std::string node_object(std::uint32_t i) {
  std::string out = fmt::format(
      R"({{"metadata":{{"name":"sim-{}","uid":"{:08x}","resourceVersion":"{}","labels":{{"kubernetes.io/hostname":"sim-{}")",
      i, i * 2654435761u, 100000 + i, i);
  for (int l = 0; l < 24; ++l)
    out += fmt::format(R"(,"feature.node.kubernetes.io/cpu-cpuid.FEATURE{}":"true")", l);
  out +=
      R"(}},"spec":{"podCIDR":"10.0.0.0/24","providerID":"metal://rack/unit"},"status":{"capacity":{"cpu":"64","memory":"263856184Ki","pods":"110"},)"
      R"("allocatable":{"cpu":"63","memory":"262000000Ki","pods":"110"},"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"images":[)";
  for (int n = 0; n < 60; ++n) {
    out += fmt::format(
        R"({}{{"names":["registry.example/team/service-{}@sha256:{:064x}","registry.example/team/service-{}:v1.{}.0"],"sizeBytes":{}}})",
        n == 0 ? "" : ",", n, std::uint64_t{0x9e3779b97f4a7c15} * (n + 1), n, n, 104857600 + n);
  }
  return out + "]}}";
}

}  // namespace

double scheduler::call(const std::string& verb, const std::string& body, const char* expect) {
  const auto began = std::chrono::steady_clock::now();
  const auto answer = client_.post("/scheduler/" + verb, body, {{"content-type", "application/json"}});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  if (answer.status != 200 || answer.body.find(expect) == std::string::npos) {
    throw std::runtime_error(fmt::format("{} answered {}: {:.200}", verb, answer.status, answer.body));
  }
  last_size_ = answer.body.size();
  return took.count();
}

latencies scheduler::calls(const std::string& verb, const std::string& body, unsigned calls,
                           std::chrono::microseconds pause) {
  latencies out;
  const char* expect = verb == "filter" ? "FailedAndUnresolvableNodes" : "Score";
  call(verb, body, expect);  // connection and caches warm
  for (unsigned i = 0; i < calls; ++i) {
    out.add(call(verb, body, expect));
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }
  return out;
}

latencies scheduler::calls_until(const std::atomic<bool>& stop, const std::string& verb,
                                 const std::string& body, std::chrono::microseconds pause) {
  latencies out;
  while (!stop) {
    out.add(call(verb, body, verb == "filter" ? "FailedAndUnresolvableNodes" : "Score"));
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }
  return out;
}

std::string names_body(std::uint32_t count) {
  std::string out = fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":[)", pod);
  for (std::uint32_t i = 0; i < count; ++i) out += fmt::format(R"({}"sim-{}")", i == 0 ? "" : ",", i);
  return out + "]}";
}

std::string nodes_body(std::uint32_t count) {
  std::string out = fmt::format(R"({{"Pod":{},"Nodes":{{"metadata":{{}},"items":[)", pod);
  for (std::uint32_t i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + node_object(i);
  return out + R"(]},"NodeNames":null})";
}

}  // namespace binnacle::bench
