#include "agent/ipmi/sensor_choice.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace std::chrono_literals;

namespace {

sensor of(sensor_kind kind, std::string name, std::uint32_t entity_id = 0x07) {
  sensor s;
  s.kind = kind;
  s.name = std::move(name);
  s.entity_id = entity_id;
  s.key = "20.0." + std::to_string(s.name.size());
  return s;
}
sensor_role role(sensor_kind kind, std::string name, std::uint32_t entity_id = 0x07) {
  return role_of(of(kind, std::move(name), entity_id), {});
}

constexpr auto temperature = sensor_kind::temperature;
constexpr auto power = sensor_kind::power;

}  // namespace

TEST_SUITE_BEGIN("agent/ipmi/sensor_choice");

TEST_CASE("inlet and CPU are found by entity, else by the names boards give them") {
  CHECK(role(temperature, "Temp 1", 0x37) == sensor_role::inlet);
  CHECK(role(temperature, "Temp 1", 0x40) == sensor_role::inlet);
  CHECK(role(temperature, "Temp", 0x03) == sensor_role::cpu);
  CHECK(role(temperature, "Temp", 0x41) == sensor_role::cpu);
  for (const auto* name :
       {"Inlet Temp", "MB_AIR_INLET", "01-Inlet Ambient", "System Inlet", "Front Panel Temp"}) {
    CAPTURE(name);
    CHECK(role(temperature, name) == sensor_role::inlet);
  }
  for (const auto* name : {"CPU1 Temp", "Proc 2", "CPU_TEMP"}) {
    CAPTURE(name);
    CHECK(role(temperature, name) == sensor_role::cpu);
  }
  for (const auto* name :
       {"Exhaust Temp", "P1 Therm Margin", "CPU1 VRM Temp", "P1-DIMMA1 Temp", "PCH Temp"}) {
    CAPTURE(name);
    CHECK(role(temperature, name) == sensor_role::none);
  }
  CHECK(role(temperature, "P1 DTS Therm Mgn", 0x03) == sensor_role::none);
  CHECK(role(temperature, "CPU1 DIMM Temp", 0x03) == sensor_role::none);
  CHECK(role(sensor_kind::fan, "CPU1 Fan") == sensor_role::none);
}

TEST_CASE("watts of a supply and of the system are told apart, so that nobody adds them") {
  CHECK(role(power, "PSU1 Input", 0x0a) == sensor_role::psu_input);
  CHECK(role(power, "PS1 Input Power") == sensor_role::psu_input);
  CHECK(role(power, "PS1 Output", 0x0a) == sensor_role::psu_output);
  CHECK(role(power, "Pwr Consumption") == sensor_role::system_power);
  CHECK(role(power, "Sys Power") == sensor_role::system_power);
  CHECK(role(power, "System Board Pwr Consumption") == sensor_role::system_power);
  CHECK(role(power, "CPU Power") == sensor_role::none);
}

TEST_CASE("the watts of a part are not the machine's, whatever total it is of") {
  CHECK(role(power, "Total_Power") == sensor_role::system_power);
  for (const char* name : {"NIC Total Power", "SysIO Power", "IO Total Power", "System Storage Power"})
    CHECK(role(power, name) == sensor_role::none);
  for (const auto* name : {"CPU_Total_Power", "MEM_Total_Power", "HDD_Total_Power", "GPU_Total_Power",
                           "SYS_FAN_PWR", "Total DIMM Power"}) {
    CAPTURE(name);
    CHECK(role(power, name) == sensor_role::none);
  }
}

// Before, the 1100 W of such a cap were the node's for ever.
TEST_CASE("a cap, a limit or a peak is not what the machine or a supply draws") {
  for (const auto* name :
       {"Sys Pwr Cap", "SYS_PWRCAP", "System Power Limit", "Node Pwr Budget", "Sys Power Max",
        "Total Rated Power", "Total Power Capacity", "System Peak Power"}) {
    CAPTURE(name);
    CHECK(role(power, name) == sensor_role::none);
  }
  CHECK(role(power, "PSU1 Max Power", 0x0a) == sensor_role::none);
  CHECK(role(power, "Integrated System Power") == sensor_role::system_power);
  const std::vector<role_rule> rules{{"Sys Pwr Cap", sensor_role::system_power}};
  CHECK(role_of(of(power, "Sys Pwr Cap"), rules) == sensor_role::system_power);
}

TEST_CASE("a chassis is a blade's enclosure unless somebody says otherwise") {
  CHECK(role(power, "Chassis Power") == sensor_role::none);
  const std::vector<role_rule> rules{{"Chassis Power", sensor_role::system_power}};
  CHECK(role_of(of(power, "Chassis Power"), rules) == sensor_role::system_power);
}

TEST_CASE("each supply is found by its name, whatever its number, where the entity says nothing") {
  for (const auto* name : {"ps0_input_power", "PS1 Input Power", "PS3 Input Power", "01-PS4 Pwr", "PMB1Power",
                           "PMB2Power", "CRPS3 Pwr", "Power Supply 3", "PSU0"}) {
    CAPTURE(name);
    CHECK(role(power, name, 0) == sensor_role::psu_input);
  }
  CHECK(role(power, "PS4 Output", 0) == sensor_role::psu_output);
  CHECK(role(power, "PS Redundancy", 0) == sensor_role::none);
}

TEST_CASE("a rule for an odd board wins over all that") {
  const std::vector<role_rule> rules{{"t7*", sensor_role::inlet}, {"CPU0*", sensor_role::none}};
  CHECK(role_of(of(temperature, "T7 intake"), rules) == sensor_role::inlet);
  CHECK(role_of(of(temperature, "CPU0 Temp", 0x03), rules) == sensor_role::none);
  CHECK(role_of(of(temperature, "CPU1 Temp", 0x03), rules) == sensor_role::cpu);
}

TEST_CASE("what is read: the default list, what is included and not excluded, and what somebody waits for") {
  std::vector<sensor> inventory{of(temperature, "Inlet", 0x37), of(sensor_kind::fan, "Fan1"),
                                of(sensor_kind::voltage, "12V Rail"), of(sensor_kind::state, "PSU1 Status")};
  for (auto& s : inventory) s.role = role_of(s, {});
  const auto keys = [&](const wanted_sensors& selected, const interest& waited_for = {}) {
    std::vector<std::string> names;
    for (const auto& w : choose(inventory, selected, waited_for)) {
      for (const auto& s : inventory) {
        if (s.key == w.key) names.push_back(s.name);
      }
    }
    return names;
  };
  using names = std::vector<std::string>;
  wanted_sensors s;
  CHECK(keys(s) == names{"Inlet", "Fan1"});
  s.include = {"12v*"};
  s.exclude = {"fan*"};
  CHECK(keys(s) == names{"Inlet", "12V Rail"});
  s.defaults = false;
  CHECK(keys(s) == names{"12V Rail"});
  const interest waited{{{inventory[1].key, 200}}};
  CHECK(keys(s, waited) == names{"Fan1", "12V Rail"});
  const auto wishes = choose(inventory, s, waited);
  CHECK(wishes[0].period == 200ms);
  CHECK(wishes[0].waited_for);
  CHECK(wishes[1].period == 1s);
  // States are not read every second unless a policy waits for them.
  s.include = {"PSU1*"};
  CHECK(choose(inventory, s, {}).at(0).period == 5s);
}

TEST_CASE("DCMI temperatures are read where the SDR has none of their role") {
  auto dcmi = of(temperature, "DCMI Inlet 1", 0x40);
  dcmi.origin = sensor_origin::dcmi;
  dcmi.role = role_of(dcmi, {});
  auto own = of(temperature, "Inlet Temp", 0x37);
  own.role = role_of(own, {});
  CHECK(on_default_list(dcmi, std::vector{dcmi}));
  CHECK_FALSE(on_default_list(dcmi, std::vector{dcmi, own}));
}

TEST_SUITE_END();
