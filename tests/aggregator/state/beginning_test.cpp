#include "aggregator/state/beginning.hpp"

#include "aggregator/replicas/state_route.hpp"
#include "aggregator/snapshot/snapshot.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace binnacle::beginning_test {

using namespace std::chrono_literals;
using namespace aggregator;
using origin = beginning::origin;

namespace {

const clocks now{.boot_id = "b", .boot = instant{10h}};

snapshot taken_before(duration age) {
  snapshot s;
  s.boot_id = now.boot_id;
  s.taken = now.boot - age;
  return s;
}

}  // namespace

TEST_SUITE("aggregator/state/beginning") {
  TEST_CASE("a replica goes on from the only state there is, and from the younger one of two") {
    const snapshot old = taken_before(1min), fresh = taken_before(1s);
    CHECK(choose_origin(nullptr, nullptr, false, now) == origin::nothing);
    CHECK(choose_origin(&old, nullptr, false, now) == origin::file);
    CHECK(choose_origin(nullptr, &old, false, now) == origin::replica);
    CHECK(choose_origin(&old, &fresh, false, now) == origin::replica);
    CHECK(choose_origin(&fresh, &old, false, now) == origin::file);
    CHECK(choose_origin(&old, &old, false, now) == origin::file);
  }

  TEST_CASE("the state of a replica that has just begun with nothing counts only where there is no file") {
    const snapshot old = taken_before(1min), fresh = taken_before(1s);
    CHECK(choose_origin(nullptr, &fresh, true, now) == origin::replica);
    CHECK(choose_origin(&old, &fresh, true, now) == origin::file);
  }

  TEST_CASE("a replica has nothing to give before it has begun, and afterwards what it began with") {
    beginning b{.is_decided = false};
    CHECK(worth_of(b, 1h, true) == replicas::worth::nothing);
    b = {.is_decided = true, .from = origin::file, .is_young = false};
    CHECK(worth_of(b, 1s, false) == replicas::worth::full);
  }

  TEST_CASE(
      "what a replica learned that began with nothing is young for a minute, and worth nothing before it "
      "judges") {
    const beginning b{.is_decided = true};
    CHECK(worth_of(b, 1s, false) == replicas::worth::nothing);
    CHECK(worth_of(b, 1s, true) == replicas::worth::young);
    CHECK(worth_of(b, 1min, true) == replicas::worth::young);
    CHECK(worth_of(b, 1min + 1s, false) == replicas::worth::full);
  }
}

}  // namespace binnacle::beginning_test
