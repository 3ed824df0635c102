#include "aggregator/spread/facts.hpp"

#include <doctest/doctest.h>

namespace spread_facts_test {

using namespace binnacle::spread;

namespace {

facts example() {
  facts f;
  f.rate = "0.5";
  f.set = "web-7d";
  f.replicas = 6;
  f.quota = 3;
  f.placed = 2;
  f.in_flight = 1;
  f.kind = area_kind::zone;
  f.areas = {{"eu-1b", 0}, {"eu-1a", 2}};
  return f;
}

}  // namespace

TEST_SUITE("aggregator/spread/facts") {
  TEST_CASE("a decision is said in one sentence, with areas and counts") {
    facts f = example();
    CHECK(text(f) ==
          "podspread-rate 0.5 of ReplicaSet web-7d: 2 of 3 pods to spread are placed (replicas: 6, on their "
          "way: 1), "
          "by zone: eu-1b 0, eu-1a 2; only zones with 0 may have this one");
    f.areas_left_out = 3;
    f.only_control_plane = true;
    CHECK(
        text(f).ends_with("eu-1b 0, eu-1a 2 and 3 more; only zones with 0 may have this one, of the control "
                          "plane, too, since no other is left"));
    f = example();
    f.is = facts::state::enough;
    f.placed = 3;
    f.in_flight = 0;
    CHECK(text(f) ==
          "podspread-rate 0.5 of ReplicaSet web-7d: 3 of 3 pods to spread are placed (replicas: 6), so any "
          "node "
          "may have this one");
    f.is = facts::state::no_area;
    CHECK(text(f).ends_with("but no candidate has the label of a zone, so any may have this one"));
    f.is = facts::state::bad_rate;
    f.rate = "half";
    CHECK(text(f) == "podspread-rate half counts as none: write a number from 0 to 1");
    f.is = facts::state::no_set;
    CHECK(text(f).find("no ReplicaSet made the pod") != std::string::npos);
    f.is = facts::state::unknown_set;
    CHECK(text(f).find("of ReplicaSet web-7d: counts as none") != std::string::npos);
    f.is = facts::state::settled;
    f.goes_to = "eu-1b";
    CHECK(text(f) == "podspread-rate: of zones with equally few pods and equal scores, eu-1b goes first");
  }

  TEST_CASE("what the scheduler is told is the same from pod to pod") {
    facts f = example();
    const std::string before = refusal(f);
    CHECK(
        before ==
        "podspread-rate 0.5 of ReplicaSet web-7d: its first 3 pods go to the zones with the fewest of them");
    ++f.placed;
    f.areas.front().pods = 7;
    CHECK(refusal(f) == before);
  }

  TEST_CASE("each candidate is told why it may not have the pod") {
    facts f = example();
    CHECK(why(f, 2) == "its zone has 2 of the ReplicaSet's pods, and others have 0");
    CHECK(why(f, without_area) == "it has no label that says its zone");
    CHECK(why(f, control_plane) == "it is of the control plane, which the pod does not tolerate");
    f.kind = area_kind::node;
    CHECK(why(f, 1) == "it has 1 of the ReplicaSet's pods, and other nodes have 0");
  }
}

}  // namespace spread_facts_test
