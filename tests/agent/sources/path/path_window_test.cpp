#include "agent/sources/path/path_window.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace path_window_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

TEST_SUITE("agent/sources/path/window") {
  TEST_CASE("nothing sent is nothing known") {
    const auto s = path_window(10s).summarize();
    CHECK(s.sent == 0);
    CHECK(!s.answered());
    CHECK(!s.has_jitter());
  }

  TEST_CASE("round trip is the mean of the answered, jitter of their differences, loss the rest") {
    path_window w(10s);
    auto now = instant(1h);
    w.add(now += 1s, 10ms);
    CHECK(!w.summarize().has_jitter());
    w.add(now += 1s, 20ms);
    w.add(now += 1s, std::nullopt);
    w.add(now += 1s, 12ms);
    const auto s = w.summarize();
    CHECK(s.sent == 4);
    CHECK(s.lost == 1);
    CHECK(s.round_trip == 14ms);
    CHECK(s.jitter == 9ms);  // (10 + 8) / 2: a lost probe is left out of the differences
  }

  TEST_CASE("what is older than the window does not count") {
    path_window w(10s);
    auto now = instant(1h);
    for (int i = 0; i < 10; ++i) w.add(now += 1s, std::nullopt);
    CHECK(w.summarize().lost == 10);
    for (int i = 0; i < 10; ++i) w.add(now += 1s, 5ms);
    CHECK(w.summarize().sent == 10);
    CHECK(w.summarize().lost == 0);
    w.add(now += 1h, 7ms);
    CHECK(w.summarize().sent == 1);
    CHECK(w.summarize().round_trip == 7ms);
  }
}

}  // namespace

}  // namespace path_window_test
