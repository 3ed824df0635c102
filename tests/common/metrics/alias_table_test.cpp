#include "common/metrics/families.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace metrics = binnacle::metrics;
using metrics::node_rule;

TEST_SUITE("common/metrics/alias_table") {
  TEST_CASE("the table is sorted, without doubles, and points at families that exist") {
    const auto all = metrics::aliases();
    REQUIRE(!all.empty());
    CHECK(std::ranges::is_sorted(all, {}, &metrics::alias::name));
    CHECK(std::ranges::adjacent_find(all, {}, &metrics::alias::name) == all.end());
    for (const auto& a : all) {
      CAPTURE(a.name);
      const auto* target = metrics::find(a.family);
      REQUIRE(target != nullptr);
      CHECK(a.label.empty() == a.value.empty());
      if (!a.label.empty()) {
        CHECK(std::ranges::count(target->labels, a.label) == 1);
        CHECK(a.rule.has_value());  // the alias selects series, so the family's own rule does not apply
      }
      CHECK(a.scale != 0);
      CHECK_FALSE(a.note.empty());
    }
  }

  TEST_CASE("names of the systems before us resolve to what they meant") {
    struct row {
      std::string_view name, family, label, value;
      double scale;
      int window_s;
    };
    const row rows[] = {
        {"collectd_package_0_power_power", "rapl_power_watts", "package", "0", 1, 10},
        {"collectd_package_12_power_power", "rapl_power_watts", "package", "12", 1, 10},
        {"collectd_package_1_die_3_power_power", "rapl_power_watts", "package", "1-die-3", 1, 10},
        {"collectd_package_0_TDP_power_power", "rapl_tdp_watts", "package", "0", 1, 0},
        {"collectd_package_0_die_1_TDP_power_power", "rapl_tdp_watts", "package", "0-die-1", 1, 0},
        {"package_power_avg", "rapl_tdp_utilization_ratio", "", "", 100, 10},
        {"node_package_power_avg", "rapl_tdp_utilization_ratio", "", "", 100, 10},
        {"node_package_power_per_pod", "rapl_tdp_utilization_ratio", "", "", 100, 10},
        {"memory_MemFree_bytes", "os_memory_free_bytes", "", "", 1, 0},
        {"node_memory_MemFree_bytes", "os_memory_free_bytes", "", "", 1, 0},
        {"node_load1", "os_load1", "", "", 1, 0},
        {"load15", "os_load15", "", "", 1, 0},
        {"collectd_load_midterm", "os_load5", "", "", 1, 0},
        {"collectd_memory", "os_memory_used_bytes", "", "", 1, 0},
        {"collectd_turbostat_power", "rapl_power_watts", "", "", 1, 10},
        {"collectd_turbostat_tdp", "rapl_tdp_watts", "", "", 1, 0},
        {"collectd_cpu_total", "os_cpu_seconds_total", "", "", 100, 0},
        {"collectd_intel_pmu_counter_total", "pmu_instructions_total", "", "", 1, 0},
        {"collectd_intel_pmu_counter_total_cpu_cycles", "pmu_cycles_total", "", "", 1, 0},
        {"collectd_intel_pmu_counter_total_l1_dcache_load_misses", "pmu_l1_dcache_load_misses_total", "", "",
         1, 0},
        {"collectd_intel_pmu_counter_total_task_clock", "pmu_task_clock_seconds_total", "", "", 1e9, 0},
        {"node_perf_cpucycles_total", "pmu_cycles_total", "", "", 1, 0},
        {"perf_cache_ll_read_misses_total", "pmu_llc_load_misses_total", "", "", 1, 0},
        {"memory_bandwidth_bytes_per_second", "pmu_memory_bandwidth_bytes_per_second", "", "", 1, 0},
        {"node_rapl_dram_joules_total", "rapl_energy_joules_total", "zone", "dram", 1, 0},
        {"collectd_turbostat_frequency", "os_cpu_frequency_hertz", "", "", 1, 0},
        {"node_cpu_scaling_frequency_hertz", "os_cpu_frequency_hertz", "", "", 1, 0},
        {"collectd_sensors_temperature", "os_hwmon_temperature_celsius", "", "", 1, 0},
        {"node_hwmon_temp_celsius", "os_hwmon_temperature_celsius", "", "", 1, 0},
        {"node_thermal_zone_temp", "os_thermal_zone_temperature_celsius", "", "", 1, 0},
        {"collectd_hugepages_vmpage_number", "os_hugepages_free_pages", "size", "2048kB", 1, 0},
        {"node_cpu_core_throttles_total", "os_cpu_core_throttles_total", "", "", 1, 0},
        {"collectd_intel_rdt_bytes", "rdt_llc_occupancy_bytes", "", "", 1, 0},
        {"node_network_receive_bytes_total", "os_network_receive_bytes_total", "", "", 1, 0},
        {"node_pressure_io_stalled_seconds_total", "os_pressure_stalled_seconds_total", "resource", "io", 1,
         0},
        {"ipmi_temperature_celsius", "bmc_temperature_celsius", "", "", 1, 0},
        {"ipmi_fan_speed_rpm", "bmc_fan_rpm", "", "", 1, 0},
        {"ipmi_temperature_state", "bmc_sensor_state", "kind", "temperature", 1, 0},
        {"ipmi_dcmi_power_consumption_watts", "bmc_dcmi_power_watts", "", "", 1, 0},
        {"ipmi_dcmi_power_consumption_current_watts", "bmc_dcmi_power_watts", "", "", 1, 0},
        {"ipmi_up", "binnacle_agent_source_up", "source", "bmc", 1, 0},
        {"collectd_ipmi_temperature", "bmc_temperature_celsius", "", "", 1, 0},
        {"collectd_ipmi_percent", "bmc_fan_ratio", "", "", 100, 0},
        {"inlet_temp", "host_inlet_temperature_celsius", "", "", 1, 0},
    };
    for (const row& r : rows) {
      CAPTURE(r.name);
      const auto got = metrics::resolve(r.name);
      CHECK(got.is_alias);
      CHECK(got.family == r.family);
      CHECK(got.label == r.label);
      CHECK(got.value == r.value);
      CHECK(got.scale == r.scale);
      CHECK(got.offset == 0);
      CHECK(got.window == std::chrono::seconds(r.window_s));
    }
    // The old metric was 1 if there was no fault.
    for (std::string_view name : {"ipmi_chassis_cooling_fault_state", "ipmi_chassis_drive_fault_state"}) {
      CHECK(metrics::resolve(name).scale == -1);
      CHECK(metrics::resolve(name).offset == 1);
    }
    CHECK(metrics::resolve("package_power_avg").rule_given);
    CHECK(metrics::resolve("package_power_avg").rule == node_rule::mean);
    CHECK_FALSE(metrics::resolve("collectd_load_midterm").rule_given);
  }

  TEST_CASE("a foreign name may lack the node_ that prometheus-adapter strips") {
    CHECK(metrics::resolve("health_metric").family == "health_metric");
    CHECK(metrics::resolve("health_metric").otherwise == "node_health_metric");
    for (std::string_view name :
         {"node_health_metric", "rapl_power_watts", "load1", "collectd_package_0_power_power", ""}) {
      CAPTURE(name);
      CHECK(metrics::resolve(name).otherwise.empty());
    }
  }

  TEST_CASE("a name that is no alias is itself, also when it nearly matches a pattern") {
    for (std::string_view name :
         {"rapl_power_watts", "health_metric", "", "collectd_package__power_power",
          "collectd_package_x_power_power", "collectd_package_0_power_power_", "collectd_package_0", "node_",
          "collectd_package_<N>_power_power", "collectd_package_0_die__power_power"}) {
      CAPTURE(name);
      const auto got = metrics::resolve(name);
      CHECK_FALSE(got.is_alias);
      CHECK(got.family == name);
      CHECK(got.label.empty());
      CHECK_FALSE(got.rule_given);
      CHECK(got.scale == 1);
      CHECK(got.window.count() == 0);
    }
  }
}
