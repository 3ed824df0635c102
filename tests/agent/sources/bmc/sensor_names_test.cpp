#include "agent/sources/bmc/sensor_names.hpp"

#include "tests/agent/sources/bmc/boards.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::sensor_of;
using ipmi::sensor_kind;
using ipmi::sensor_role;

namespace {

ipmi::sensor power(std::string key, sensor_role role, std::uint32_t number = 0) {
  auto s = sensor_of(std::move(key), "Pwr", sensor_kind::power, "watts");
  s.role = role;
  s.number = number;
  return s;
}

TEST_SUITE_BEGIN("agent/sources/bmc/sensor_names");

TEST_CASE("a name is the SDR's, and tells apart what the board calls the same") {
  auto first = sensor_of("20.0.e", "Temp"), second = sensor_of("20.0.f", "Temp");
  first.entity = second.entity = "processor";
  second.instance = 2;
  auto twin = sensor_of("20.0.30", "Fan"), other_twin = sensor_of("20.0.31", "Fan");
  twin.kind = other_twin.kind = sensor_kind::fan;
  auto fan_temp = sensor_of("20.0.32", "Fan");  // of another kind: no clash
  const std::vector all{
      first, second, twin, other_twin, fan_temp, sensor_of("20.0.4", "Inlet Temp"), sensor_of("20.0.9", "")};
  const auto names = names_of(all);
  CHECK(names.at("20.0.e").sensor == "Temp (processor 1)");
  CHECK(names.at("20.0.f").sensor == "Temp (processor 2)");
  CHECK(names.at("20.0.30").sensor == "Fan (20.0.30)");
  CHECK(names.at("20.0.31").sensor == "Fan (20.0.31)");
  CHECK(names.at("20.0.32").sensor == "Fan");
  CHECK(names.at("20.0.4").sensor == "Inlet Temp");
  CHECK(names.at("20.0.4").entity == "system board 1");
  CHECK(names.at("20.0.9").sensor == "20.0.9");
}

TEST_CASE("every kind and unit has its family") {
  const auto family = [](sensor_kind k, std::string unit, std::string key = "20.0.1") {
    return family_of(sensor_of(std::move(key), "x", k, std::move(unit)));
  };
  CHECK(family(sensor_kind::temperature, "celsius") == "bmc_temperature_celsius");
  CHECK(family(sensor_kind::fan, "rpm") == "bmc_fan_rpm");
  CHECK(family(sensor_kind::fan, "percent") == "bmc_fan_ratio");
  CHECK(family(sensor_kind::voltage, "volts") == "bmc_voltage_volts");
  CHECK(family(sensor_kind::current, "amperes") == "bmc_current_amperes");
  CHECK(family(sensor_kind::power, "watts") == "bmc_power_watts");
  CHECK(family(sensor_kind::power, "watts", "dcmi.power") == "bmc_dcmi_power_watts");
  CHECK(family(sensor_kind::state, "state") == "bmc_state_asserted");
  CHECK(family(sensor_kind::other, "percent") == "bmc_sensor_value");
}

TEST_CASE("the node's watts are the system's sensor, or else the inputs of its supplies, never both") {
  using scopes = std::map<std::string, std::string_view>;
  const auto in1 = power("in1", sensor_role::psu_input), in2 = power("in2", sensor_role::psu_input);
  const auto out1 = power("out1", sensor_role::psu_output), cpu = power("cpu", sensor_role::none);
  CHECK(power_scopes(std::vector{in1, in2, out1, cpu}) == scopes{{"in1", "node"}, {"in2", "node"}});
  CHECK(power_scopes(std::vector{in1, in2, power("sys", sensor_role::system_power)}) ==
        scopes{{"in1", "supply"}, {"in2", "supply"}, {"sys", "node"}});
  CHECK(power_scopes(std::vector{power("b", sensor_role::system_power, 9),
                                 power("a", sensor_role::system_power, 3)}) == scopes{{"a", "node"}});
  CHECK(power_scopes(std::vector{out1, cpu}).empty());
  CHECK(power_scopes(std::vector{power("dcmi.power", sensor_role::system_power), in1}) ==
        scopes{{"in1", "node"}});
}

TEST_CASE("interest in a family is interest in the sensors behind it, but not in excluded ones") {
  auto inlet = sensor_of("1", "Inlet Temp"), cpu = sensor_of("2", "CPU1 Temp"),
       dimm = sensor_of("3", "DIMM A1");
  inlet.role = sensor_role::inlet;
  cpu.role = sensor_role::cpu;
  cpu.limits.upper_critical = 95;
  const auto volts = sensor_of("4", "P12V", sensor_kind::voltage, "volts");
  const std::vector all{inlet, cpu, dimm, volts};
  using periods = std::map<std::string, std::uint32_t>;
  const auto wanted = [&](wire::interest f, std::vector<std::string> excluded = {}) {
    return keys_wanted(all, f, excluded);
  };
  CHECK(wanted({{{"bmc_temperature_celsius", 1000}}}) == periods{{"1", 1000}, {"2", 1000}, {"3", 1000}});
  CHECK(wanted({{{"bmc_temperature_celsius", 1000}}}, {"dimm*"}) == periods{{"1", 1000}, {"2", 1000}});
  CHECK(wanted({{{"bmc_inlet_temperature_celsius", 500}, {"bmc_temperature_celsius", 2000}}}) ==
        periods{{"1", 500}, {"2", 2000}, {"3", 2000}});
  CHECK(wanted({{{"bmc_cpu_temperature_celsius", 1000}}}) == periods{{"2", 1000}});
  CHECK(wanted({{{"bmc_temperature_margin_celsius", 1000}}}) == periods{{"2", 1000}});
  CHECK(wanted({{{"bmc_sensor_state", 1000}}}) == periods{{"2", 1000}});
  CHECK(wanted({{{"bmc_voltage_volts", 1000}}}) == periods{{"4", 1000}});
  CHECK(wanted({{{"bmc_busy_ratio", 1000}}}).empty());
  CHECK(wanted({}).empty());
}

TEST_CASE("a pattern that fits no sensor is told with its setting") {
  ipmi::sensor inlet;
  inlet.key = "20.0.01";
  inlet.name = "Inlet Temp";
  const std::vector all{inlet};
  ipmi::wanted_sensors patterns;
  CHECK(unmatched(patterns, all).empty());
  patterns.include = {"inlet*"};
  patterns.exclude = {"20.0.01"};
  patterns.roles = {{"*temp", ipmi::sensor_role::inlet}};
  CHECK(unmatched(patterns, all).empty());
  patterns.roles.push_back({"Ambient*", ipmi::sensor_role::inlet});
  CHECK(unmatched(patterns, all) ==
        "bmc-roles: \"Ambient*\" fits none of the BMC's 1 sensors: mend it or take it out");
  patterns.exclude.emplace_back("fan*");
  CHECK(unmatched(patterns, all).starts_with("bmc-exclude: \"fan*\""));
  patterns.include.emplace_back("Inlt*");
  CHECK(unmatched(patterns, all).starts_with("bmc-sensors: \"Inlt*\""));
}

TEST_SUITE_END();

}  // namespace
