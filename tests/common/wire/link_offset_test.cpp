#include "common/wire/link_offset.hpp"

#include "tests/common/wire/support.hpp"

#include <random>

using namespace binnacle;
using namespace binnacle::wire;
using namespace std::chrono_literals;
using test::start;

TEST_SUITE("common/wire/link_offset") {
  // The agent booted 40 minutes before the aggregator.
  constexpr duration truth = -40min;
  constexpr auto agent_ns = [](instant here) { return to_ns(here - truth); };

  TEST_CASE("the batch that travelled fastest sets the offset") {
    link_offset link;
    link.begin("boot-a");
    CHECK(link.offset() == 0s);
    link.add(agent_ns(start), start + 30ms);
    CHECK(link.offset() == truth + 30ms);
    link.add(agent_ns(start + 1s), start + 1s + 2ms);
    CHECK(link.offset() == truth + 2ms);
    link.add(agent_ns(start + 2s), start + 2s + 90ms);
    CHECK(link.offset() == truth + 2ms);
  }

  TEST_CASE("a fast batch is forgotten after ten minutes, so that drifting clocks are followed") {
    link_offset link;
    link.begin("boot-a");
    link.add(agent_ns(start), start + 1ms);
    instant now = start;
    while (now < start + 9min) {
      now += 1s;
      link.add(agent_ns(now), now + 20ms);
      CHECK(link.offset() == truth + 1ms);
    }
    while (now < start + 11min) {
      now += 1s;
      link.add(agent_ns(now), now + 20ms);
    }
    CHECK(link.offset() == truth + 20ms);
  }

  TEST_CASE("the queue agrees with the plain minimum to within a bucket, and stays short") {
    std::mt19937 random(3);
    link_offset link;
    link.begin("boot-a");
    std::vector<std::pair<instant, duration>> all;
    instant now = start;
    for (int i = 0; i < 5'000; ++i) {
      now += std::chrono::milliseconds(500 + random() % 1'000);
      // Delays that rise and fall slowly, with noise. They make the monotonic queues long.
      const auto delay = std::chrono::microseconds(200 + (i % 1'000) * 50 + static_cast<int>(random() % 300));
      link.add(agent_ns(now - delay), now);
      all.emplace_back(now, truth + delay);
      duration at_least = duration::max(), at_most = duration::max();
      for (const auto& [when, offset] : all) {
        if (when > now - link_offset::window) at_least = std::min(at_least, offset);
        if (when > now - link_offset::window + 2 * link_offset::window / link_offset::buckets)
          at_most = std::min(at_most, offset);
      }
      REQUIRE(link.offset() >= at_least);
      REQUIRE(link.offset() <= at_most);
      REQUIRE(link.entries() <= static_cast<std::size_t>(link_offset::buckets));
    }
  }

  TEST_CASE("on a line that is always full ages are honest: the way to the agent counts, which is not full") {
    link_offset link;
    link.begin("boot-a");
    // A batch needs 3 s for the way back, because it waits behind three seconds of other batches. Without
    // waiting, each way takes 200 ms.
    for (instant now = start; now < start + 30min; now += 1s) {
      link.add(agent_ns(now - 3s), now);
      if ((now - start) % 64s == 0s) link.heard(now - 3s - 200ms, agent_ns(now - 3s), now);
      REQUIRE(link.offset() == truth - 200ms);
    }
    const instant read = start + 30min;
    CHECK(read + 3s - (from_ns(agent_ns(read)) + link.offset()) == 3s + 200ms);
  }

  TEST_CASE("the question that came there fastest counts for ten minutes") {
    link_offset link;
    link.begin("boot-a");
    link.add(agent_ns(start), start + 1s);
    link.heard(start, agent_ns(start + 5ms), start + 1s);
    CHECK(link.offset() == truth - 5ms);
    link.heard(start + 64s, agent_ns(start + 64s + 80ms), start + 65s);
    CHECK(link.offset() == truth - 5ms);
    link.heard(start + 11min, agent_ns(start + 11min + 80ms), start + 11min + 1s);
    CHECK(link.offset() == truth - 80ms);
  }

  TEST_CASE("an agent that claims to have heard what was not sent yet makes no reading younger") {
    link_offset link;
    link.begin("boot-a");
    link.add(agent_ns(start), start + 2ms);
    link.heard(start, agent_ns(start - 1h), start + 2ms);
    CHECK(link.offset() == truth + 2ms);
    link.heard(start, std::numeric_limits<std::int64_t>::max(), start + 2ms);
    CHECK(link.offset() <= truth + 2ms);
  }

  TEST_CASE("an agent's clock that lost time (a stopped machine) ages no value by it for ten minutes") {
    link_offset link;
    link.begin("boot-a");
    instant now = start;
    const auto live = [&](duration lost, duration so_long) {
      for (const instant end = now + so_long; now < end; now += 1s)
        link.add(agent_ns(now) - lost.count(), now + 2ms);
    };
    const auto ask = [&](duration lost) {
      return link.heard(now, agent_ns(now + 1ms) - lost.count(), now + 2ms);
    };
    live(0s, 5min);
    CHECK(ask(0s) == link_offset::agreement::yes);
    CHECK(link.offset() == truth - 1ms);

    constexpr duration lost = 40s;
    // Eight late batches in a row: an answer would tell whether the line is full or a clock lost time.
    bool asks = false;
    for (int i = 0; i < 8; ++i, now += 1s) asks = link.add(agent_ns(now) - lost.count(), now + 2ms);
    CHECK(asks);
    CHECK_FALSE(link.add(agent_ns(now) - lost.count(), now + 2ms));  // add() has asked already
    CHECK(ask(lost) == link_offset::agreement::no);
    CHECK(ask(lost) == link_offset::agreement::restarted);
    live(lost, 3s);
    CHECK(link.offset() == truth + lost - 1ms);
    CHECK(ask(lost) == link_offset::agreement::yes);
    const std::int64_t read = agent_ns(now) - lost.count();
    CHECK(now - (from_ns(read) + link.offset()) <= 2ms);
  }

  TEST_CASE("an agent's clock that jumped ahead is believed at once, and its past is forgotten") {
    link_offset link;
    link.begin("boot-a");
    link.add(agent_ns(start), start + 2ms);
    link.heard(start, agent_ns(start + 1ms), start + 2ms);
    constexpr duration won = 40s;
    link.add(agent_ns(start + 1s) + won.count(), start + 1s + 2ms);
    CHECK(link.offset() == truth - won + 2ms);
    for (int i = 1; i <= link_offset::answers; ++i) {
      const instant at = start + i * 2s;
      CHECK(link.heard(at, agent_ns(at + 1ms) + won.count(), at + 2ms) ==
            (i < link_offset::answers ? link_offset::agreement::no : link_offset::agreement::restarted));
    }
    CHECK(link.offset() == truth - won - 1ms);
  }

  TEST_CASE("a clock that is slewed at 5 % is followed within two answers of a second each") {
    link_offset link;
    link.begin("boot-a");
    duration lost{}, worst{};
    for (instant now = start; now < start + 20min; now += 1s, lost += 50ms) {
      link.add(agent_ns(now) - lost.count(), now + 2ms);
      link.heard(now, agent_ns(now + 1ms) - lost.count(), now + 2ms);
      const std::int64_t read = agent_ns(now) - lost.count();
      worst = std::max<duration>(worst, now - (from_ns(read) + link.offset()));
    }
    CHECK(worst <= 300ms);  // although the clock lost 60 s
  }

  TEST_CASE("one answer that contradicts, a lie or a stumble, changes nothing when the next agrees") {
    link_offset link;
    link.begin("boot-a");
    link.add(agent_ns(start), start + 2ms);
    CHECK(link.heard(start, agent_ns(start - 1h), start + 2ms) == link_offset::agreement::no);
    link.add(agent_ns(start + 11min), start + 11min + 2ms);
    CHECK(link.heard(start + 11min, agent_ns(start + 11min + 1ms), start + 11min + 2ms) ==
          link_offset::agreement::yes);
    CHECK(link.offset() == truth - 1ms);
  }

  TEST_CASE("a new boot id starts again, the same one goes on") {
    link_offset link;
    link.begin("boot-a");
    link.add(agent_ns(start), start + 1ms);
    link.begin("boot-a");
    CHECK(link.offset() == truth + 1ms);
    link.begin("boot-b");
    CHECK(link.entries() == 0);
    link.add(5'000'000, start + 1min);
    CHECK(link.offset() == start + 1min - from_ns(5'000'000));
  }

  TEST_CASE("stamps at the ends of the range do no harm") {
    link_offset link;
    link.begin("boot-a");
    link.add(std::numeric_limits<std::int64_t>::min(), start);
    CHECK(link.entries() == 0);
    link.add(std::numeric_limits<std::int64_t>::max(), start);
    CHECK(link.offset() == start - from_ns(std::numeric_limits<std::int64_t>::max()));
  }
}
