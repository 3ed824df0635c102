#include "aggregator/store/coverage.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace coverage_test {

using binnacle::store::coverage;

namespace {

constexpr std::int64_t s = 1'000'000;

/// One read a second, from second `from` to second `to`, both included.
void each_second(coverage& c, int from, int to) {
  for (int t = from; t <= to; ++t) c.add(t * s, false);
}

}  // namespace

TEST_SUITE("aggregator/store/coverage") {
  TEST_CASE("a window fills as time passes, and is full after its length") {
    coverage c(60 * s);
    CHECK(c.unknown_percent() == 100);
    c.add(1000 * s, false);
    CHECK_MESSAGE(c.unknown_percent() == 100,
                  "one read covers nothing: nothing is known of the time before it");
    each_second(c, 1001, 1030);
    CHECK(c.unknown_percent() == 50);
    each_second(c, 1031, 1048);
    CHECK(c.unknown_percent() == 20);
    each_second(c, 1049, 1059);
    CHECK(c.unknown_percent() == 2);  // rounded up
    c.add(1060 * s, false);
    CHECK(c.unknown_percent() == 0);
  }

  TEST_CASE("a slow source covers a window: a value stands for the time since the read before it") {
    coverage c(10 * s);
    c.add(1000 * s, false);
    c.add(1030 * s, false);
    CHECK(c.unknown_percent() == 0);
  }

  TEST_CASE("a gap counts while it is inside, as far as it is") {
    coverage c(60 * s);
    each_second(c, 1000, 1060);
    c.add(1075 * s, true);  // fifteen seconds without a value
    CHECK(c.unknown_percent() == 25);
    each_second(c, 1076, 1120);
    CHECK(c.unknown_percent() == 25);  // the gap from 1060 to 1075 is still just inside
    each_second(c, 1121, 1129);
    CHECK(c.unknown_percent() == 10);
    each_second(c, 1130, 1135);
    CHECK(c.unknown_percent() == 0);
  }

  TEST_CASE("a gap longer than the window leaves nothing") {
    coverage c(60 * s);
    each_second(c, 1000, 1060);
    c.add(1500 * s, true);
    CHECK(c.unknown_percent() == 100);
    each_second(c, 1501, 1560);
    CHECK(c.unknown_percent() == 0);
  }

  TEST_CASE("memory is bounded: of too many gaps the two oldest are joined, and coverage is never too high") {
    coverage c(1000 * s);
    each_second(c, 1000, 2000);
    std::int64_t t = 2000;
    for (std::size_t i = 0; i < 3 * coverage::most_gaps; ++i) {
      c.add((t += 5) * s, true);
      c.add((t += 5) * s, false);
    }
    CHECK(c.unknown_percent() == 24);  // 48 gaps of 5 s
    for (int more = 0; more < 1000; more += 5) {
      c.add((t += 5) * s, false);
      CHECK(c.unknown_percent() <= 24);
    }
    CHECK(c.unknown_percent() == 0);
  }

  TEST_CASE("cleared it begins anew") {
    coverage c(10 * s);
    each_second(c, 1000, 1010);
    c.clear();
    CHECK(c.unknown_percent() == 100);
    c.add(5 * s, false);
    CHECK(c.unknown_percent() == 100);
    each_second(c, 6, 15);
    CHECK(c.unknown_percent() == 0);
  }
}

}  // namespace coverage_test
