#include "agent/ipmi/read_schedule.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace std::chrono_literals;

namespace {

instant at(duration since) { return instant(1h) + since; }

// A simulated BMC that takes `cost(key, now)` for each reading. The schedule asks it for a given time.
struct bmc_time {
  read_schedule& by;
  instant now = at(0s);
  duration busy{};
  std::map<std::string, int> reads;

  template <class Cost>
  void run(duration span, Cost cost) {
    const auto end = now + span;
    for (auto turn = by.next(); turn && turn->at < end; turn = by.next()) {
      now = std::max(now, turn->at);
      const auto started = now;
      now += cost(turn->key);
      busy += now - started;
      ++reads[turn->key];
      by.done(turn->key, started, now, true);
    }
    now = std::max(now, end);
  }
};

std::vector<read_schedule::wish> sensors(int count, duration period) {
  std::vector<read_schedule::wish> all;
  for (int i = 0; i < count; ++i) all.push_back({"s" + std::to_string(i), period, false});
  return all;
}

}  // namespace

TEST_SUITE_BEGIN("agent/ipmi/read_schedule");

TEST_CASE("a fast BMC is read at the wanted periods") {
  read_schedule s;
  s.set(sensors(12, 1s), 0.05, at(0s));
  bmc_time bmc{s};
  bmc.run(100s, [](const auto&) { return 1ms; });
  CHECK(bmc.reads.size() == 12);
  for (const auto& sensor : bmc.reads) {
    CAPTURE(sensor.first);
    CHECK(sensor.second >= 99);
    CHECK(sensor.second <= 101);
  }
  CHECK(s.periods_ms().at("s7") == 1000);
}

TEST_CASE(
    "short readings follow each other at once, up to ten milliseconds of the BMC's time, then it rests for "
    "all") {
  read_schedule s;
  s.set(sensors(12, 1s), 0.05, at(0s));
  auto now = at(0s);
  const auto read = [&](duration took) {
    const auto turn = s.next().value();
    now = std::max(now, turn.at);
    s.done(turn.key, now, now + took, true);
    now += took;
    return s.next()->at - now;  // how long the next reading has to wait
  };
  SUBCASE("short ones") {
    duration run = 2ms;
    for (; read(2ms) <= 0ns; run += 2ms) REQUIRE(run <= 12ms);
    CHECK(run >= 10ms);
    // A sixth of the budget is kept back, so 1/24 of the BMC's time is used.
    const auto rest = s.next()->at - now;
    CHECK(rest > 23 * run - run);
    CHECK(rest <= 23 * run);
  }
  SUBCASE("long ones") {
    CHECK(read(30ms) == 23 * 30ms);
    CHECK(read(30ms) == 23 * 30ms);
  }
}

TEST_CASE("a slow BMC never spends more than the budget, and every sensor still has its turn") {
  for (const double budget : {0.05, 0.01, 0.2}) {
    CAPTURE(budget);
    read_schedule s;
    s.set(sensors(40, 1s), budget, at(0s));
    bmc_time bmc{s};
    bmc.run(600s, [](const auto& key) { return key == "s3" ? 400ms : 30ms; });
    CHECK(static_cast<double>(bmc.busy.count()) <= budget * 600e9 + 400e6);
    CHECK(static_cast<double>(bmc.busy.count()) >= 0.75 * budget * 600e9);
    CHECK(bmc.reads.size() == 40);
    CHECK(s.busy_ratio(bmc.now) <= budget * 1.15);
    CHECK(s.busy_ratio(bmc.now) >= budget * 0.3);
  }
}

TEST_CASE("the budget holds over any minute also while latencies jump") {
  read_schedule s;
  s.set(sensors(20, 1s), 0.05, at(0s));
  bmc_time bmc{s};
  int n = 0;
  for (int minute = 0; minute < 20; ++minute) {
    const auto before = bmc.busy;
    bmc.run(60s, [&](const auto&) { return ++n % 17 == 0 ? duration(900ms) : duration(2ms); });
    CAPTURE(minute);
    // A reading may begin at the end of a minute whose budget is used up.
    CHECK(bmc.busy - before <= 3s + 900ms);
  }
}

TEST_CASE("one slow reading among fast ones costs nobody his turn") {
  read_schedule s;
  s.set(sensors(12, 1s), 0.05, at(0s));
  bmc_time bmc{s};
  int n = 0;
  bmc.run(100s, [&](const auto&) { return ++n % 240 == 0 ? duration(400ms) : duration(1ms); });
  for (const auto& [key, reads] : bmc.reads) CHECK(reads >= 95);
}

TEST_CASE("sensors that somebody waits for come first, and the others keep a quarter") {
  read_schedule s;
  auto wishes = sensors(10, 1s);
  wishes[0].waited_for = true;
  wishes[0].period = 200ms;
  s.set(wishes, 0.05, at(0s));
  bmc_time bmc{s};
  bmc.run(60s, [](const auto&) { return 20ms; });  // learn the costs
  bmc.reads.clear();
  const auto before = bmc.busy;
  bmc.run(600s, [](const auto&) { return 20ms; });
  // 20 ms at 5 Hz would take a tenth of the BMC's time. Three quarters of five sixths of 5 % allow 1.6 Hz.
  CHECK(bmc.reads["s0"] >= 850);
  CHECK(bmc.reads["s0"] <= 1000);
  CHECK(s.periods_ms().at("s0") == 640);
  for (int i = 1; i < 10; ++i) CHECK(bmc.reads["s" + std::to_string(i)] >= 30);
  CHECK(static_cast<double>((bmc.busy - before).count()) <= 0.0505 * 600e9);
}

TEST_CASE("interest within the budget costs the others nothing") {
  read_schedule s;
  auto wishes = sensors(5, 1s);
  wishes[2] = {"s2", 200ms, true};
  s.set(wishes, 0.05, at(0s));
  bmc_time bmc{s};
  bmc.run(100s, [](const auto&) { return 1ms; });
  CHECK(bmc.reads["s2"] >= 490);
  CHECK(bmc.reads["s1"] >= 99);
}

TEST_CASE("a sensor without a value is asked less often until it has one again") {
  read_schedule s;
  s.set(sensors(2, 1s), 0.05, at(0s));
  auto now = at(0s);
  for (int i = 0; i < 3; ++i) s.done("s0", now, now + 1ms, false);
  CHECK(s.periods_ms().at("s0") == 10'000);
  CHECK(s.periods_ms().at("s1") == 1'000);
  s.done("s0", now, now + 1ms, true);
  CHECK(s.periods_ms().at("s0") == 1'000);
}

TEST_CASE("an unanswered reading lets the others go first, and comes more and more seldom until answered") {
  read_schedule s;
  s.set(sensors(3, 1s), 0.05, at(0s));
  REQUIRE(s.next()->key == "s0");
  s.unanswered("s0", at(5s));
  s.set(sensors(3, 1s), 0.05, at(6s));  // the link is open again
  CHECK(s.next()->key == "s1");
  s.done("s1", at(6s), at(6s) + 1ms, true);
  CHECK(s.next()->key == "s2");
  CHECK(s.periods_ms().at("s0") == 1'000);  // once may be a failure of the whole BMC
  s.unanswered("s0", at(10s));
  CHECK(s.periods_ms().at("s0") == 2'000);
  s.unanswered("s0", at(20s));
  CHECK(s.periods_ms().at("s0") == 4'000);
  for (int i = 0; i < 40; ++i) s.unanswered("s0", at(20s));
  CHECK(s.periods_ms().at("s0") == 512'000);
  CHECK(s.periods_ms().at("s1") == 1'000);
  s.done("s0", at(600s), at(600s) + 1ms, true);
  CHECK(s.periods_ms().at("s0") == 1'000);
}

TEST_CASE("no budget makes the pause of an unanswered sensor longer, and its time is not the others'") {
  read_schedule s;
  s.set(sensors(200, 1s), 0.05, at(0s));
  for (int i = 0; i < 200; ++i) s.done("s" + std::to_string(i), at(0s), at(20ms), true);
  const auto before = s.periods_ms();
  REQUIRE(before.at("s0") > 10'000);
  for (int i = 0; i < 10; ++i) s.unanswered("s0", at(20s));
  CHECK(s.periods_ms().at("s0") == 512'000);
  CHECK(s.periods_ms().at("s1") <= before.at("s1"));
}

TEST_CASE("a new choice of sensors keeps what was learnt, and a shorter period takes effect at once") {
  read_schedule s;
  s.set(sensors(1, 1h), 0.05, at(0s));
  REQUIRE(s.next()->at == at(0s));
  s.done("s0", at(0s), at(10ms), true);
  CHECK(s.next()->at >= at(3599s));
  s.set(sensors(1, 1s), 0.05, at(5s));
  CHECK(s.next()->at == at(6s));
  CHECK(s.periods_ms().at("s0") == 1000);
  s.set({}, 0.05, at(6s));
  CHECK_FALSE(s.next());
  CHECK(s.periods_ms().empty());
}

TEST_CASE("a change of the plan is one worth telling") {
  read_schedule s;
  s.set(sensors(10, 1s), 0.05, at(0s));
  const auto told = s.periods_ms();
  CHECK_FALSE(s.differs_from(told));
  for (int i = 0; i < 10; ++i) s.done("s" + std::to_string(i), at(0s), at(5ms), true);
  CHECK_FALSE(s.differs_from(told));
  for (int n = 0; n < 5; ++n) s.done("s1", at(0s), at(90ms), true);
  CHECK(s.differs_from(told));
  s.set(sensors(11, 1s), 0.05, at(0s));
  CHECK(s.differs_from(told));
}

TEST_SUITE_END();
