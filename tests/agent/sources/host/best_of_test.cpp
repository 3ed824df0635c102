#include "agent/sources/host/best_of.hpp"

#include <doctest/doctest.h>

#include <array>

namespace best_of_test {

using namespace binnacle;
using namespace std::chrono_literals;
using agent::best_of;
using agent::contender;

namespace {

/// Two ways, the better one first. A way that is there is read at every step.
struct bench {
  best_of choice;
  instant now{1h};

  std::optional<std::size_t> step(bool better, bool other) {
    now += 1s;
    std::array<contender, 2> all;
    if (better) all[0] = {decimal{200, 0}, now, 10s, absence::none};
    if (other) all[1] = {decimal{180, 0}, now, 10s, absence::none};
    return choice.choose(all, now);
  }
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/host/best_of");

TEST_CASE("the best way that is there is taken") {
  bench b;
  CHECK_FALSE(b.step(false, false).has_value());
  SUBCASE("both") { CHECK(b.step(true, true) == 0u); }
  SUBCASE("the better one") { CHECK(b.step(true, false) == 0u); }
  SUBCASE("the other one") { CHECK(b.step(false, true) == 1u); }
}

TEST_CASE("a way without a value is kept until its last one is stale") {
  bench b;
  CHECK(b.step(true, true) == 0u);
  for (int i = 0; i < 9; ++i) CHECK(b.step(false, true) == 0u);
  CHECK(b.step(false, true) == 1u);
}

TEST_CASE("a better way is taken when it has been there for its stale-after without a break") {
  bench b;
  CHECK(b.step(false, true) == 1u);
  for (int i = 0; i < 10; ++i) CHECK(b.step(true, true) == 1u);
  SUBCASE("it stays") { CHECK(b.step(true, true) == 0u); }
  SUBCASE("it breaks off and starts anew") {
    CHECK(b.step(false, true) == 1u);
    for (int i = 0; i < 10; ++i) CHECK(b.step(true, true) == 1u);
    CHECK(b.step(true, true) == 0u);
  }
}

TEST_CASE("a way that comes and goes every few seconds changes nothing") {
  bench b;
  CHECK(b.step(true, true) == 0u);
  for (int i = 0; i < 100; ++i) CHECK(b.step(i % 5 == 0, true) == 0u);
  bench c;
  CHECK(c.step(false, true) == 1u);
  for (int i = 0; i < 100; ++i) CHECK(c.step(i % 5 != 0, true) == 1u);
}

TEST_CASE("a way that measures less never replaces one that counted, and one that measures as much does") {
  best_of choice;
  instant now{1h};
  const auto step = [&](bool wall, bool board, bool cpu) {
    now += 1s;
    std::array<contender, 3> all;
    if (wall) all[0] = {.value = decimal{300, 0}, .read_at = now, .stale_after = 10s, .reach = 1};
    if (board) all[1] = {.value = decimal{290, 0}, .read_at = now, .stale_after = 10s, .reach = 1};
    if (cpu) all[2] = {.value = decimal{180, 0}, .read_at = now, .stale_after = 10s, .reach = 0};
    return choice.choose(all, now);
  };
  CHECK(step(false, false, true) == 2u);  // used until a way that measures more has a value
  for (int i = 0; i < 11; ++i) step(true, true, true);
  CHECK(step(true, true, true) == 0u);
  for (int i = 0; i < 9; ++i) CHECK(step(false, true, true) == 0u);
  CHECK(step(false, true, true) == 1u);
  for (int i = 0; i < 9; ++i) CHECK(step(false, false, true) == 1u);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(step(false, false, true).has_value());
  CHECK(step(false, true, true) == 1u);
}

TEST_CASE("a way in doubt stays if it is used, but none begins with it") {
  best_of choice;
  instant now{1h};
  const auto step = [&](bool wall, bool board, bool doubt_board) {
    now += 1s;
    std::array<contender, 3> all;
    if (wall) all[0] = {.value = decimal{300, 0}, .read_at = now, .stale_after = 10s, .reach = 1};
    if (board)
      all[1] = {
          .value = decimal{190, 0}, .read_at = now, .stale_after = 10s, .in_doubt = doubt_board, .reach = 1};
    all[2] = {.value = decimal{250, 0}, .read_at = now, .stale_after = 10s, .reach = 0};
    return choice.choose(all, now);
  };
  SUBCASE("it is used") {
    CHECK(step(false, true, false) == 1u);
    CHECK(step(false, true, true) == 1u);
  }
  SUBCASE("the one that is used goes") {
    CHECK(step(true, true, false) == 0u);
    for (int i = 0; i < 9; ++i) CHECK(step(false, true, true) == 0u);
    CHECK_FALSE(step(false, true, true).has_value());
    CHECK(step(false, true, false) == 1u);
  }
  SUBCASE("at the start: the lesser one waits until the doubt is over") {
    CHECK_FALSE(step(false, true, true).has_value());
    CHECK(choice.waits());
    CHECK(step(false, false, false) == 2u);
  }
}

TEST_CASE("a way that measures less waits for one that is awaited, for so long and only at the start") {
  best_of choice(60s);
  instant now{1h};
  const auto step = [&](bool wall, bool awaited, bool cpu) {
    now += 1s;
    std::array<contender, 2> all;
    if (wall) all[0].value = decimal{300, 0};
    all[0].read_at = now;
    all[0].stale_after = 10s;
    all[0].awaited = awaited;
    all[0].reach = 1;
    if (cpu) all[1] = {.value = decimal{180, 0}, .read_at = now, .stale_after = 10s};
    return choice.choose(all, now);
  };
  CHECK_FALSE(step(false, true, true).has_value());
  CHECK(choice.waits());
  SUBCASE("it comes") {
    CHECK(step(true, false, true) == 0u);
    CHECK_FALSE(choice.waits());
  }
  SUBCASE("it is no longer awaited") { CHECK(step(false, false, true) == 1u); }
  SUBCASE("it does not come") {
    for (int i = 0; i < 59; ++i) CHECK_FALSE(step(false, true, true).has_value());
    CHECK(step(false, true, true) == 1u);
    CHECK(choice.began());
  }
  SUBCASE("it is awaited when another counts already") {
    CHECK(step(false, false, true) == 1u);
    CHECK(step(false, true, true) == 1u);
  }
}

TEST_CASE("a way that measures less waits for one that settles, however long, but only at the start") {
  best_of choice(60s);
  instant now{1h};
  const auto step = [&](bool settles) {
    now += 1s;
    std::array<contender, 2> all;
    all[0].awaited = true;
    all[0].settles = settles;
    all[0].reach = 1;
    all[1] = {.value = decimal{180, 0}, .read_at = now, .stale_after = 10s};
    return choice.choose(all, now);
  };
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(step(true).has_value());
    CHECK(choice.waits());
  }
  CHECK(step(false) == 1u);
  CHECK(step(true) == 1u);
}

TEST_CASE("when the last way has no value any more there is none") {
  bench b;
  CHECK(b.step(true, false) == 0u);
  for (int i = 0; i < 9; ++i) CHECK(b.step(false, false) == 0u);
  CHECK_FALSE(b.step(false, false).has_value());
}

TEST_SUITE_END();

}  // namespace best_of_test
