#include "agent/sources/rapl/energy_meter.hpp"

#include "tests/agent/support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <random>

namespace energy_meter_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;
using binnacle::absence;

namespace {

constexpr std::uint64_t range = 262'143'328'850;  // µJ, the range of a server's package
constexpr energy_meter::limits package{range, 820};
constexpr energy_meter::limits must_move{range, 820, 10s};

instant at(duration since) { return instant(1h) + since; }

}  // namespace

TEST_SUITE_BEGIN("agent/sources/rapl/energy_meter");

// The old collectd plug-in divided the absolute counter by the uptime, and so published a wrong first point.
TEST_CASE("the first reading has no power and no energy, however large the counter") {
  energy_meter m(package);
  CHECK(m.reason() == absence::not_read_yet);
  m.update(200'000'000'000, at(0s));
  CHECK(m.reason() == absence::not_read_yet);
  CHECK(m.total_uj() == 0);
}

TEST_CASE("power is the energy difference over the time between the reads") {
  energy_meter m(package);
  m.update(1'000'000, at(0s));
  m.update(101'500'000, at(1s));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == doctest::Approx(100.5));
  CHECK(m.total_uj() == 100'500'000);
  m.update(101'500'000 + 40'000'000, at(1200ms));
  CHECK(m.watts() == doctest::Approx(200));
  CHECK(m.total_uj() == 140'500'000);
}

TEST_CASE("a counter that wraps goes on at the same power") {
  energy_meter m(package);
  m.update(range - 50'000'000, at(0s));
  m.update(70'000'000, at(1s));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == doctest::Approx(120));
  CHECK(m.total_uj() == 120'000'000);
}

TEST_CASE("the total goes on over many wraps and never back") {
  energy_meter m(package);
  std::uint64_t truth = range - 3'000'000;
  m.update(truth, at(0s));
  const auto start = truth;
  for (int second = 1; second <= 10'000; ++second) {
    truth += 205'000'000;
    const auto before = m.total_uj();
    m.update(truth % range, at(std::chrono::seconds(second)));
    REQUIRE(m.total_uj() > before);
  }
  CHECK(m.total_uj() == truth - start);
}

// The old plug-in forgot its state when two reads were 60 s apart, and then raised exceptions for ever.
TEST_CASE("a pause in which one wrap is certain at most is bridged, also over 60 s") {
  energy_meter m(package);
  m.update(0, at(0s));
  m.update(100'000'000 * 90ull, at(90s));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == doctest::Approx(100));
  m.update(100'000'000 * 91ull, at(91s));
  CHECK(m.watts() == doctest::Approx(100));
}

TEST_CASE(
    "a pause in which the counter may have wrapped twice is a gap, and power is back with the next reading") {
  energy_meter m(package);
  m.update(0, at(0s));
  m.update(10'000'000,
           at(400s));  // 820 W × 400 s exceeds the range, so nobody knows whether there were 0 or 1 wraps
  CHECK(m.reason() == absence::gap);
  CHECK(m.total_uj() == 0);
  m.update(110'000'000, at(401s));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == doctest::Approx(100));
  CHECK(m.total_uj() == 100'000'000);
}

TEST_CASE("a difference that no package can draw is a reset, not a wrap") {
  energy_meter m(package);
  m.update(150'000'000'000, at(0s));
  SUBCASE("the counter fell to zero") { m.update(5'000'000, at(1s)); }
  SUBCASE("the counter jumped ahead") { m.update(160'000'000'000, at(1s)); }
  CHECK(m.reason() == absence::reset);
  CHECK(m.total_uj() == 0);
  const auto base = *m.last_uj();
  m.update(base + 90'000'000, at(2s));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == doctest::Approx(90));
}

TEST_CASE("a suspend makes a gap, though the counter looks plausible") {
  energy_meter m(package);
  m.update(1'000'000'000, at(0s));
  m.update(1'100'000'000, at(1s));
  m.interrupt();
  CHECK(m.reason() == absence::gap);
  m.update(1'200'000'000, at(100s));
  CHECK(m.reason() == absence::gap);
  CHECK(m.total_uj() == 0);
  m.update(1'300'000'000, at(101s));
  CHECK(m.reason() == absence::none);
  CHECK(m.total_uj() == 100'000'000);
}

// Before, the total went on, and the aggregator's means over a window were about 0 W after a suspend.
TEST_CASE("where energy is left out the total starts again at 0") {
  energy_meter m(must_move);
  std::uint64_t uj = 0;
  duration now = 0s;
  const auto after = [&](duration time, std::uint64_t joules) {
    m.update(uj += joules * 1'000'000, at(now += time));
  };
  for (int i = 0; i <= 100; ++i) after(1s, 80);
  REQUIRE(m.total_uj() == 8'000'000'000);
  SUBCASE("a suspend") {
    m.interrupt();
    after(8h, 80);
  }
  SUBCASE("a reset") {
    uj = 0;
    after(1s, 5);
    CHECK(m.reason() == absence::reset);
  }
  SUBCASE("perhaps a wrap") { after(400s, 80); }
  SUBCASE("a counter that stood still") {
    after(11s, 0);
    CHECK(m.reason() == absence::stands_still);
    after(1s, 80);
  }
  SUBCASE("a counter that is not believed") {
    for (int i = 0; i < 5; ++i) after(1s, 10'000);
    CHECK(m.reason() == absence::implausible);
    for (int i = 0; i < 2; ++i) after(1s, 80);
  }
  CHECK(m.reason() != absence::none);
  CHECK(m.total_uj() == 0);
  after(1s, 80);
  CHECK(m.energy_reason() == absence::none);
  CHECK(m.total_uj() == 80'000'000);
}

TEST_CASE("without a range a fall is a reset and a rise is power") {
  energy_meter m({0, 820});
  m.update(1'000'000'000, at(0s));
  m.update(1'100'000'000, at(1s));
  CHECK(m.watts() == doctest::Approx(100));
  m.update(5, at(2s));
  CHECK(m.reason() == absence::reset);
  m.update(50'000'005, at(3s));
  CHECK(m.watts() == doctest::Approx(50));
}

TEST_CASE("a counter beyond its stated range that falls is a reset") {
  energy_meter m({1000, 820});
  m.update(5000, at(0s));
  m.update(10, at(1s));
  CHECK(m.reason() == absence::reset);
}

// Before, each of its readings was a gap, and below the range it would be one again.
TEST_CASE("a counter beyond its stated range has watts, and after a reset it is not asked to wrap there") {
  energy_meter m({262'143'328, 820});
  std::uint64_t uj = 1'000'000'000;
  for (int second = 0; second <= 3; ++second) {
    m.update(uj += 120'000'000, at(std::chrono::seconds(second)));
    CHECK(m.reason() == (second == 0 ? absence::not_read_yet : absence::none));
  }
  CHECK(m.watts() == doctest::Approx(120));
  m.update(5'000'000, at(4s));
  CHECK(m.reason() == absence::reset);
  m.update(125'000'000, at(5s));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == doctest::Approx(120));
  m.set_range(262'143'328, 820);  // of another driver
  m.update(245'000'000, at(6s));
  CHECK(m.reason() == absence::gap);
}

TEST_CASE("two readings in the same 20 ms count as one") {
  energy_meter m(package);
  m.update(0, at(0s));
  m.update(100'000'000, at(1s));
  m.update(100'000'000, at(1s));
  m.update(101'000'000, at(1010ms));
  CHECK(m.watts() == doctest::Approx(100));
  CHECK(m.total_uj() == 100'000'000);
  m.update(150'000'000, at(1500ms));
  CHECK(m.watts() == doctest::Approx(100));
}

TEST_CASE("a clock that goes back takes no reading") {
  energy_meter m(package);
  m.update(0, at(10s));
  m.update(100'000'000, at(9s));
  CHECK(m.reason() == absence::not_read_yet);
  m.update(100'000'000, at(11s));
  CHECK(m.watts() == doctest::Approx(100));
}

TEST_CASE("a zone that may stand still and does draws nothing, and that is a value") {
  energy_meter m(package);
  m.update(7, at(0s));
  m.update(7, at(1s));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == 0);
  CHECK(m.energy_reason() == absence::none);
}

// Before, the agent said 0 W on a guest with an empty psys, and the node won every placement by lowest watts.
TEST_CASE(
    "a counter that never moves gives neither watts nor joules, at no moment, and is named after 10 s") {
  for (const auto period : {200ms, 1000ms, 3000ms, 60'000ms}) {
    CAPTURE(period.count());
    energy_meter m(must_move);
    for (auto t = 0ms; t < 70s; t += period) {
      m.update(0, at(t));
      CHECK(m.reason() == (t < 10s ? absence::not_read_yet : absence::never_moved));
      CHECK(m.energy_reason() == m.reason());
    }
  }
}

TEST_CASE("a counter that dies keeps its last power for less than a second, then has none, and is named") {
  energy_meter m(must_move);
  m.update(0, at(-1s));
  m.update(1, at(0s));
  m.update(100'000'000, at(1s));
  CHECK(m.watts() == doctest::Approx(100));
  for (auto t = 1200ms; t < 2000ms; t += 200ms) {
    m.update(100'000'000, at(t));
    CHECK(m.reason() == absence::none);
    CHECK(m.watts() == doctest::Approx(100));
  }
  for (auto t = 2000ms; t < 11'000ms; t += 200ms) {
    m.update(100'000'000, at(t));
    CHECK(m.reason() == absence::no_data);
    CHECK(m.energy_reason() == absence::no_data);
  }
  m.update(100'000'000, at(11s));
  CHECK(m.reason() == absence::stands_still);
  CHECK(m.energy_reason() == absence::stands_still);
  SUBCASE("what comes back counts from there, not from when it died") {
    m.update(101'000'000, at(60s));
    CHECK(m.reason() == absence::gap);
    CHECK(m.total_uj() == 0);
    m.update(150'000'000, at(61s));
    CHECK(m.reason() == absence::gap);  // it may have died again
    m.update(230'000'000, at(62s));
    CHECK(m.reason() == absence::none);
    CHECK(m.watts() == doctest::Approx(80));
    CHECK(m.total_uj() == 129'000'000);
    CHECK(m.energy_reason() == absence::none);
  }
  SUBCASE("a suspend says nothing about it") {
    m.interrupt();
    m.update(100'000'000, at(100s));
    CHECK(m.reason() == absence::gap);
    m.update(100'000'000, at(109s));
    CHECK(m.reason() == absence::gap);
    m.update(100'000'000, at(110s));
    CHECK(m.reason() == absence::stands_still);
  }
}

TEST_CASE("a counter that never moved is a value as soon as it has moved twice") {
  energy_meter m(must_move);
  SUBCASE("before it was given up") {
    m.update(5, at(0s));
    m.update(5, at(1s));
    m.update(8'000'005, at(2s));
    CHECK(m.reason() == absence::not_read_yet);
    CHECK(m.energy_reason() == absence::not_read_yet);
    m.update(12'000'005, at(3s));
    CHECK(m.reason() == absence::none);
    CHECK(m.watts() == doctest::Approx(4));
    CHECK(m.total_uj() == 12'000'000);
  }
  SUBCASE("after that, from the next reading on") {
    m.update(5, at(0s));
    m.update(5, at(20s));
    CHECK(m.reason() == absence::never_moved);
    m.update(1'000'005, at(21s));
    CHECK(m.reason() == absence::gap);
    m.update(8'000'005, at(22s));
    CHECK(m.reason() == absence::gap);
    m.update(15'000'005, at(23s));
    CHECK(m.reason() == absence::none);
    CHECK(m.watts() == doctest::Approx(7));
    CHECK(m.energy_reason() == absence::none);
  }
}

// psys of recent servers counts joules, and firmware may bring them late.
TEST_CASE("a counter with large or late steps has the right mean, and never 0 W between them") {
  energy_meter m(must_move);
  std::uint64_t uj = 0;
  m.update(uj, at(0s));
  double joules = 0;
  for (int i = 1; i <= 300; ++i) {
    const auto before = m.total_uj();
    if (i % 15 == 0) uj += 9'000'000;  // 3 W, a step every 3 s, read every 200 ms
    m.update(uj, at(i * 200ms));
    if (m.reason() == absence::none) CHECK(m.watts() == doctest::Approx(3));
    joules += static_cast<double>(m.total_uj() - before) / 1e6;
  }
  CHECK(joules == doctest::Approx(180));
}

// Before, the last mean was too low, and the node looked as if its load had fallen.
TEST_CASE("a counter that dies between two readings says no lower watts at any moment") {
  for (const auto period : {200ms, 1000ms}) {
    for (const double died_at : {0.001, 0.1, 0.5, 0.9, 0.94}) {
      CAPTURE(period.count());
      CAPTURE(died_at);
      energy_meter m(must_move);
      const double step = 100e6 * std::chrono::duration<double>(period).count();  // 100 W
      double uj = 0;
      instant now = at(0s);
      m.update(0, now);
      for (int i = 0; i < 6; ++i) m.update(static_cast<std::uint64_t>(uj += step), now += period);
      uj += step * died_at;
      for (int i = 0; i < 100; ++i) {
        m.update(static_cast<std::uint64_t>(uj), now += period);
        if (m.reason() == absence::none) REQUIRE(m.watts() == doctest::Approx(100));
      }
    }
  }
}

TEST_CASE("watts that fall are told when the counter has moved once more, watts that rise at once") {
  energy_meter m(must_move);
  std::uint64_t uj = 0;
  int second = 0;
  const auto after = [&](double watts) {
    m.update(uj += static_cast<std::uint64_t>(watts * 1e6), at(std::chrono::seconds(++second)));
    return m.reason() == absence::none ? m.watts() : -1;
  };
  m.update(0, at(0s));
  CHECK(after(100) == -1);
  CHECK(after(100) == doctest::Approx(100));
  CHECK(after(60) == doctest::Approx(100));  // the load ended in the middle of the interval
  CHECK(after(20) == doctest::Approx(60));
  CHECK(after(20) == doctest::Approx(20));
  CHECK(after(80) == doctest::Approx(80));
  CHECK(after(77) == doctest::Approx(77));  // a fall of less than RAPL's error is shown at once
  CHECK(after(50) == doctest::Approx(77));
  CHECK(after(90) == doctest::Approx(90));
  CHECK(m.total_uj() == uj);
}

TEST_CASE("a counter in large steps that reads one step less has not fallen") {
  energy_meter m({range, 4000, 10s, 1});  // counts in joules; 36 W read every 200 ms are 7 or 8 of them
  double sum = 0;
  for (int i = 0; i <= 500; ++i) {
    m.update(static_cast<std::uint64_t>(i * 7.2) * 1'000'000, at(i * 200ms));
    if (i > 1) REQUIRE(m.reason() == absence::none);
    if (i > 0) sum += m.watts();
  }
  CHECK(sum / 500 == doctest::Approx(36));
}

TEST_CASE("a counter that falls while it stood still is a reset, and one that wraps goes on") {
  energy_meter m(must_move);
  m.update(range - 3'000'000, at(-1s));
  m.update(range - 2'000'000, at(0s));
  m.update(range - 2'000'000, at(5s));
  SUBCASE("wrap") {
    m.update(8'000'000, at(6s));
    CHECK(m.reason() == absence::none);
    CHECK(m.total_uj() == 11'000'000);
  }
  SUBCASE("reset") {
    m.update(100'000'000'000, at(6s));
    CHECK(m.reason() == absence::reset);
    CHECK(m.energy_reason() == absence::none);
  }
}

// Before, its one jump was power, the node used that psys, and without it had no power for ever.
TEST_CASE("a counter that makes one jump and then stands never counts") {
  for (const auto period : {200ms, 1000ms}) {
    for (const std::uint64_t jump : {3'000'000, 150'000'000}) {
      energy_meter m(must_move);
      for (auto t = 0ms; t < 60s; t += period) {
        m.update(t < 5s ? 7 : 7 + jump, at(t));
        CAPTURE(t.count());
        CHECK(m.reason() == (t < 15s ? absence::not_read_yet : absence::never_moved));
        CHECK(m.energy_reason() == m.reason());
      }
    }
  }
}

TEST_CASE("a counter that always says more watts than there can be is implausible, not reset for ever") {
  energy_meter m(package);
  std::uint64_t uj = 0;
  const auto after = [&](int second, std::uint64_t watts) {
    uj = (uj + watts * 1'000'000) % range;
    m.update(uj, at(std::chrono::seconds(second)));
    return m.reason();
  };
  after(0, 0);
  // 120 W in nJ; the counter wraps at every second or third reading.
  for (int second = 1; second <= 20; ++second) {
    CHECK(after(second, 120'000) == (second < 3 ? absence::reset : absence::implausible));
    CHECK(m.energy_reason() == (second < 3 ? absence::none : absence::implausible));
  }
  CHECK(m.faulty() == energy_meter::fault::too_fast);
  CHECK(m.watts() == doctest::Approx(120'000));
  // Its wraps were falls, the last of them at 16, 18 and 20 s. It is believed when two are left in 30
  // readings.
  for (int second = 21; second <= 45; ++second) CHECK(after(second, 120) == absence::implausible);
  CHECK(m.faulty() == energy_meter::fault::too_fast);
  CHECK(after(46, 120) == absence::none);
  CHECK(m.watts() == doctest::Approx(120));
  CHECK(m.faulty() == energy_meter::fault::none);
  CHECK(after(47, 120'000) == absence::reset);
}

// Before, a single difference that could be true was believed, and some of a number without meaning are.
TEST_CASE("a counter that was implausible is believed after three differences in a row that can be true") {
  energy_meter m({range, 820, 10s});
  std::uint64_t uj = 0;
  int second = 0;
  const auto after = [&](std::uint64_t watts) {
    uj += watts * 1'000'000;
    m.update(uj, at(std::chrono::seconds(++second)));
    return m.reason();
  };
  for (int i = 0; i < 5; ++i) after(10'000);
  CHECK(m.reason() == absence::implausible);
  CHECK(after(100) == absence::implausible);
  CHECK(after(100) == absence::implausible);
  CHECK(after(10'000) == absence::implausible);  // it begins anew
  const auto total = m.total_uj();
  CHECK(after(100) == absence::implausible);
  CHECK(after(100) == absence::implausible);
  CHECK(m.faulty() == energy_meter::fault::too_fast);
  CHECK(m.energy_reason() == absence::implausible);
  CHECK(m.total_uj() == total);
  CHECK(after(100) == absence::none);
  CHECK(m.watts() == doctest::Approx(100));
  CHECK(m.faulty() == energy_meter::fault::none);
  CHECK(m.energy_reason() == absence::none);
  CHECK(m.total_uj() == total + 100'000'000);
}

// Before, a counter that took turns between µJ and mJ gave the mean of an interval with both of them.
TEST_CASE("a counter that said less than there must be is believed after three differences in a row") {
  energy_meter m({range, 820, 10s, 0, 1.6});
  std::uint64_t uj = 0;
  int second = 0;
  const auto after = [&](double watts) {
    uj += static_cast<std::uint64_t>(watts * 1e6);
    m.update(uj, at(std::chrono::seconds(++second)));
    return m.reason();
  };
  for (int i = 0; i < 4; ++i) after(150);
  CHECK(m.reason() == absence::none);
  CHECK(after(31) == absence::none);
  CHECK(m.watts() == doctest::Approx(150));  // that it fell is not known yet
  CHECK(after(0.15) == absence::implausible);
  CHECK(m.faulty() == energy_meter::fault::too_low);
  CHECK(m.watts() == doctest::Approx(0.15));
  CHECK(m.energy_reason() == absence::implausible);
  CHECK(after(17) == absence::implausible);
  CHECK(after(150) == absence::implausible);
  CHECK(after(0.15) == absence::implausible);  // it begins anew
  CHECK(after(17) == absence::implausible);
  CHECK(after(150) == absence::implausible);
  CHECK(m.faulty() == energy_meter::fault::too_low);
  CHECK(after(150) == absence::none);
  CHECK(m.watts() == doctest::Approx(150));
  CHECK(m.total_uj() == 150'000'000);
  CHECK(m.faulty() == energy_meter::fault::none);
}

// Before, every second reading was 50 W, for ever.
TEST_CASE(
    "a counter that falls again and again between rises is implausible, until it has risen for a while") {
  for (const duration still_after : {0s, 10s}) {
    CAPTURE(still_after.count());
    energy_meter m({range, 1500, still_after});
    std::uint64_t uj = 200'000'000'000;
    int valid = 0, second = 0;
    const auto next = [&](int joules) {
      m.update(uj += static_cast<std::uint64_t>(static_cast<std::int64_t>(joules) * 1'000'000),
               at(std::chrono::seconds(second++)));
      if (m.reason() == absence::none) ++valid;
    };
    next(0);
    for (int i = 0; i < 30; ++i) {
      next(50);
      next(-150);
      if (i >= 2) CHECK(m.reason() == absence::implausible);
    }
    CHECK(valid <= 3);
    CHECK(m.faulty() == energy_meter::fault::backwards);
    for (int i = 0; i < 30; ++i) next(50);  // its driver was reloaded
    CHECK(m.reason() == absence::none);
    CHECK(m.watts() == doctest::Approx(50));
    CHECK(m.faulty() == energy_meter::fault::none);
  }
}

// Before, half of the readings of the smaller numbers had watts, and 20 an hour of the larger ones.
TEST_CASE("random numbers are no watts, over the whole range or a part of it") {
  struct row {
    std::uint64_t below;
    double most_watts;
  };
  for (const auto& r : {row{range, 1500}, row{67'000'000, 4000}}) {
    CAPTURE(r.below);
    energy_meter m({range, r.most_watts, 10s});
    std::mt19937_64 random;
    int valid = 0;
    for (int second = 0; second < 3600; ++second) {
      m.update(random() % r.below, at(std::chrono::seconds(second)));
      if (m.reason() == absence::none) ++valid;
    }
    CHECK(valid <= 3);
    CHECK(m.faulty() != energy_meter::fault::none);
  }
}

TEST_CASE("a counter that runs backwards is implausible, with a range and without") {
  for (const std::uint64_t wraps_at : {range, std::uint64_t{0}}) {
    CAPTURE(wraps_at);
    energy_meter m({wraps_at, 820, 10s});
    for (int second = 0; second <= 20; ++second) {
      m.update(200'000'000'000 - static_cast<std::uint64_t>(second) * 100'000'000,
               at(std::chrono::seconds(second)));
      CHECK(m.reason() == (second == 0  ? absence::not_read_yet
                           : second < 3 ? absence::reset
                                        : absence::implausible));
    }
    CHECK(m.faulty() == energy_meter::fault::backwards);
  }
}

TEST_CASE("a counter that may wrap between two readings says so") {
  energy_meter m({500'000'000, 820});
  for (int second = 0; second <= 3; ++second)
    m.update(static_cast<std::uint64_t>(second) * 100'000'000, at(std::chrono::seconds(second)));
  CHECK(m.reason() == absence::gap);
  CHECK(m.faulty() == energy_meter::fault::wraps_unseen);
  m.update(320'000'000, at(3200ms));
  CHECK(m.reason() == absence::none);
  CHECK(m.watts() == doctest::Approx(100));
  CHECK(m.faulty() == energy_meter::fault::none);
}

TEST_SUITE_END();

}  // namespace energy_meter_test
