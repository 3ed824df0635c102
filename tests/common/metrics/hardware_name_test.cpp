#include "common/metrics/hardware_name.hpp"

#include "common/metrics/families.hpp"

#include <doctest/doctest.h>

#include <string>

namespace binnacle::metrics {

TEST_SUITE("common/metrics/hardware_name") {
  TEST_CASE("watts and joules of a package are those of one component") {
    const auto watts = hardware_name_of("rapl_power_watts", {{"package", "0"}}).value();
    const auto joules =
        hardware_name_of("rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}).value();
    CHECK(watts.metric == "hw.power");
    CHECK(joules.metric == "hw.energy");
    CHECK(watts.attributes ==
          label_set{{"hw.id", "package/0"}, {"hw.name", "package 0"}, {"hw.type", "cpu"}});
    CHECK(joules.attributes == watts.attributes);
    CHECK(hardware_name_of("rapl_zone_power_watts", {{"zone", "dram"}, {"package", "1"}})->attributes ==
          label_set{{"hw.id", "dram/1"}, {"hw.name", "dram 1"}, {"hw.type", "memory"}});
  }

  TEST_CASE("watts that are part of others, or hold others, keep our name: hw.power may be added up") {
    for (const char* zone : {"core", "uncore", "psys"}) {
      CAPTURE(zone);
      CHECK_FALSE(hardware_name_of("rapl_zone_power_watts", {{"zone", zone}, {"package", "0"}}));
      CHECK_FALSE(hardware_name_of("rapl_energy_joules_total", {{"zone", zone}, {"package", "0"}}));
    }
    CHECK_FALSE(hardware_name_of("bmc_power_watts", {{"sensor", "PS1 Input"}, {"scope", "node"}}));
    CHECK(hardware_name_of("host_power_watts", {{"source", "dcmi"}})->metric == "hw.host.power");
  }

  TEST_CASE("sensors of one name from two sources are two components") {
    const auto of_bmc = hardware_name_of("bmc_fan_rpm", {{"sensor", "fan1"}}).value();
    const auto of_chip =
        hardware_name_of("os_hwmon_fan_speed_rpm", {{"chip", "nct6775"}, {"sensor", "fan1"}}).value();
    CHECK(of_bmc.attributes == label_set{{"hw.id", "bmc/fan1"}, {"hw.name", "bmc fan1"}, {"hw.type", "fan"}});
    CHECK(of_chip.attributes ==
          label_set{{"hw.id", "hwmon/nct6775/fan1"}, {"hw.name", "hwmon nct6775 fan1"}, {"hw.type", "fan"}});
    const auto inlet = hardware_name_of("bmc_inlet_temperature_celsius", {{"sensor", "Inlet"}}).value();
    CHECK(inlet.metric == "hw.temperature");
    CHECK(inlet.attributes.back() == std::pair<std::string, std::string>("hw.sensor_location", "INLET"));
  }

  TEST_CASE("what the series of a family may be called is known without their labels, too") {
    using names = std::vector<std::string_view>;
    const auto called = [](std::string_view family, std::string_view zone) {
      names out;
      for (const hardware_class& c : hardware_classes_of(family, zone)) out.push_back(c.metric);
      return out;
    };
    CHECK(called("rapl_power_watts", "") == names{"hw.power"});
    CHECK(called("rapl_zone_power_watts", "dram") == names{"hw.power"});
    CHECK(called("rapl_zone_power_watts", "core") == names{""});  // ours
    CHECK(called("rapl_zone_power_watts", "") == names{"hw.power", ""});
    CHECK(called("rapl_energy_joules_total", "") == names{"hw.energy", "hw.energy", ""});
    CHECK(called("os_load1", "") == names{""});
    const auto zones = hardware_classes_of("os_thermal_zone_temperature_celsius", "x86_pkg_temp");
    REQUIRE(zones.size() == 1);
    CHECK(zones.front().source == "thermal_zone");
  }

  TEST_CASE("an exporter's own series has no hardware's name") {
    CHECK_FALSE(hardware_name_of("queue_length", {{"zone", "dram"}}));
  }

  TEST_CASE("every unit of ours has a name in UCUM, and counts have none") {
    for (const auto& f : families()) {
      CAPTURE(f.name);
      CHECK(ucum(f.unit).empty() == f.unit.empty());
    }
    CHECK(ucum("celsius") == "Cel");
  }
}

}  // namespace binnacle::metrics
