#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace binnacle::store {

using namespace std::chrono_literals;

TEST_SUITE("aggregator/store/warehouse/names") {
  TEST_CASE("a user's alias makes a column, scaled") {
    metrics::alias_table names;
    names.add({.name = "node_kw", .family = "rapl_power_watts", .scale = 0.001, .note = "test"});
    warehouse w({}, {}, names);
    const wire::catalog c = two_packages();
    const node_id n = w.node("a").value();
    REQUIRE(w.set_catalog(n, c, at_s(99)).has_value());
    const auto column = w.watch({"node_kw"}, at_s(99));
    REQUIRE(w.apply(n, batch_at(c, at_s(100), {{0, 605}, {1, 500}, {2, 70}}), 0s, at_s(100)).has_value());
    CHECK(column.values->load(n).value == decimal{1175, -4});
  }

  TEST_CASE("a column knows what its values can be, and those of a statistic") {
    warehouse w;
    const auto range_of = [&](statistic of) {
      return w.watch({"os_cpu_utilization_ratio", 1min, of}, at_s(99)).values->plausible();
    };
    CHECK(range_of(statistic::p95) == metrics::plausible_range{0, 1, 1});
    CHECK(range_of(statistic::stddev) == metrics::plausible_range{0, 1, 1});
    CHECK(range_of(statistic::trend) == metrics::plausible_range{});
    CHECK(w.watch({"my_own_metric"}, at_s(99)).values->plausible() == metrics::plausible_range{});
  }

  TEST_CASE("other aliases make the columns of their names anew, and leave the others alone") {
    std::vector<std::pair<std::uint32_t, decimal>> told;
    metrics::alias_table first, second;
    first.add({.name = "heat", .family = "rapl_power_watts", .scale = 0.001, .note = "test"});
    second.add({.name = "heat",
                .family = "rapl_power_watts",
                .label = "package",
                .value = "1",
                .window = 30s,
                .note = "test"});
    warehouse w({}, {}, first);
    w.set_sink([&](column_id c, node_id, const sample& s) { told.emplace_back(index(c), s.value); });
    const wire::catalog c = two_packages();
    const node_id n = w.node("a").value();
    REQUIRE(w.set_catalog(n, c, at_s(99)).has_value());
    const auto heat = w.watch({"heat"}, at_s(99)), watts = w.watch({"rapl_power_watts"}, at_s(99));
    REQUIRE(w.apply(n, batch_at(c, at_s(100), {{0, 605}, {1, 500}, {2, 70}}), 0s, at_s(100)).has_value());
    CHECK(heat.values->load(n).value == decimal{1175, -4});
    CHECK(heat.values->plausible() == metrics::plausible_range{0, 100, 0.5});  // the range in kilowatts
    const auto interest = w.interest_version();

    told.clear();
    w.set_names(second, at_s(101));
    CHECK(heat.values->load(n).value == decimal{500, -1});
    CHECK(heat.values->plausible() == watts.values->plausible());
    REQUIRE(told.size() == 1);
    CHECK(told[0].first == index(heat.id));
    CHECK(w.interest_version() != interest);
    for (const int at : {102, 103}) {
      const auto b = batch_at(c, at_s(at), {{0, 605}, {1, at == 102 ? 600 : 700}, {2, 70}});
      REQUIRE(w.apply(n, b, 0s, at_s(at)).has_value());
    }
    // The mean of two seconds of 60 W and one of 70 W, over the window that the name has now.
    CHECK(heat.values->load(n).value == decimal{6333, -2});
    CHECK(watts.values->load(n).value == decimal{1375, -1});

    told.clear();
    w.set_names(second, at_s(111));
    CHECK(told.empty());
    w.set_names(metrics::alias_table::built_in(), at_s(112));  // the name is no alias any more
    CHECK(heat.values->load(n).reason == absence::missing);
  }

  // The names of exporters are old names, too. If a user's file brings a metric of that very name, that
  // metric is meant.
  TEST_CASE("a node's own metric wins over an alias of its name, at that node") {
    warehouse w;
    const auto column = w.watch({"load1"}, at_s(1));
    const wire::catalog own =
        catalog_builder().group("os").series("os_load1", {}, -2).group("textfile").series("load1");
    const wire::catalog plain = catalog_builder().group("os").series("os_load1", {}, -2);
    const node_id a = w.node("a").value(), b = w.node("b").value();
    REQUIRE(w.set_catalog(a, own, at_s(1)).has_value());
    REQUIRE(w.set_catalog(b, plain, at_s(1)).has_value());
    REQUIRE(w.apply(a, batch_at(own, at_s(2), {{0, 150}, {1, 7}}), 0s, at_s(2)).has_value());
    REQUIRE(w.apply(b, batch_at(plain, at_s(2), {{0, 150}}), 0s, at_s(2)).has_value());
    CHECK(column.values->load(a).value == decimal{7, 0});
    CHECK(column.values->load(b).value == decimal{150, -2});
  }

  TEST_CASE("old names in other units come out in those") {
    warehouse w;
    const auto pages = w.watch({"collectd_hugepages_vmpage_number"}, at_s(1));
    const auto jiffies = w.watch({"collectd_cpu_total"}, at_s(1));
    const wire::catalog c =
        catalog_builder()
            .group("os")
            .series("os_hugepages_free_pages", {{"size", "2048kB"}})
            .series("os_hugepages_free_pages", {{"size", "1048576kB"}})
            .series("os_cpu_seconds_total", {{"mode", "user"}}, -2, metrics::kind::counter)
            .series("os_cpu_seconds_total", {{"mode", "idle"}}, -2, metrics::kind::counter);
    const node_id n = w.node("a").value();
    REQUIRE(w.set_catalog(n, c, at_s(1)).has_value());
    REQUIRE(w.apply(n, batch_at(c, at_s(2), {{0, 1200}, {1, 512}, {2, 12345}, {3, 99999}}), 0s, at_s(2))
                .has_value());
    CHECK(pages.values->load(n).value == decimal{1200, 0});
    CHECK(jiffies.values->load(n).value == decimal{12345, 0});
  }
}

}  // namespace binnacle::store
