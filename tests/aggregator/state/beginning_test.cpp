#include "aggregator/state/beginning.hpp"

#include "aggregator/replicas/state_route.hpp"
#include "aggregator/snapshot/kept_state.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

namespace binnacle::beginning_test {

using namespace std::chrono_literals;
using namespace aggregator;
using origin = beginning::origin;

namespace {

const clocks now{.boot_id = "b",
                 .boot = instant{10h},
                 .wall = std::chrono::system_clock::time_point(std::chrono::hours(400'000))};

snapshot taken_before(duration age) {
  snapshot s;
  s.boot_id = now.boot_id;
  s.taken = now.boot - age;
  s.taken_wall = now.wall - age;
  return s;
}

}  // namespace

TEST_SUITE("aggregator/state/beginning") {
  TEST_CASE("a replica goes on from what another one gave first, and from its own file beside it") {
    CHECK(states_to_go_on_from(std::nullopt, std::nullopt, now).empty());
    const auto of_file = states_to_go_on_from(std::nullopt, taken_before(1min), now);
    REQUIRE(of_file.size() == 1);
    CHECK(of_file[0].all.taken == now.boot - 1min);
    CHECK(of_file[0].shift == 0s);
    CHECK(of_file[0].is_dated);
    CHECK(states_to_go_on_from(taken_before(1s), std::nullopt, now).size() == 1);
    const auto both = states_to_go_on_from(taken_before(1s), taken_before(1min), now);
    REQUIRE(both.size() == 2);
    CHECK(both[0].all.taken == now.boot - 1s);
    CHECK(both[1].all.taken == now.boot - 1min);
  }

  TEST_CASE("a file that another boot wrote later than it is now has no age, and is no excuse to trust it") {
    snapshot future = taken_before(0s);
    future.boot_id = "of another boot";
    future.taken_wall = now.wall + 1h;
    const auto states = states_to_go_on_from(taken_before(1s), future, now);
    REQUIRE(states.size() == 2);
    CHECK(states[0].is_dated);
    CHECK_FALSE(states[1].is_dated);
    future.taken_wall = now.wall + 500ms;
    CHECK_MESSAGE(states_to_go_on_from(std::nullopt, future, now).at(0).is_dated,
                  "the clock was corrected by less than a second");
    // A replica's answer was taken a moment ago, though the wall clock was set back while it came.
    snapshot given = future;
    given.taken_wall = now.wall + 1h;
    CHECK(states_to_go_on_from(given, std::nullopt, now).at(0).is_dated);
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
    CHECK(worth_of(b, 1min + 1s, true) == replicas::worth::full);
  }

  TEST_CASE("a replica that began with nothing has nothing to give for as long as no agent comes to it") {
    const beginning b{.is_decided = true};
    CHECK(worth_of(b, 61s, false) == replicas::worth::nothing);
    CHECK(worth_of(b, 168h, false) == replicas::worth::nothing);
  }
}

}  // namespace binnacle::beginning_test
