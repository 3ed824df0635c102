#include "aggregator/placed_pods.hpp"

#include "aggregator/kube/json.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>

namespace placed_pods_test {

namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

/// What one replica knows of pods.
struct replica {
  replica() { placed.bindings_followed(true); }
  void see(const std::string& pod, const std::string& node, bool ready, instant now) {
    const auto object = kube::parse_object(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"ops","uid":"u-{}"}},"spec":{{"nodeName":"{}","containers":)"
        R"([{{"resources":{{"requests":{{"cpu":"2"}}}}}}]}},"status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
        pod, pod, node, ready ? "True" : "False"));
    REQUIRE(object.has_value());
    objects.changed({"ops", pod}, *object);
    for (const auto& c : objects.take()) count_pod(placed, c, now);
  }
  /// "node: pods, cores" of the pods in flight.
  std::string in_flight(instant now) {
    std::string out;
    for (const auto& crowd : placed.crowds(now)) {
      const auto there = placed.counting(crowd, now, 0s);
      if (there.pods > 0 || there.cores > 0)
        out += fmt::format("{}: {}, {}; ", crowd.node, there.pods, there.cores);
    }
    return out;
  }
  kube::pod_objects objects;
  extender::placements placed;
};

TEST_SUITE("aggregator/placed_pods") {
  TEST_CASE("after a restart the first list brings back the pods that are on their way") {
    replica whole, again;
    whole.objects.synced();
    const instant now(1h);
    whole.see("long-there", "a", false, now - 20min);
    whole.see("long-there", "a", true, now - 19min);
    whole.see("starting", "a", false, now - 5s);
    whole.see("starting-too", "b", false, now - 1s);
    // A restarted replica first reads this list.
    again.see("long-there", "a", true, now);
    again.see("starting", "a", false, now);
    again.see("starting-too", "b", false, now);
    again.objects.synced();
    CHECK(whole.in_flight(now) == "a: 1, 2; b: 1, 2; ");
    CHECK(again.in_flight(now) == whole.in_flight(now));
    for (replica* r : {&whole, &again}) r->see("starting", "a", true, now + 1s);
    CHECK(again.in_flight(now + 2s) == whole.in_flight(now + 2s));
    CHECK(whole.in_flight(now + 12s) == "b: 1, 2; ");
    CHECK(again.in_flight(now + 12s) == whole.in_flight(now + 12s));
  }
}

}  // namespace

}  // namespace placed_pods_test
