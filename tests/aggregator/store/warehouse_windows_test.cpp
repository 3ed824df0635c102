#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/bench.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace binnacle::store {

using namespace std::chrono_literals;

TEST_SUITE("aggregator/store/warehouse/windows") {
  TEST_CASE("a window gives the mean of what came, aged like its newest sample") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 10s, statistic::avg}, at_s(99));
    b.send_watts(100, 600);
    CHECK(column.values->load(b.node).value == decimal{600, -1});
    b.send_watts(101, 610);
    b.send_watts(103, 640);
    const sample s = column.values->load(b.node);
    CHECK(s.value == decimal{630, -1});  // (61.0 × 1 s + 64.0 × 2 s) / 3 s
    CHECK(s.read_at == at_s(103));
    CHECK(s.expires_at == at_s(113));
  }

  TEST_CASE("a window says how much of it is not known: at the start, while it fills, and after an outage") {
    bench b;
    const auto top = b.store.watch({"rapl_power_watts_0", 60s, statistic::max}, at_s(99)).values;
    const auto now = b.store.watch({"rapl_power_watts_0"}, at_s(99)).values;
    b.send_watts(100, 600);
    CHECK(top->load(b.node).unknown_percent == 100);
    CHECK(now->load(b.node).unknown_percent == 0);  // no window, nothing to cover
    for (int t = 101; t <= 160; ++t) {
      b.send_watts(t, 600);
      CHECK(top->load(b.node).covers_window() == (t >= 148));
    }
    CHECK(top->load(b.node).unknown_percent == 0);
    b.send_watts(180, 600);  // ten seconds is the stale-after
    CHECK(top->load(b.node).unknown_percent == 34);
    b.send_watts(300, 600);
    CHECK(top->load(b.node).unknown_percent == 100);
  }

  TEST_CASE("an energy counter that goes on through an outage knows the mean of it") {
    bench b;
    const auto mean = b.store.watch({"rapl_power_watts", 60s, statistic::avg}, at_s(99)).values;
    b.send(100, {{0, 0}, {1, 0}, {2, 0}, {5, 1000}, {6, 2000}, {7, 300}});
    b.send(200, {{0, 1}, {1, 1}, {2, 1}, {5, 7000}, {6, 7000}, {7, 1000}});
    CHECK(mean->load(b.node).unknown_percent == 0);
    CHECK(mean->load(b.node).value == decimal{1170, -1});  // 11700 J in 100 s
  }

  TEST_CASE("the energy counters decide once they are fine enough") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts", 20s, statistic::avg}, at_s(99));
    b.send(100, {{0, 0}, {1, 0}, {2, 0}, {5, 1000}, {6, 2000}, {7, 300}});
    b.send(110, {{0, 1}, {1, 1}, {2, 1}, {5, 1600}, {6, 2500}, {7, 371}});
    CHECK(column.values->load(b.node).value == decimal{1171, -1});  // 1171 J in 10 s
  }

  TEST_CASE("an old collectd name carries its ten-second mean, unless the rule gives a window") {
    bench b;
    const auto mean = b.store.watch({"collectd_package_0_power_power"}, at_s(99));
    const auto top = b.store.watch({"collectd_package_0_power_power", 10s, statistic::max}, at_s(99));
    b.send_watts(100, 600);
    b.send_watts(101, 700);
    b.send_watts(102, 500);
    CHECK(mean.values->load(b.node).value == decimal{600, -1});
    CHECK(top.values->load(b.node).value == decimal{700, -1});
  }

  TEST_CASE("one failed read leaves the window's value to age; nothing fresh makes it absent") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 60s, statistic::max}, at_s(99));
    b.send_watts(100, 600);
    const auto fail = [&](double t) {
      auto failed = batch_at(b.catalog, at_s(t));
      failed.absences.push_back({0, absence::timeout});
      REQUIRE(b.store.apply(b.node, failed, 0s, at_s(t)).has_value());
    };
    fail(101);
    CHECK(column.values->load(b.node).value == decimal{600, -1});
    CHECK(column.values->load(b.node).read_at == at_s(100));
    CHECK(column.values->load(b.node).absent_because(at_s(110)) == absence::stale);
    fail(110);
    CHECK(column.values->load(b.node).reason == absence::timeout);
    b.send_watts(111, 500);
    CHECK(column.values->load(b.node).value == decimal{600, -1});  // 60.0 was 11 s ago: still in the window
    b.send_watts(160, 400);
    CHECK(column.values->load(b.node).value == decimal{500, -1});
  }

  TEST_CASE("a trend is absent until there are two points") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 60s, statistic::trend}, at_s(99));
    b.send_watts(100, 600);
    CHECK(column.values->load(b.node).reason == absence::not_read_yet);
    b.send_watts(102, 650);
    CHECK(column.values->load(b.node).value == decimal{25, -1});
  }

  TEST_CASE("a window sees a peak of one member between two reads of another") {
    two_files f(180'000);
    const auto top = f.store.watch({"rack_inlet", 60s, statistic::max}, at_s(1));
    const auto mean = f.store.watch({"rack_inlet", 60s, statistic::avg}, at_s(1));
    f.send(100, 1, 30);
    for (int t = 100; t < 110; ++t) f.send(t, 0, 40);
    for (int t = 110; t < 120; ++t) f.send(t, 0, 90);
    for (int t = 120; t < 130; ++t) f.send(t, 0, 40);
    CHECK(top.values->load(f.node).value == decimal{90, 0});
    CHECK(top.values->load(f.node).read_at == at_s(100));
    CHECK(top.values->stored(f.node).newest_read_at() == at_s(129));
    CHECK(mean.values->load(f.node).value > decimal{50, 0});
  }

  TEST_CASE("a window is as sure as its least sure point") {
    two_files f(180'000);
    const auto top = f.store.watch({"rack_inlet", 10s, statistic::max}, at_s(1));
    const auto trend = f.store.watch({"rack_inlet", 10s, statistic::trend}, at_s(1));
    f.send(100, 0, 40);
    f.send(100, 1, 30);
    CHECK(top.values->load(f.node).sure == certainty::at_least);  // point 1: one of two sensors
    f.send(109, 0, 40);
    CHECK(top.values->load(f.node).sure == certainty::at_least);
    CHECK(trend.values->load(f.node).sure == certainty::unsure);
    f.send(110, 0, 40);
    CHECK(top.values->load(f.node).sure == certainty::exact);
    CHECK(trend.values->load(f.node).sure == certainty::exact);
  }

  TEST_CASE("a member that is too old adds no point, and its return does not fill the hole") {
    bench b;
    catalog_builder two;
    const auto counter = metrics::kind::counter;
    two.group("a")
        .series("load", {{"x", "1"}}, 0, counter)
        .group("b")
        .series("load", {{"x", "2"}}, 0, counter);
    b.catalog = two;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(99)).has_value());
    const auto top = b.store.watch({"load", 60s, statistic::max}, at_s(99));
    b.send(100, {{0, 1}, {1, 2}});
    const auto only_first = [&](double t, std::int64_t value) {
      auto batch = batch_at(b.catalog, at_s(t), {{0, value}});
      batch.reads.resize(1);
      REQUIRE(b.store.apply(b.node, batch, 0s, at_s(t)).has_value());
    };
    only_first(111, 1000);
    CHECK(top.values->load(b.node).absent_because(at_s(111)) == absence::stale);
    b.send(112, {{0, 1}, {1, 2}});
    CHECK(top.values->load(b.node).value == decimal{3, 0});
  }

  TEST_CASE("one read that two batches speak of is one point, also with a fraction of a microsecond") {
    bench b;
    const auto trend = b.store.watch({"rapl_power_watts_0", 60s, statistic::trend}, at_s(99));
    const auto spread = b.store.watch({"rapl_power_watts_0", 60s, statistic::stddev}, at_s(99));
    const auto batch = batch_at(b.catalog, at_s(100), {{0, 600}});
    for (int times = 0; times < 2; ++times) {
      REQUIRE(b.store.apply(b.node, batch, 7ns, at_s(101)).has_value());
      CHECK(trend.values->load(b.node).reason == absence::not_read_yet);
      CHECK(spread.values->load(b.node).reason == absence::not_read_yet);
    }
  }

  TEST_CASE("a percentage's mean is scaled after it is taken") {
    bench b;
    const auto column = b.store.watch({"node_package_power_avg"}, at_s(99));
    b.send(100, {{10, 2000}, {11, 4000}});
    b.send(101, {{10, 2001}, {11, 4002}});
    CHECK(column.values->load(b.node).value == decimal{30015, -3});
  }

  TEST_CASE("a catalog with other counters does not count their difference as energy") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts", 60s, statistic::avg}, at_s(99));
    catalog_builder without = two_packages();
    without.made.series.erase(without.made.series.begin() + 7);
    without.made.series.erase(without.made.series.begin() + 2);
    b.catalog = without;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(99)).has_value());
    b.send(100, {{0, 600}, {1, 500}, {4, 1000}, {5, 1000}});
    b.send(120, {{0, 600}, {1, 500}, {4, 2200}, {5, 2000}});
    CHECK(column.values->load(b.node).value == decimal{1100, -1});
    // DRAM appears, with a million joules on its counter.
    b.catalog = two_packages();
    b.catalog.version = 2;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(121)).has_value());
    b.send(121, {{0, 600}, {1, 500}, {2, 70}, {5, 2260}, {6, 2050}, {7, 1'000'000}});
    CHECK(to_double(column.values->load(b.node).value) < 118);
  }

  TEST_CASE("a clock that went far back starts the window anew, a little leaves out a point") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 10s, statistic::max}, at_s(99));
    b.send_watts(196, 900);
    b.send_watts(195.5, 950);
    CHECK(column.values->load(b.node).value == decimal{900, -1});
    b.send_watts(184, 500);
    CHECK(column.values->load(b.node).value == decimal{500, -1});
    b.send_watts(185, 400);
    CHECK(column.values->load(b.node).value == decimal{500, -1});
  }
}

}  // namespace binnacle::store
