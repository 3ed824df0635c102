#include "aggregator/placed_pods.hpp"

#include "aggregator/kube/json.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>

namespace placed_pods_test {

namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

/// What the wall clocks of the tests' machines say then, if they are right.
std::chrono::system_clock::time_point wall(instant t) {
  return wall_at(1'767'225'600) +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(t.time_since_epoch());
}

/// What one replica knows of pods.
struct replica {
  /// `started`: when the node's kubelet says that it took the pod; none: it has not.
  void see(const std::string& pod, const std::string& node, bool ready, instant now,
           std::optional<instant> started = {}) {
    const std::string start =
        started ? fmt::format(R"("startTime":"{}",)", rfc3339(wall(*started))) : std::string();
    const auto object = kube::parse_object(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"ops","uid":"u-{}"}},"spec":{{"nodeName":"{}","containers":)"
        R"([{{"resources":{{"requests":{{"cpu":"2"}}}}}}]}},"status":{{{}"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
        pod, pod, node, start, ready ? "True" : "False"));
    REQUIRE(object.has_value());
    objects.changed({"ops", pod}, *object);
    for (const auto& c : objects.take()) count_pod(placed, c, now, wall(now));
  }
  void has_read_the_first_list() {
    objects.synced();
    placed.bindings_followed(true);
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
    whole.has_read_the_first_list();
    const instant now(1h);
    whole.see("long-there", "a", false, now - 20min);
    whole.see("long-there", "a", true, now - 19min);
    whole.see("starting", "a", false, now - 5s);
    whole.see("starting-too", "b", false, now - 1s);
    // A restarted replica first reads this list.
    again.see("long-there", "a", true, now);
    again.see("starting", "a", false, now);
    again.see("starting-too", "b", false, now);
    again.has_read_the_first_list();
    CHECK(whole.in_flight(now) == "a: 1, 2; b: 1, 2; ");
    CHECK(again.in_flight(now) == whole.in_flight(now));
    for (replica* r : {&whole, &again}) r->see("starting", "a", true, now + 1s);
    CHECK(again.in_flight(now + 2s) == whole.in_flight(now + 2s));
    CHECK(whole.in_flight(now + 12s) == "b: 1, 2; ");
    CHECK(again.in_flight(now + 12s) == whole.in_flight(now + 12s));
  }

  TEST_CASE("defect: pods that are never Ready were in flight anew after each restart") {
    replica whole, again;
    whole.has_read_the_first_list();
    const instant now(100h);
    whole.see("crashes", "a", false, now - 48h);
    whole.see("large-image", "b", false, now - 20min);
    whole.see("starting", "c", false, now - 40s);
    again.see("starting", "c", false, now, now - 40s);
    again.see("crashes", "a", false, now, now - 48h);
    again.see("large-image", "b", false, now, now - 20min);
    again.has_read_the_first_list();
    CHECK(whole.in_flight(now) == "b: 0, 2; c: 1, 2; ");
    for (const duration later : std::initializer_list<duration>{0s, 30s, 599s, 10min, 30min}) {
      CAPTURE(human(later));
      CHECK(again.in_flight(now + later) == whole.in_flight(now + later));
    }
  }

  TEST_CASE("a kubelet whose clock is wrong changes for how long its pods count, by as much at most") {
    replica again;
    const instant now(100h);
    again.see("ahead", "a", false, now, now + 1h);
    again.see("behind", "b", false, now, now - 2min);  // it was placed just now, too
    again.has_read_the_first_list();
    CHECK(again.in_flight(now) == "a: 1, 2; b: 0, 2; ");
    CHECK(again.in_flight(now + 28min) == "a: 0, 2; ");
    CHECK(again.in_flight(now + 30min).empty());
  }
}

}  // namespace

}  // namespace placed_pods_test
