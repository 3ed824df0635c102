#include "aggregator/policy_pace.hpp"

#include <doctest/doctest.h>

namespace policy_pace_test {
namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

policy_pace after_the_first(instant now) {
  policy_pace pace;
  pace.put_in_force(now, now);
  return pace;
}

TEST_SUITE("aggregator/policy_pace") {
  TEST_CASE("edits without end take a tenth of the loop, however long each takes") {
    for (const duration took : {duration(5ms), duration(300ms), duration(2500ms), duration(5s)}) {
      CAPTURE(human(took));
      const instant began{1h};
      policy_pace pace = after_the_first(began);
      instant now = began;
      duration spent{};
      while (now < began + 1h) {
        REQUIRE(pace.is_due(false, now));
        pace.put_in_force(now, now + took);
        spent += took;
        CHECK_FALSE(pace.is_due(false, now + took));
        now = pace.next();
      }
      CHECK(10 * spent < now - began);
    }
  }

  TEST_CASE("an edit after a usual one is in force within a second") {
    const instant now{1h};
    policy_pace pace = after_the_first(now);
    CHECK(pace.is_due(false, now));
    pace.put_in_force(now, now + 50ms);
    CHECK(pace.is_due(false, now + 550ms));
  }

  TEST_CASE("no pause follows the first time, which brings all policies") {
    policy_pace pace;
    const instant now{1h};
    CHECK(pace.is_due(false, now));
    pace.put_in_force(now, now + 3s);
    CHECK(pace.is_due(false, now + 3s));
  }

  TEST_CASE("while texts wait, what has been read waits a moment for them") {
    const instant now{1h};
    policy_pace pace = after_the_first(now);
    pace.put_in_force(now, now + 1ms);
    CHECK(pace.is_due(false, now + 50ms));
    CHECK_FALSE(pace.is_due(true, now + 50ms));
    CHECK(pace.is_due(true, now + 101ms));
  }

  TEST_CASE("a machine that slept meanwhile does not hold up policies for as long again") {
    const instant now{1h};
    policy_pace pace = after_the_first(now);
    pace.put_in_force(now, now + 10h);
    CHECK(pace.is_due(false, now + 10h + policy_pace::longest_pause));
  }
}

}  // namespace
}  // namespace policy_pace_test
