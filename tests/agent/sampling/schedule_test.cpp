#include "agent/sampling/schedule.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace schedule_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

namespace {
instant at(duration since) { return instant(1h) + since; }
}  // namespace

TEST_SUITE_BEGIN("agent/sampling/schedule");

TEST_CASE("ticks stay on the multiples of the period however late each is taken") {
  schedule s(at(0s), 1s);
  for (int k = 0; k < 100; ++k) {
    CHECK(s.next() == at(std::chrono::seconds(k)));
    CHECK(!s.due(at(std::chrono::seconds(k) - 1ns)));
    CHECK(s.take(at(std::chrono::seconds(k) + std::chrono::milliseconds(k * 9))) == 0);
  }
}

TEST_CASE("ticks that went by are counted and left out") {
  schedule s(at(0s), 200ms);
  CHECK(s.take(at(0s)) == 0);
  CHECK(s.take(at(1s)) == 4);
  CHECK(s.next() == at(1200ms));
  CHECK(s.take(at(1100ms)) == 0);  // not due: nothing is taken
  CHECK(s.next() == at(1200ms));
}

TEST_CASE("an hour asleep is one tick and a count") {
  schedule s(at(0s), 1s);
  s.take(at(0s));
  CHECK(s.take(at(1h)) == 3599);
  CHECK(s.next() == at(1h + 1s));
}

TEST_CASE("another period ticks on its own multiples and still meets the others") {
  schedule s(at(0s), 1s);
  s.take(at(0s));
  s.set_period(200ms, at(450ms));
  CHECK(s.next() == at(600ms));
  s.take(at(600ms));
  s.take(at(800ms));
  CHECK(s.next() == at(1s));
  s.take(at(1s));
  s.set_period(1s, at(1100ms));
  CHECK(s.next() == at(1200ms));  // the tick that was to come next still comes
  s.take(at(1200ms));
  CHECK(s.next() == at(2s));
  s.set_period(1s, at(1300ms));
  CHECK(s.next() == at(2s));
}

// Before, each change moved the next tick behind the present moment, also one that was due.
TEST_CASE("a period that changes all the time takes no tick away") {
  schedule s(at(0s), 1s);
  s.take(at(0s));
  s.set_period(300ms, at(950ms));
  CHECK(s.next() == at(1s));
  s.set_period(1s, at(1010ms));  // the tick is due and has not been taken yet
  CHECK(s.next() == at(1s));
  CHECK(s.take(at(1020ms)) == 0);
  int taken = 0;
  for (auto t = 2000ms; t < 7000ms; t += 1ms) {
    s.set_period(t.count() % 2 == 0 ? 300ms : 1000ms, at(t));
    if (!s.due(at(t))) continue;
    s.take(at(t));
    ++taken;
  }
  CHECK(taken >= 5);
}

TEST_SUITE_END();

}  // namespace schedule_test
