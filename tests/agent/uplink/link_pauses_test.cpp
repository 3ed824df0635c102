#include "agent/uplink/link_pauses.hpp"

#include <doctest/doctest.h>

#include <random>

namespace link_pauses_test {

using namespace binnacle;
using namespace std::chrono_literals;
using agent::link_pauses;

namespace {

/// The mean pause after this many sessions, each of which lasted this long.
duration mean_pause(int sessions, duration lasted) {
  std::mt19937_64 random(7);
  constexpr int links = 500;
  duration sum{};
  for (int i = 0; i < links; ++i) {
    link_pauses pauses;
    instant now{1h};
    duration pause{};
    for (int s = 0; s < sessions; ++s) {
      pauses.welcomed(now);
      now += lasted;
      pauses.ended(now);
      pause = pauses.next(random, 0s, now, false);
      now += pause;
    }
    sum += pause;
  }
  return sum / links;
}

}  // namespace

TEST_SUITE("agent/uplink/link_pauses") {
  // Before, a catalog that the aggregator refused was sent again every half second, for ever.
  TEST_CASE("sessions that end soon after their welcome are begun less and less often") {
    CHECK(mean_pause(1, 1s) < 1s);
    CHECK(mean_pause(4, 1s) > 3s);
    CHECK(mean_pause(8, 1s) > 12s);
  }

  TEST_CASE("a session that lasted is begun again at once") { CHECK(mean_pause(8, 10s) < 1s); }

  TEST_CASE("an attempt without a welcome is no session that lasted") {
    link_pauses pauses;
    pauses.welcomed(instant{1h});
    CHECK(pauses.ended(instant{2h}));
    CHECK_FALSE(pauses.ended(instant{3h}));
  }

  // Before, links that were refused while a pod was replaced stayed away for up to 30 s, and the new pod
  // served without agents.
  TEST_CASE(
      "one replica that is missing is looked for every few seconds, and after a minute as rarely as all") {
    std::mt19937_64 random(7);
    link_pauses pauses;
    pauses.welcomed(instant{1h});
    instant now{2h};
    pauses.ended(now);
    duration longest{};
    while (now < instant{2h} + link_pauses::soon_for) {
      const duration pause = pauses.next(random, 0s, now, true);
      longest = std::max(longest, pause);
      now += pause;
      pauses.ended(now);
    }
    CHECK(longest <= 4s);
    for (int i = 0; i < 50; ++i) longest = std::max(longest, pauses.next(random, 0s, now, true));
    CHECK(longest > 15s);
  }

  TEST_CASE("the peer's wish to be left alone counts") {
    std::mt19937_64 random(7);
    link_pauses pauses;
    CHECK(pauses.next(random, 30s, instant{1h}, false) >= 30s);
    CHECK(pauses.next(random, 30s, instant{1h}, true) >= 30s);
  }
}

}  // namespace link_pauses_test
