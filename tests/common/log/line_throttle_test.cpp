#include "common/log/line_throttle.hpp"

#include <doctest/doctest.h>

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

TEST_SUITE("common/log/line_throttle") {
  TEST_CASE("as many lines as allowed are said in a span, the others are counted and told once") {
    line_throttle lines(2, 10s);
    const instant start = instant{} + 1h;
    CHECK(lines.left_out(start) == 0);
    CHECK(lines.take(start));
    CHECK(lines.take(start + 9s));
    CHECK_FALSE(lines.take(start + 9s));
    CHECK_FALSE(lines.take(start + 9s));
    CHECK(lines.left_out(start + 9s) == 0);  // the span is not over, so more may be left out
    CHECK(lines.left_out(start + 10s) == 2);
    CHECK(lines.left_out(start + 10s) == 0);
    CHECK(lines.take(start + 10s));
  }

  TEST_CASE("a span begins with its first line, not with the end of the one before") {
    line_throttle lines(1, 10s);
    const instant start = instant{} + 1h;
    CHECK(lines.take(start));
    CHECK(lines.take(start + 15s));
    CHECK_FALSE(lines.take(start + 24s));
    CHECK(lines.take(start + 25s));
  }

  TEST_CASE("what is said anew begins a span of its own") {
    line_throttle lines(1, 10s);
    const instant start = instant{} + 1h;
    CHECK(lines.take(start));
    CHECK_FALSE(lines.take(start + 5s));
    lines.reset();
    CHECK(lines.take(start + 6s));
    CHECK_FALSE(lines.take(start + 15s));
    CHECK(lines.take(start + 16s));
  }
}

}  // namespace
