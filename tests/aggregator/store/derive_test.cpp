#include "aggregator/store/derive.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace binnacle::store {

namespace {

/// A row of this catalog. Every group was read at 100 s, and the series have these mantissas; a series
/// without one is absent.
struct node {
  explicit node(const wire::catalog& c) : cells(std::make_shared<const shape>(make_shape(c, {})->what)) {
    for (std::size_t g = 0; g < c.groups.size(); ++g) cells.set_read(g, at_s(100));
  }
  node& set(std::vector<std::int64_t> mantissas) {
    for (std::size_t i = 0; i < mantissas.size(); ++i) cells.set_value(i, mantissas[i]);
    return *this;
  }
  sample get(std::string_view name, instant now = at_s(101)) const {
    const plan p = compile(cells.series(), metrics::resolve(name));
    sample s = evaluate(p, cells, now);
    finish(p, s);
    return s;
  }
  row cells;
};

const std::vector<std::int64_t> warm = {600, 550, 71, 400, 9999, 1000, 2000, 300, 2050, 1650, 2927, 3333};

catalog_builder foreign(std::string family, metrics::kind type) {
  catalog_builder c;
  c.group("textfile");
  c.series(family, {{"rack", "a"}}, -1, type).series(family, {{"rack", "b"}}, -3, type);
  return c;
}

}  // namespace

TEST_SUITE("aggregator/store/derive") {
  TEST_CASE("node watts are packages and DRAM, never cores nor psys") {
    const sample s = node(two_packages()).set(warm).get("rapl_power_watts");
    CHECK(s.reason == absence::none);
    CHECK(s.value == decimal{1221, -1});
    CHECK(s.value.exponent == -1);
    CHECK(s.read_at == at_s(100));
    CHECK(s.expires_at == at_s(110));
    CHECK_FALSE(s.partial);
  }

  TEST_CASE("names find their value by alias, flat name and family") {
    node n(two_packages());
    n.set(warm);
    CHECK(n.get("collectd_package_1_power_power").value == decimal{550, -1});
    CHECK(n.get("rapl_power_watts_0").value == decimal{600, -1});
    CHECK(n.get("rapl_zone_power_watts").value == decimal{71, -1});
    CHECK(n.get("rapl_zone_power_watts_core_0").value == decimal{400, -1});
    CHECK(n.get("rapl_energy_joules_total").value == decimal{3300, 0});
    CHECK(n.get("collectd_package_7_power_power").reason == absence::missing);
    CHECK(n.get("no_such_metric").reason == absence::missing);
    CHECK(n.get("").reason == absence::missing);
  }

  TEST_CASE("package_power_avg is the mean percentage of any number of packages") {
    for (const int packages : {1, 2, 4, 16}) {
      CAPTURE(packages);
      catalog_builder c;
      c.group("rapl");
      std::vector<std::int64_t> ratios;
      for (int i = 0; i < packages; ++i) {
        c.series("rapl_tdp_utilization_ratio", {{"package", std::to_string(i)}}, -4);
        ratios.push_back(5000 + 100 * i);
      }
      node n(c);
      n.set(ratios);
      // The packages have 50 %, 51 %, …: each package after the first adds half a percent to the mean.
      const auto got = n.get("package_power_avg").value;
      CHECK(got == decimal{500 + 5 * (packages - 1), -1});
    }
  }

  TEST_CASE("an old name of hwmon is the hottest of all chips, a CPU's and a disk's are their own") {
    catalog_builder c;
    c.group("os").series("os_cpu_temperature_celsius", {{"chip", "coretemp.0"}, {"sensor", "Package id 0"}},
                         -1);
    c.group("os", 10'000, "nvme0")
        .series("os_disk_temperature_celsius", {{"disk", "nvme0"}, {"sensor", "Composite"}}, -1);
    c.group("os", 10'000, "jc42")
        .series("os_hwmon_temperature_celsius", {{"chip", "jc42"}, {"sensor", "temp1"}}, -1);
    node n(c);
    n.set({610, 700, 350});
    CHECK(n.get("collectd_sensors_temperature").value == decimal{700, -1});
    CHECK(n.get("node_hwmon_temp_celsius").value == decimal{700, -1});
    CHECK(n.get("os_cpu_temperature_celsius").value == decimal{610, -1});
    CHECK(n.get("collectd_turbostat_temperature").value == decimal{610, -1});
    CHECK(n.get("os_disk_temperature_celsius").value == decimal{700, -1});
  }

  TEST_CASE("a node's cache and bandwidth are its control groups, which hold their monitoring groups") {
    catalog_builder c;
    c.group("rdt");
    for (const auto& [group, kind] :
         {std::pair("/", "control"), {"/web", "control"}, {"/web/mon_groups/db", "monitoring"}}) {
      for (const char* domain : {"0", "1"})
        c.series("rdt_llc_occupancy_bytes", {{"group", group}, {"kind", kind}, {"domain", domain}});
    }
    node n(c);
    n.set({1, 2, 10, 20, 5, 7});
    CHECK(n.get("rdt_llc_occupancy_bytes").value == decimal{33, 0});
    CHECK(n.get("collectd_intel_rdt_bytes").value == decimal{33, 0});
    CHECK(n.get("rdt_llc_occupancy_bytes_web_control_1").value == decimal{20, 0});
  }

  TEST_CASE("huge pages under their old names are counted in pages") {
    catalog_builder c;
    c.group("os")
        .series("os_hugepages_pool_pages", {{"size", "2048kB"}})
        .series("os_hugepages_pool_pages", {{"size", "1048576kB"}})
        .series("os_hugepages_free_pages", {{"size", "2048kB"}});
    node n(c);
    n.set({10, 3, 4});
    CHECK(n.get("collectd_hugepages_vmpage_number").value == decimal{4, 0});
    CHECK(n.get("memory_HugePages_Total").value == decimal{10, 0});
  }

  TEST_CASE("a caller's selector takes the family's own series, also those that the node rule leaves out") {
    node n(two_packages());
    n.set(warm);
    const auto selected = [&](std::string_view name, std::string_view label, std::string_view value) {
      const auto keep = [=](const metrics::label_set& labels) {
        return std::find(labels.begin(), labels.end(), std::pair{std::string(label), std::string(value)}) !=
               labels.end();
      };
      const plan p = compile(n.cells.series(), metrics::resolve(name), keep);
      sample s = evaluate(p, n.cells, at_s(101));
      finish(p, s);
      return s;
    };
    CHECK(selected("rapl_power_watts", "package", "0").value == decimal{600, -1});  // without its DRAM
    CHECK(selected("rapl_zone_power_watts", "zone", "core").value == decimal{400, -1});
    CHECK(selected("rapl_energy_joules_total", "zone", "package").value == decimal{3000, 0});
    CHECK(selected("rapl_tdp_utilization_ratio", "package", "0").value == decimal{2927, -4});
    CHECK(selected("rapl_power_watts_1", "package", "1").value == decimal{550, -1});
    CHECK(selected("rapl_power_watts_1", "package", "0").reason == absence::missing);
    CHECK(selected("rapl_power_watts", "package", "7").reason == absence::missing);
    CHECK(selected("rapl_power_watts", "no_such_label", "0").reason == absence::missing);
  }

  TEST_CASE("a sum is absent when one member is, and says which reason") {
    node n(two_packages());
    n.set(warm);
    n.cells.set_absent(2, absence::permission);
    const sample s = n.get("rapl_power_watts");
    CHECK(s.reason == absence::permission);
    CHECK(s.value == decimal{});
    CHECK(n.get("rapl_power_watts_0").present(at_s(101)));
  }

  TEST_CASE("the utilization of a node is a ratio of sums at the family's resolution") {
    node n(two_packages());
    n.set(warm);
    CHECK(n.get("rapl_tdp_utilization_ratio").value == decimal{3108, -4});  // 115.0 / 370.0 = 0.31081…
    CHECK(n.get("rapl_tdp_utilization_ratio").value.exponent == -4);
    n.cells.set_value(8, 0);
    n.cells.set_value(9, 0);
    CHECK(n.get("rapl_tdp_utilization_ratio").reason == absence::no_data);
    n.cells.set_absent(9, absence::missing);
    CHECK(n.get("rapl_tdp_utilization_ratio").reason == absence::missing);
  }

  TEST_CASE(
      "an alias brings its own rule and scale: package_power_avg is the mean of the packages, in percent") {
    node n(two_packages());
    n.set(warm);
    CHECK(n.get("node_package_power_avg").value == decimal{3130, -2});  // (0.2927 + 0.3333) / 2 × 100
    n.cells.set_absent(11, absence::timeout);
    const sample s = n.get("node_package_power_avg");
    CHECK(s.value == decimal{2927, -2});
    CHECK(s.partial);
  }

  TEST_CASE(
      "a foreign metric called node_x is found as x, as prometheus-adapter serves it, unless there is an x") {
    CHECK(node(foreign("node_health_metric", metrics::kind::gauge))
              .set({15, 1499})
              .get("health_metric")
              .value == decimal{1500, -3});
    CHECK(node(foreign("health_metric", metrics::kind::gauge)).set({15, 1499}).get("health_metric").value ==
          decimal{1500, -3});
    CHECK_FALSE(node(foreign("nodehealth_metric", metrics::kind::gauge))
                    .set({15, 1499})
                    .get("health_metric")
                    .present(at_s(101)));
  }

  TEST_CASE("foreign gauges take the maximum, foreign counters the sum, whatever their resolutions") {
    CHECK(node(foreign("load", metrics::kind::gauge)).set({15, 1499}).get("load").value == decimal{1500, -3});
    CHECK(node(foreign("load", metrics::kind::gauge)).set({15, 1501}).get("load").value == decimal{1501, -3});
    CHECK(node(foreign("load", metrics::kind::counter)).set({15, 1501}).get("load").value ==
          decimal{3001, -3});
    CHECK(node(foreign("load", metrics::kind::gauge)).set({15, 1501}).get("load_a").value == decimal{15, -1});
    CHECK(node(catalog_builder().group("textfile").series("one", {}, -2)).set({-7}).get("one").value ==
          decimal{-7, -2});
  }

  TEST_CASE("a maximum goes on with what is there and says partial; with nothing it is absent") {
    node n(foreign("load", metrics::kind::gauge));
    n.set({15, 1499});
    n.cells.set_absent(0, absence::missing);
    CHECK(n.get("load").value == decimal{1499, -3});
    CHECK(n.get("load").partial);
    n.cells.set_absent(1, absence::timeout);
    CHECK(n.get("load").reason == absence::missing);
  }

  TEST_CASE("the age is the oldest member's and the expiry the earliest") {
    catalog_builder c;
    c.group("a", 10'000).series("load", {{"x", "1"}}).group("b", 4'000).series("load", {{"x", "2"}});
    node n(c);
    n.set({1, 2});
    n.cells.set_read(0, at_s(98));
    const sample s = n.get("load");
    CHECK(s.read_at == at_s(98));
    CHECK(s.newest_read_at() == at_s(100));
    CHECK(s.expires_at == at_s(104));
    // At 104 s the second group has expired: the maximum goes on without it.
    const sample later = n.get("load", at_s(104));
    CHECK(later.value == decimal{1, 0});
    CHECK(later.partial);
    CHECK(later.expires_at == at_s(108));
    // When all groups have expired, the sample ends as a whole. It keeps its value for callers with a longer
    // staleAfter.
    CHECK(n.get("load", at_s(108)).absent_because(at_s(108)) == absence::stale);
    CHECK(n.get("load", at_s(108)).value == decimal{2, 0});
    CHECK(n.get("load", at_s(108)).expires_at == at_s(104));
    n.cells.set_linked(false);
    CHECK(n.get("load", at_s(108)).absent_because(at_s(108)) == absence::disconnected);
  }

  TEST_CASE("what is too old keeps its value and its expiry; what was never read has none") {
    catalog_builder c;
    const auto counter = metrics::kind::counter;
    c.group("a").series("load", {{"x", "1"}}, 0, counter).group("b").series("load", {{"x", "2"}}, 0, counter);
    node n(c);
    n.set({1, 2});
    n.cells.set_read(1, at_s(95));
    const sample s = n.get("load", at_s(106));
    CHECK(s.value == decimal{3, 0});
    CHECK(s.read_at == at_s(95));
    CHECK(s.expires_at == at_s(105));
    CHECK(s.absent_because(at_s(106)) == absence::stale);
    n.cells.set_read(1, instant{});
    CHECK(n.get("load", at_s(101)).reason == absence::stale);
  }

  TEST_CASE("a partial maximum could be more, if what is missing has ever been there or is still to come") {
    node n(foreign("load", metrics::kind::gauge));
    n.set({15, 1499});
    CHECK(n.get("load").sure == certainty::exact);
    n.cells.set_absent(0, absence::timeout);
    CHECK(n.get("load").sure == certainty::at_least);
    n.cells.set_linked(false);
    CHECK(n.get("load").sure == certainty::at_least);

    node young(foreign("load", metrics::kind::gauge));
    young.cells.set_value(1, 1499);
    CHECK(young.get("load").sure == certainty::at_least);
    young.cells.set_absent(0, absence::no_data);  // a sensor that has never measured anything
    CHECK(young.get("load").partial);
    CHECK(young.get("load").sure == certainty::exact);
  }

  TEST_CASE("a partial minimum could be less, a mean either, and a negative scale turns them round") {
    node n(foreign("load", metrics::kind::gauge));
    n.set({15, 1499});
    n.cells.set_absent(0, absence::timeout);
    const auto by = [&n](metrics::node_rule rule, double scale) {
      metrics::resolved name;
      name.family = "load";
      name.rule = rule;
      name.rule_given = true;
      name.scale = scale;
      const plan p = compile(n.cells.series(), name);
      sample s = evaluate(p, n.cells, at_s(101));
      finish(p, s);
      return s.sure;
    };
    CHECK(by(metrics::node_rule::max, 1) == certainty::at_least);
    CHECK(by(metrics::node_rule::max, -2) == certainty::at_most);
    CHECK(by(metrics::node_rule::min, 1) == certainty::at_most);
    CHECK(by(metrics::node_rule::min, -2) == certainty::at_least);
    CHECK(by(metrics::node_rule::mean, 1) == certainty::unsure);
    CHECK(by(metrics::node_rule::mean, -2) == certainty::unsure);
  }

  TEST_CASE("a sum that no longer fits is absent, not wrapped") {
    node n(foreign("load", metrics::kind::counter));
    CHECK(n.set({INT64_MAX, 1}).get("load").reason == absence::out_of_range);
    CHECK(n.set({INT64_MAX / 100, INT64_MAX / 2}).get("load").reason == absence::out_of_range);
    CHECK(n.set({INT64_MIN, INT64_MIN}).get("load").reason == absence::out_of_range);
  }

  TEST_CASE("a sum of many terms that would come round in 128 bits is absent, not a small number") {
    // The sum of 37 values is 0.37 × 10^18 below 2^128 in the finest unit, 10^-18, which the last series
    // brings.
    catalog_builder c;
    c.group("textfile");
    std::vector<std::int64_t> values;
    for (int i = 0; i < 37; ++i) {
      c.series("load", {{"rack", std::to_string(i)}}, 0, metrics::kind::counter);
      values.push_back(i < 36 ? INT64_MAX : 8'240'973'594'166'534'411);
    }
    c.series("load", {{"rack", "fine"}}, -18, metrics::kind::counter);
    values.push_back(0);
    CHECK(node(c).set(values).get("load").reason == absence::out_of_range);
  }

  TEST_CASE("series more than 18 digits apart are not brought together") {
    catalog_builder c;
    c.group("textfile").series("wild", {{"x", "1"}}, 18).series("wild", {{"x", "2"}}, -18);
    CHECK(node(c).set({1, 1}).get("wild").reason == absence::missing);
  }

  TEST_CASE("every member of a mean has its own counter, or the mean does without counters") {
    const shape s = make_shape(two_packages(), {})->what;
    CHECK(compile(s, metrics::resolve("rapl_power_watts")).integral.size() == 3);
    CHECK(compile(s, metrics::resolve("rapl_power_watts_0")).integral.size() == 1);
    CHECK(compile(s, metrics::resolve("collectd_package_1_power_power")).integral.size() == 1);
    CHECK(compile(s, metrics::resolve("rapl_tdp_watts")).integral.empty());
    const shape without =
        make_shape(catalog_builder().group("rapl").series("rapl_power_watts", {{"package", "0"}}, -1), {})
            ->what;
    CHECK(compile(without, metrics::resolve("rapl_power_watts")).integral.empty());
  }

  TEST_CASE("a counter has the labels of its gauge, in whatever order both stand") {
    using labels = metrics::label_set;
    const labels gauge{{"package", "0"}, {"a", "1"}, {"b", "2"}};
    const auto integral = [](const labels& of_gauge, const labels& of_counter) {
      catalog_builder c;
      c.group("rapl").series("rapl_energy_joules_total", of_counter, 0, metrics::kind::counter);
      c.series("rapl_energy_joules_total", of_counter, 0, metrics::kind::counter);  // refused: it comes twice
      c.series("rapl_power_watts", of_gauge, -1);
      const shape s = make_shape(c, {})->what;
      REQUIRE(s.all.size() == 2);
      return compile(s, metrics::resolve("rapl_power_watts")).integral;
    };
    for (const labels& same : {labels{{"zone", "package"}, {"package", "0"}, {"a", "1"}, {"b", "2"}},
                               labels{{"b", "2"}, {"a", "1"}, {"package", "0"}, {"zone", "package"}},
                               labels{{"a", "1"}, {"zone", "package"}, {"b", "2"}, {"package", "0"}}}) {
      const auto found = integral(gauge, same);
      REQUIRE(found.size() == 1);
      CHECK(found.front().series == 0);
    }
    for (const labels& other :
         {labels{{"package", "0"}, {"a", "1"}, {"b", "2"}},                                      // no zone
          labels{{"zone", "core"}, {"package", "0"}, {"a", "1"}, {"b", "2"}},                    // another
          labels{{"zone", "package"}, {"package", "0"}, {"a", "1"}},                             // one less
          labels{{"zone", "package"}, {"package", "0"}, {"a", "1"}, {"b", "2"}, {"c", "3"}},     // one more
          labels{{"zone", "package"}, {"package", "0"}, {"a", "2"}, {"b", "1"}},                 // mixed up
          labels{{"zone", "package"}, {"package", "0"}, {"a", "1"}, {"a", "1"}, {"b", "2"}}}) {  // doubled
      CHECK(integral(gauge, other).empty());
    }
    const labels doubled{{"package", "0"}, {"a", "1"}, {"a", "1"}, {"b", "2"}};
    CHECK(integral(doubled, {{"zone", "package"}, {"a", "1"}, {"b", "2"}, {"a", "1"}, {"package", "0"}})
              .size() == 1);
    CHECK(integral(doubled, {{"zone", "package"}, {"a", "1"}, {"b", "2"}, {"b", "2"}, {"package", "0"}})
              .empty());
  }

  TEST_CASE("hundreds of series with as many labels as there may be have a counter each") {
    constexpr std::uint32_t many = 500;
    metrics::label_set more;
    for (int i = 10; i < 40; ++i) more.emplace_back("label_" + std::to_string(i), "v");
    const metrics::label_set in_other_order(more.rbegin(), more.rend());
    catalog_builder c;
    c.group("rapl");
    for (std::uint32_t i = 0; i < many; ++i) {
      metrics::label_set labels{{"package", std::to_string(i)}};
      labels.insert(labels.end(), more.begin(), more.end());
      c.series("rapl_power_watts", labels, -1);
    }
    for (std::uint32_t i = many; i-- > 0;) {
      metrics::label_set labels{{"zone", "package"}, {"package", std::to_string(i)}};
      labels.insert(labels.end(), in_other_order.begin(), in_other_order.end());
      c.series("rapl_energy_joules_total", labels, 0, metrics::kind::counter);
    }
    const shape s = make_shape(c, {})->what;
    const plan p = compile(s, metrics::resolve("rapl_power_watts"));
    REQUIRE(p.terms.size() == many);
    REQUIRE(p.integral.size() == many);
    for (std::uint32_t i = 0; i < many; ++i) {
      CHECK(p.terms[i].series == i);
      CHECK(p.integral[i].series == 2 * many - 1 - i);
    }
  }
}

TEST_SUITE("aggregator/store/derive/linear") {
  TEST_CASE("scale and offset are exact decimals") {
    struct row {
      double scale, offset;
      decimal raw, result;
      int exponent;
    };
    const row table[] = {
        {100, 0, {2927, -4}, {2927, -2}, -2},
        {0.001, 0, {12345, -1}, {12345, -4}, -4},
        {1.8, 32, {215, -1}, {707, -1}, -2},  // 21.5 °C = 70.70 °F
        {-1, 0, {5, 0}, {-5, 0}, 0},
        {1, -0.05, {10, -1}, {95, -2}, -2},
        {0.0009765625, 0, {1048576, 0}, {1024, 0}, -5},  // 1/1024
    };
    for (const row& r : table) {
      CAPTURE(r.scale);
      CAPTURE(r.offset);
      plan p;
      p.map = make_linear(r.scale, r.offset, r.raw.exponent);
      REQUIRE(p.map.has_value());
      sample s{.value = r.raw, .reason = absence::none};
      finish(p, s);
      CHECK(s.value == r.result);
      CHECK(static_cast<int>(s.value.exponent) == r.exponent);
    }
  }
  TEST_CASE("scale 1 and offset 0 change nothing") { CHECK_FALSE(make_linear(1, 0, -1).has_value()); }
  TEST_CASE("a result that does not fit is out of range") {
    plan p;
    p.map = make_linear(1000, 0, 18);
    sample s{.value = {INT64_MAX, 18}, .reason = absence::none};
    finish(p, s);
    CHECK(s.reason == absence::out_of_range);
  }
}

}  // namespace binnacle::store
