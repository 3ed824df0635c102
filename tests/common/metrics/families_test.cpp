#include "common/metrics/families.hpp"

#include "common/metrics/family_of.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace metrics = binnacle::metrics;
using metrics::kind;

TEST_SUITE("common/metrics/families") {
  TEST_CASE("families are sorted by name and each is found by it") {
    const auto all = metrics::families();
    REQUIRE(all.size() > 50);
    CHECK(std::ranges::is_sorted(all, {}, &metrics::family::name));
    CHECK(std::ranges::adjacent_find(all, {}, &metrics::family::name) == all.end());
    for (const auto& f : all) {
      CAPTURE(f.name);
      CHECK(metrics::find(f.name) == &f);
    }
    CHECK(metrics::find("") == nullptr);
    CHECK(metrics::find("rapl_power_watt") == nullptr);
    CHECK(metrics::find("zzz") == nullptr);
  }

  TEST_CASE("a label is found by its name; one that is not there is empty") {
    const metrics::label_set labels{{"zone", "dram"}, {"package", "0"}, {"note", ""}};
    CHECK(metrics::label_of(labels, "package") == "0");
    CHECK(metrics::label_of(labels, "note").empty());
    CHECK(metrics::label_of(labels, "pack").empty());
    CHECK(metrics::label_of({}, "zone").empty());
  }

  // Source: prometheus.io/docs/practices/naming and promlint's rules.
  TEST_CASE("names follow Prometheus: the source's prefix, base units, suffixes that match unit and type") {
    for (const auto& f : metrics::families()) {
      CAPTURE(f.name);
      // A metric about exporters, and not about the node, belongs to the agent itself.
      const bool ours = f.source == "agent" || f.source == "aggregator" || f.source == "scrape";
      CHECK(f.name.starts_with(ours ? "binnacle_" : std::string(f.source) + "_"));
      CHECK(std::ranges::all_of(
          f.name, [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; }));
      CHECK(f.name.find("__") == std::string_view::npos);

      CHECK((f.type == kind::counter) == f.name.ends_with("_total"));
      std::string_view stem = f.name;
      if (f.type == kind::counter) stem.remove_suffix(std::string_view("_total").size());
      if (!f.unit.empty()) CHECK(stem.ends_with("_" + std::string(f.unit)));
      for (std::string_view reserved : {"_bucket", "_sum", "_count", "_info_total"})
        CHECK_FALSE(f.name.ends_with(reserved));

      const std::set<std::string_view> units{
          "",        "watts", "joules",  "ratio", "bytes", "seconds", "per_second", "bytes_per_second",
          "celsius", "volts", "amperes", "rpm",   "hertz"};
      CHECK(units.contains(f.unit));
      CHECK_FALSE(f.help.empty());
      CHECK(f.help.ends_with("."));
      CHECK(f.help.find_first_of("|\n\"\\") == std::string_view::npos);
      for (std::string_view l : f.labels) {
        CHECK((l != "le" && l != "instance" && l != "job"));
        // The aggregator and Prometheus add the node's name to every series of an agent.
        CHECK((l != "node" || f.source == "aggregator"));
      }
      CHECK(std::set<std::string_view>(f.labels.begin(), f.labels.end()).size() == f.labels.size());
    }
  }

  TEST_CASE("resolutions are those of the metric model") {
    for (const auto& f : metrics::families()) {
      CAPTURE(f.name);
      if (f.unit == "watts") CHECK(f.exponent == -1);
      if (f.unit == "celsius") CHECK(f.exponent == -1);
      if (f.unit == "joules" || f.unit.ends_with("bytes")) CHECK(f.exponent == 0);
      if (f.unit == "ratio") CHECK(f.exponent == -4);
      if (f.unit == "seconds") CHECK((f.exponent <= 0 && f.exponent >= -6));
    }
  }

  TEST_CASE("what a family refers to exists and has the label") {
    const auto refers_well = [](const metrics::member& m) {
      CAPTURE(m.family);
      CAPTURE(m.label);
      const auto* target = metrics::find(m.family);
      REQUIRE(target != nullptr);
      CHECK(m.label.empty() == m.value.empty());
      if (!m.label.empty()) CHECK(std::ranges::count(target->labels, m.label) == 1);
    };
    for (const auto& f : metrics::families()) {
      CAPTURE(f.name);
      for (const auto& m : f.members) refers_well(m);
      for (const auto& m : f.denominator) refers_well(m);
      CHECK((f.rule == metrics::node_rule::ratio_of_sums) == !f.denominator.empty());
      // Without labels there is one series. With labels the family needs a rule, except where nobody asks for
      // one number of the node.
      if (f.labels.empty()) CHECK(f.rule == metrics::node_rule::sole);
      if (f.rule == metrics::node_rule::sole) CHECK(f.members.empty());
      if (f.integral.family.empty()) continue;
      refers_well(f.integral);
      CHECK(metrics::find(f.integral.family)->type == kind::counter);
      CHECK(f.type == kind::gauge);
      for (std::string_view l : f.labels)
        CHECK(std::ranges::count(metrics::find(f.integral.family)->labels, l) == 1);
    }
  }

  TEST_CASE(
      "a node's watts are its packages and memory, never cores inside them nor the platform around them") {
    const auto* watts = metrics::find("rapl_power_watts");
    REQUIRE(watts != nullptr);
    REQUIRE(watts->members.size() == 2);
    CHECK(watts->members[0].family == "rapl_power_watts");
    CHECK(watts->members[0].label.empty());
    CHECK(watts->members[1].family == "rapl_zone_power_watts");
    CHECK(watts->members[1].value == "dram");
    for (const auto& m : metrics::find("rapl_energy_joules_total")->members)
      CHECK((m.value == "package" || m.value == "dram"));
  }

  TEST_CASE("what the whole system draws and what its supplies draw are never added") {
    const auto* watts = metrics::find("bmc_power_watts");
    REQUIRE(watts != nullptr);
    REQUIRE(watts->members.size() == 1);
    CHECK(watts->members[0].label == "scope");
    CHECK(watts->members[0].value == "node");
  }

  TEST_CASE("a value is stale after ten seconds or three periods") {
    using namespace std::chrono_literals;
    CHECK(metrics::stale_after(200ms) == 10s);
    CHECK(metrics::stale_after(1s) == 10s);
    CHECK(metrics::stale_after(4s) == 12s);
  }
}

TEST_SUITE("common/metrics/flat_name") {
  TEST_CASE("a flat name is the family and the label values") {
    struct row {
      std::string family;
      metrics::label_set labels;
      std::string flat;
    };
    const row rows[] = {
        {"rapl_power_watts", {{"package", "0"}}, "rapl_power_watts_0"},
        {"rapl_power_watts", {{"package", "0-die-1"}}, "rapl_power_watts_0_die_1"},
        {"rapl_zone_power_watts", {{"zone", "dram"}, {"package", "1"}}, "rapl_zone_power_watts_dram_1"},
        {"rapl_zone_power_watts", {{"zone", "psys"}}, "rapl_zone_power_watts_psys"},
        {"rapl_zone_power_watts", {{"zone", "psys"}, {"package", ""}}, "rapl_zone_power_watts_psys"},
        {"bmc_temperature_celsius",
         {{"sensor", "Inlet Temp (7.1)"}},
         "bmc_temperature_celsius_inlet_temp_7_1"},
        {"x", {{"path", "/var/LIB//"}}, "x_var_lib"},
        {"x", {{"name", "Zulüfter"}}, "x_zul_fter"},
        {"node_memory_MemFree_bytes", {}, "node_memory_MemFree_bytes"},
        {"x", {{"sign", "°"}}, ""},
        {"x", {{"a", ""}, {"b", "__"}}, ""},
    };
    for (const row& r : rows) {
      CAPTURE(r.flat);
      CHECK(metrics::flat_name(r.family, r.labels) == r.flat);
    }
  }

  TEST_CASE("the family that a name means is found by itself, an old name, or a flat one") {
    const auto of = [](std::string_view name) {
      const metrics::family* f = metrics::family_of(name);
      return f == nullptr ? std::string_view("none") : f->name;
    };
    CHECK(of("rapl_power_watts") == "rapl_power_watts");
    CHECK(of("collectd_package_0_power_power") == "rapl_power_watts");
    CHECK(of("rapl_power_watts_0") == "rapl_power_watts");
    CHECK(of("rapl_zone_power_watts_0_dram") == "rapl_zone_power_watts");
    CHECK(of("os_load1_x") == "none");  // it has no labels
    CHECK(of("queue_length") == "none");
  }

  TEST_CASE("the family or the alias that was probably meant is found by a name with a slip") {
    CHECK(metrics::nearest_name("rapl_power_wats") == "rapl_power_watts");
    CHECK(metrics::nearest_name("Collectd_ipmi_fanspead") == "collectd_ipmi_fanspeed");
    CHECK(metrics::nearest_name("q") == "");
  }

  TEST_CASE("labels that only tell more about a series stay out of its flat name") {
    const metrics::label_set labels{
        {"sensor", "Inlet Temp"}, {"threshold", "critical"}, {"entity", "air inlet 1"}, {"id", "20.0.4"}};
    const auto flat = [&](std::string_view family) {
      const auto* f = metrics::find(family);
      return metrics::flat_name(family, metrics::flat_labels(*f, labels));
    };
    CHECK(flat("bmc_temperature_celsius") == "bmc_temperature_celsius_inlet_temp");
    CHECK(flat("bmc_temperature_margin_celsius") == "bmc_temperature_margin_celsius_inlet_temp_critical");
    const metrics::label_set zone{{"zone", "dram"}, {"package", "0"}};
    CHECK(metrics::flat_labels(*metrics::find("rapl_zone_power_watts"), zone) == zone);
  }

  TEST_CASE("no alias and no family hides another family's series") {
    // If a family had the name of another family's flat name, one name in a policy would mean two things.
    for (const auto& f : metrics::families()) {
      if (f.labels.empty()) continue;
      for (const auto& other : metrics::families()) {
        if (&other == &f || !other.name.starts_with(std::string(f.name) + "_")) continue;
        FAIL_CHECK(std::string(other.name) << " could be a flat name of " << std::string(f.name));
      }
    }
    for (const auto& a : metrics::aliases()) {
      CAPTURE(a.name);
      CHECK(metrics::find(a.name) == nullptr);
    }
  }
}
