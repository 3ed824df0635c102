#include "aggregator/ingest/handshake_rate.hpp"

#include "aggregator/core/reading_shares.hpp"

#include <doctest/doctest.h>

namespace handshake_rate_test {

using namespace binnacle;
using namespace binnacle::ingest;
using namespace std::chrono_literals;

constexpr handshake_rate::bounds bounds;

/// A period in which agents waited for their handshake, and most of the handshakes that began ended with a
/// welcome.
handshake_rate::measurement agents_come(double load, duration lateness = 1ms) {
  return {.load = load, .lateness = lateness, .begun = 60, .welcomed = 55, .kept_waiting = true};
}
handshake_rate::measurement strangers_come(double load) {
  return {.load = load, .lateness = 1ms, .begun = 60, .welcomed = 0, .kept_waiting = true};
}
double after(handshake_rate& rate, int periods, const handshake_rate::measurement& m) {
  for (int i = 0; i < periods; ++i) rate.measured(m);
  return rate.per_second();
}

TEST_SUITE("aggregator/ingest/handshake_rate") {
  TEST_CASE("a loop that has time takes more agents, up to a bound") {
    handshake_rate rate(bounds);
    CHECK(rate.per_second() == bounds.usual);
    CHECK(after(rate, 1, agents_come(0.2)) == bounds.usual + handshake_rate::step);
    CHECK(after(rate, 4, agents_come(0.2)) == bounds.usual + 5 * handshake_rate::step);
    CHECK(after(rate, 100, agents_come(0.2)) == bounds.most);
  }

  TEST_CASE("a busy loop takes fewer, but never none, and more again when it has time") {
    handshake_rate rate(bounds);
    CHECK(after(rate, 1, agents_come(0.9)) == bounds.usual * handshake_rate::part);
    CHECK(after(rate, 100, agents_come(0.9)) == bounds.least);
    CHECK(after(rate, 100, agents_come(0.68)) == bounds.least);  // between the two marks the rate stays
    CHECK(after(rate, 1, agents_come(0.2)) == bounds.least + handshake_rate::step);
    CHECK(after(rate, 100, agents_come(0.2)) == bounds.most);
  }

  TEST_CASE("a loop that is late takes no more than usual, and no fewer: the CPU was not its own") {
    handshake_rate rate(bounds);
    CHECK(after(rate, 100, agents_come(0.1, 100ms)) == bounds.usual);
    after(rate, 100, agents_come(0.1));
    CHECK(after(rate, 1, agents_come(0.1, 100ms)) == bounds.most * handshake_rate::part);
    CHECK(after(rate, 100, agents_come(0.1, 100ms)) == bounds.usual);
  }

  TEST_CASE("the rate stays where nobody waits for it") {
    handshake_rate rate(bounds);
    handshake_rate::measurement slow_peers = agents_come(0.1);
    slow_peers.kept_waiting = false;
    CHECK(after(rate, 100, slow_peers) == bounds.usual);
  }

  TEST_CASE("a crowd of strangers gets no more than the usual rate, however idle the loop is") {
    handshake_rate rate(bounds);
    CHECK(after(rate, 100, strangers_come(0.1)) == bounds.usual);
    // A storm of agents raised the rate. The crowd that follows does not keep it raised.
    after(rate, 100, agents_come(0.1));
    CHECK(after(rate, 30, strangers_come(0.1)) == bounds.usual);
    // A few agents in the crowd do not raise the rate, either.
    handshake_rate::measurement mixed = strangers_come(0.1);
    mixed.welcomed = 20;
    CHECK(after(rate, 100, mixed) == bounds.usual);
  }

  TEST_CASE("a crowd of strangers on a busy loop gets less than the usual rate") {
    handshake_rate rate(bounds);
    CHECK(after(rate, 100, strangers_come(0.9)) == bounds.least);
    CHECK(after(rate, 100, strangers_come(0.1)) == bounds.usual);
  }

  TEST_CASE("agents that come do not make the loop so busy that what is there is read less often") {
    CHECK(handshake_rate::busy < aggregator::reading_budget::busy);
  }

  TEST_CASE("a loop whose load follows the rate ends between the two marks") {
    // The load: 13 % for agents that stream, and 0.8 ms for each handshake.
    handshake_rate rate(bounds);
    double load = 0;
    for (int i = 0; i < 200; ++i) {
      load = 0.13 + rate.per_second() * 0.0008;
      rate.measured(agents_come(load));
      CAPTURE(i);
      CHECK(load < handshake_rate::busy + handshake_rate::step * 0.0008);
    }
    CHECK(load > 0.4);
  }
}

TEST_SUITE("aggregator/ingest/handshake_budget") {
  TEST_CASE("handshakes begin at the rate, after a short burst") {
    const instant start(1h);
    handshake_budget b(200, start);
    const auto begin_all = [&](instant now) {
      int taken = 0;
      for (; b.allows(now); ++taken) b.take(now);
      return taken;
    };
    int taken = 0;
    for (instant now = start; now < start + 1s; now += 1ms) taken += begin_all(now);
    CHECK(taken == 200);
    CHECK(begin_all(start + 10s) == 11);
    CHECK(b.next() > start + 10s);
    CHECK(b.next() <= start + 10s + 5ms);
  }

  TEST_CASE("a new rate counts from the next handshake on") {
    const instant start = instant() + 1h;
    handshake_budget budget(100, start);
    CHECK(budget.allows(start));
    budget.take(start);
    budget.set_rate(1000);
    CHECK(budget.allows(start + 10ms));
    budget.take(start + 10ms);
    CHECK(budget.next() == start + 11ms);
  }
}

}  // namespace handshake_rate_test
