#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/bench.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::store {

using namespace std::chrono_literals;

namespace {

std::uint32_t wanted_ms(const warehouse& w, std::string_view family) {
  std::chrono::milliseconds shortest{};
  for (const auto& wish : w.wishes()) {
    if (wish.family != family) continue;
    shortest = shortest == shortest.zero() ? wish.period : std::min(shortest, wish.period);
  }
  return static_cast<std::uint32_t>(shortest.count());
}

}  // namespace

TEST_SUITE("aggregator/store/warehouse/columns") {
  TEST_CASE("a watched metric is derived from every batch that touches it") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    CHECK(column.values->load(b.node).reason == absence::not_read_yet);
    b.send_watts(100, 600);
    REQUIRE(b.told.size() == 1);
    CHECK(b.told[0].column == column.id);
    CHECK(b.told[0].node == b.node);
    CHECK(b.told[0].what.value == decimal{1170, -1});
    CHECK(column.values->load(b.node) == b.told[0].what);
  }

  TEST_CASE("a read that changed no value refreshes the age") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    b.send(101);
    CHECK(column.values->load(b.node).value == decimal{1170, -1});
    CHECK(column.values->load(b.node).read_at == at_s(101));
    CHECK(column.values->load(b.node).expires_at == at_s(111));
  }

  TEST_CASE("windows of one metric cost one look at its series, however many they are") {
    bench b;
    std::vector<watched_values> windows{b.store.watch({"rapl_power_watts"}, at_s(99))};
    for (int s = 1; s <= 60; ++s)
      windows.push_back(
          b.store.watch({"rapl_power_watts", std::chrono::seconds(s), statistic::max}, at_s(99)));
    const auto other = b.store.watch({"rapl_power_watts_0"}, at_s(99));
    auto looks = [&b, before = b.store.counters().evaluated]() mutable {
      return b.store.counters().evaluated - std::exchange(before, b.store.counters().evaluated);
    };
    b.send_watts(100, 600);
    CHECK(looks() == 2);
    for (const auto& w : windows) CHECK(w.values->load(b.node).value == decimal{1170, -1});
    CHECK(other.values->load(b.node).value == decimal{600, -1});
    b.send_watts(101, 500);
    CHECK(looks() == 2);
    CHECK(windows[0].values->load(b.node).value == decimal{1070, -1});
    CHECK(windows[60].values->load(b.node).value == decimal{1170, -1});  // the largest of a minute

    // After a new catalog there are two looks, too.
    catalog_builder grown = two_packages();
    grown.made.version = 2;
    grown.group("os").series("os_load1", {}, -2);
    b.catalog = grown;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(102)).has_value());
    CHECK(looks() == 2);
    CHECK(windows[0].values->load(b.node).value == decimal{1070, -1});
  }

  TEST_CASE("when the first of several windows is let go, another metric may take its place") {
    bench b;
    const auto first = b.store.watch({"rapl_power_watts"}, at_s(99));
    const auto second = b.store.watch({"rapl_power_watts", 10s, statistic::max}, at_s(99));
    const auto third = b.store.watch({"rapl_power_watts", 20s, statistic::max}, at_s(99));
    b.store.unwatch(first.id);
    const auto other = b.store.watch({"rapl_power_watts_0"}, at_s(99));
    REQUIRE(other.id == first.id);
    b.send_watts(100, 600);
    CHECK(second.values->load(b.node).value == decimal{1170, -1});
    CHECK(third.values->load(b.node).value == decimal{1170, -1});
    CHECK(other.values->load(b.node).value == decimal{600, -1});
  }

  TEST_CASE("a batch of other groups leaves a column alone") {
    bench b;
    catalog_builder c = two_packages();
    c.group("os").series("os_load1", {}, -2);
    b.catalog = c;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(99)).has_value());
    b.store.watch({"rapl_power_watts"}, at_s(99));
    auto batch = batch_at(b.catalog, at_s(100), {{12, 35}});
    batch.reads.erase(batch.reads.begin());
    REQUIRE(b.store.apply(b.node, batch, 0s, at_s(100)).has_value());
    CHECK(b.told.empty());
  }

  TEST_CASE("an absence in a batch without a read makes the column absent") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    wire::batch failed{.catalog_version = 1, .sent_at_ns = to_ns(at_s(101))};
    failed.absences.push_back({1, absence::malformed});
    REQUIRE(b.store.apply(b.node, failed, 0s, at_s(101)).has_value());
    CHECK(column.values->load(b.node).reason == absence::malformed);
  }

  TEST_CASE("a new column is filled at once from what is there, without calls") {
    bench b;
    b.send_watts(100, 600);
    const auto column = b.store.watch({"rapl_power_watts_0"}, at_s(101));
    CHECK(column.values->load(b.node).value == decimal{600, -1});
    CHECK(b.told.empty());
  }

  TEST_CASE("equal specs share a column until the last user leaves") {
    bench b;
    const auto first = b.store.watch({"rapl_power_watts"}, at_s(99));
    const auto second = b.store.watch({"rapl_power_watts"}, at_s(99));
    const auto other = b.store.watch({"rapl_power_watts", 10s}, at_s(99));
    CHECK(first.id == second.id);
    CHECK(first.values == second.values);
    CHECK(other.id != first.id);
    CHECK(b.store.columns_in_use() == 2);
    b.store.unwatch(first.id);
    b.send_watts(100, 600);
    CHECK(b.told.size() == 2);
    b.store.unwatch(first.id);
    b.store.unwatch(other.id);
    CHECK(b.store.columns_in_use() == 0);
    b.send_watts(101, 601);
    CHECK(b.told.size() == 2);
    // A column whose id was used before has nothing of the old column.
    const auto fresh = b.store.watch({"rapl_energy_joules_total"}, at_s(101));
    CHECK(index(fresh.id) < 2);
    CHECK(fresh.values->spec().metric == "rapl_energy_joules_total");
    CHECK(fresh.values->load(b.node).reason == absence::not_read_yet);
  }

  TEST_CASE("nodes that come later get the columns in use") {
    bench b;
    const auto column = b.store.watch({"mine"}, at_s(99));
    const node_id late = b.store.node("late").value();
    const wire::catalog c = catalog_builder().group("textfile").series("mine");
    REQUIRE(b.store.set_catalog(late, c, at_s(100)).has_value());
    CHECK(column.values->load(late).reason == absence::not_read_yet);
    REQUIRE(b.store.apply(late, batch_at(c, at_s(101), {{0, 7}}), 0s, at_s(101)).has_value());
    CHECK(column.values->load(late).value == decimal{7, 0});
    CHECK(column.values->load(b.node).reason == absence::missing);
  }

  TEST_CASE("when the link is down values stay until they expire and then say so") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    b.store.set_linked(b.node, false, at_s(105));
    const sample s = column.values->load(b.node);
    CHECK(s.present(at_s(109)));
    CHECK(s.absent_because(at_s(110)) == absence::disconnected);
    CHECK(b.store.cells(b.node)->load(0).absent_because(at_s(110)) == absence::disconnected);
    CHECK(b.told.size() == 2);
    b.store.set_linked(b.node, true, at_s(106));
    CHECK(column.values->load(b.node).absent_because(at_s(110)) == absence::stale);
  }

  TEST_CASE("families in use name members, flat names and counters") {
    bench b;
    b.store.watch({"collectd_package_0_power_power"}, at_s(99));
    b.store.watch({"rapl_tdp_utilization_ratio"}, at_s(99));
    b.store.watch({"mine"}, at_s(99));
    b.store.watch({"rapl_zone_power_watts_core_0"}, at_s(99));
    for (const char* name : {"rapl_power_watts", "rapl_zone_power_watts", "rapl_tdp_watts",
                             "rapl_energy_joules_total", "mine"}) {
      CAPTURE(name);
      CHECK(wanted_ms(b.store, name) != 0);
    }
  }

  TEST_CASE("interest asks for watched power five times a second, for long means as often as they need") {
    bench b;
    const auto now = b.store.watch({"rapl_power_watts"}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);
    CHECK(wanted_ms(b.store, "os_load1") == 0);
    b.store.unwatch(now.id);
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 0);
    b.store.watch({"rapl_power_watts", 30s, statistic::avg}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 600);
    const auto peak = b.store.watch({"rapl_power_watts", 10min, statistic::max}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);  // a peak lies between the points of a thin series
    b.store.unwatch(peak.id);
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 600);
    b.store.watch({"os_load1", 10min, statistic::avg}, at_s(99));
    CHECK(wanted_ms(b.store, "os_load1") == 1000);
    // An old name has a window of its own.
    b.store.watch({"collectd_package_0_power_power"}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);
  }

  TEST_CASE("what no series can be called is not wished for") {
    bench b;
    for (const char* name : {"cpu-x", "node-load", "a.b", "-x", "9lives", "5min"})
      b.store.watch({name}, at_s(99));
    CHECK(b.store.wishes().empty());
    b.store.watch({"mine"}, at_s(99));
    CHECK(b.store.wishes().size() == 1);
  }

  TEST_CASE("whoever watches a composite watches what it is made of") {
    bench b;
    b.store.watch({"host_power_watts"}, at_s(99));
    CHECK(wanted_ms(b.store, "host_power_watts") == 200);
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);
    CHECK(wanted_ms(b.store, "bmc_dcmi_power_watts") == 1000);
  }
}

TEST_SUITE("aggregator/store/warehouse/plans") {
  // Once, a catalog of 10,000 series that twenty columns read took 17 ms of the loop.
  TEST_CASE("a new catalog brings its plans along, and taking it compiles none") {
    warehouse w;
    const node_id id = w.node("a").value();
    const auto old = w.watch({"rack_inlet"}, at_s(1));
    const auto stays = w.watch({"rack_fan"}, at_s(1));
    const wire::catalog c =
        catalog_builder().group("textfile").series("rack_inlet", {}).series("rack_fan", {});
    const auto prepare = w.preparation(id);
    std::uint64_t compiled = w.plans_compiled();

    SUBCASE("the columns are the same") {
      REQUIRE(w.set_catalog(id, prepare(c), at_s(1)).has_value());
      CHECK(w.plans_compiled() == compiled);
    }
    SUBCASE("another column has come: its plan alone is compiled") {
      const auto fresh = w.watch({"rack_nothing"}, at_s(1));
      compiled = w.plans_compiled();
      REQUIRE(w.set_catalog(id, prepare(c), at_s(1)).has_value());
      CHECK(w.plans_compiled() == compiled + 1);
      CHECK(fresh.values->load(id).reason == absence::missing);
    }
    SUBCASE("another window of a metric has come: it has the metric's plan") {
      const auto fresh = w.watch({"rack_inlet", 10s}, at_s(1));
      compiled = w.plans_compiled();
      REQUIRE(w.set_catalog(id, prepare(c), at_s(1)).has_value());
      CHECK(w.plans_compiled() == compiled);
      CHECK(fresh.values->load(id).reason == absence::not_read_yet);
    }
    SUBCASE("another column has the id of one that has gone: it gets no plan of that one") {
      w.unwatch(old.id);
      const auto other = w.watch({"rack_nothing"}, at_s(1));
      REQUIRE(other.id == old.id);
      compiled = w.plans_compiled();
      REQUIRE(w.set_catalog(id, prepare(c), at_s(1)).has_value());
      CHECK(w.plans_compiled() == compiled + 1);
      CHECK(other.values->load(id).reason == absence::missing);
    }
    wire::batch b{.catalog_version = c.version, .full = true};
    b.reads = {{0, to_ns(at_s(1))}};
    b.values = {{0, 21}, {1, 900}};
    REQUIRE(w.apply(id, b, 0s, at_s(2)).has_value());
    CHECK(stays.values->load(id).value == decimal{900, 0});
  }
}

TEST_SUITE("aggregator/store/warehouse/families") {
  TEST_CASE("a node that brings a family not seen yet changes the version, another of its kind does not") {
    warehouse w;
    w.watch({"rack_inlet_top"}, at_s(1));
    const auto before = w.interest_version();
    const wire::catalog c = catalog_builder().group("textfile").series("rack_inlet", {{"where", "top"}});
    REQUIRE(w.set_catalog(w.node("a").value(), c, at_s(1)).has_value());
    const auto with = w.interest_version();
    CHECK(with != before);
    CHECK(wanted_ms(w, "rack_inlet") == 1000);
    REQUIRE(w.set_catalog(w.node("b").value(), c, at_s(1)).has_value());
    CHECK(w.interest_version() == with);
  }
}

TEST_SUITE("aggregator/store/warehouse/expiry") {
  TEST_CASE("a maximum goes on with what is there when one of its groups is too old") {
    two_files f;
    CHECK(f.store.next_deadline() == instant::max());
    f.send(100, 0, 30);
    f.send(101, 1, 25);
    f.send(104, 1, 26);
    CHECK(f.column->load(f.node).expires_at == at_s(110));
    CHECK(f.store.next_deadline() == at_s(110));
    f.told.clear();
    f.store.expire(at_s(110));
    REQUIRE(f.told.size() == 1);
    CHECK(f.told[0].what.value == decimal{26, 0});
    CHECK(f.told[0].what.partial);
    CHECK(f.told[0].what.sure == certainty::at_least);
    CHECK(f.told[0].what.expires_at == at_s(114));
    CHECK(f.column->load(f.node) == f.told[0].what);
    // The last member ends as any value does.
    CHECK(f.store.next_deadline() == at_s(114));
    f.store.expire(at_s(114));
    CHECK(f.told.size() == 1);
    CHECK(f.column->load(f.node).absent_because(at_s(114)) == absence::stale);
    CHECK(f.store.next_deadline() == instant::max());
    f.send(120, 0, 31);
    CHECK(f.store.next_deadline() == at_s(130));
  }

  TEST_CASE("values that become older and older leave no more deadlines behind than a bound") {
    two_files f;
    f.send(20'000, 1, 26);
    std::size_t most = 0;
    for (int i = 0; i < 5'000; ++i) {
      wire::batch b{.catalog_version = 1, .sent_at_ns = to_ns(at_s(20'000))};
      b.reads.push_back({0, to_ns(at_s(20'000 - i * 0.001))});
      b.values.push_back({0, 30});
      REQUIRE(f.store.apply(f.node, b, duration::zero(), at_s(20'000)).has_value());
      most = std::max(most, f.store.deadlines_under_way());
    }
    CHECK(most > 1'000);
    CHECK(most < 1'100);
    CHECK(f.store.next_deadline() == f.column->load(f.node).expires_at);
  }

  TEST_CASE("a silent node's maximum ends whole: what was read longer ago does not go on alone") {
    two_files f(60'000);
    f.send(100, 1, 25);
    f.send(104, 0, 30);
    f.told.clear();
    f.store.expire(at_s(114));
    CHECK(f.told.empty());
    CHECK(f.column->load(f.node).value == decimal{30, 0});
    CHECK(f.column->load(f.node).absent_because(at_s(114)) == absence::stale);
    // The first new value counts.
    f.send(120, 1, 26);
    CHECK(f.column->load(f.node).value == decimal{26, 0});
    CHECK(f.column->load(f.node).sure == certainty::at_least);
  }

  TEST_CASE("the stale-after of a column is the longest that nodes have announced for it") {
    two_files f(60'000);
    CHECK(f.store.stale_after(column_id{0}) == 60s);
    CHECK(f.store.stale_after(f.store.watch({"rack_inlet_top"}, at_s(1)).id) == 10s);
    CHECK(f.store.stale_after(f.store.watch({"nobody_has_it"}, at_s(1)).id) == 0s);
  }

  TEST_CASE("a value that was too old when the catalog changed is there for a longer staleAfter") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    const auto mean = b.store.watch({"rapl_power_watts", 30s, statistic::avg}, at_s(99));
    b.send_watts(100, 600);
    b.catalog.version = 2;
    b.catalog.series.push_back({"mine", {}, 0, metrics::kind::gauge, 0, {}});
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(130)).has_value());
    const auto late = b.store.watch({"rapl_power_watts", 60s, statistic::max}, at_s(130));
    for (const auto& c : {column, mean, late}) {
      const sample s = c.values->load(b.node);
      CHECK(s.value == decimal{1170, -1});
      CHECK(s.reason == absence::none);
      CHECK(s.expires_at == at_s(110));
    }
  }

  TEST_CASE("a deadline that new reads have moved tells nobody") {
    two_files f;
    f.send(100, 0, 30);
    f.send(100, 1, 25);
    f.send(108, 0, 30);
    f.send(108, 1, 25);
    f.told.clear();
    f.store.expire(at_s(110));
    CHECK(f.told.empty());
    CHECK(f.store.next_deadline() == at_s(118));
  }

  TEST_CASE("a sum ends with its first member and needs no deadline") {
    bench b;
    b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    CHECK(b.store.next_deadline() == instant::max());
  }

  // Whoever may write a policy can invent names, and each cost a plan at each node with a shape of its own.
  TEST_CASE("a name that a node has nothing of has one plan for all nodes") {
    const shape a = make_shape(catalog_builder().group("x").series("a"), {})->what;
    const shape b = make_shape(catalog_builder().group("x").series("b"), {})->what;
    const auto plan_at = [](const shape& s, const std::string& metric) {
      return make_plans(s, {{1, metric, metrics::alias_table::built_in().resolve(metric)}})
          ->by_column[0]
          .what;
    };
    CHECK(plan_at(a, "invented") == plan_at(b, "invented"));
    CHECK(plan_at(a, "a") != plan_at(b, "a"));
    CHECK(plan_at(a, "a")->known);
    CHECK_MESSAGE(plan_at(a, "package_0_power_power") == plan_at(b, "package_0_power_power"), "an old name");
  }

  TEST_CASE("a deadline of a column that is gone does nothing") {
    two_files f;
    f.send(100, 0, 30);
    f.send(104, 1, 26);
    f.store.unwatch(column_id{0});
    f.told.clear();
    f.store.expire(at_s(200));
    CHECK(f.told.empty());
    CHECK(f.store.next_deadline() == instant::max());
  }
}

}  // namespace binnacle::store
