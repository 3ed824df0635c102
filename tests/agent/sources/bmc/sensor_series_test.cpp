#include "agent/sources/bmc/sensor_series.hpp"

#include "agent/sources/host/host.hpp"
#include "tests/agent/sources/bmc/boards.hpp"
#include "tests/agent/support.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;
using agent::test::entry_of;
using agent::test::reading_of;
using agent::test::sensor_of;
using agent::test::shown;
using agent::test::tell;
using ipmi::sensor_kind;
using ipmi::sensor_role;

namespace {

metrics::label_set labels(std::string sensor, std::string id) {
  return {{"sensor", std::move(sensor)}, {"entity", "system board 1"}, {"id", std::move(id)}};
}

struct board_under_test {
  void announce() { series.announce(view, out); }
  void show(const ipmi::reading& r) { series.show(r, now, out); }

  instant now = instant(1h);
  bmc_snapshot view;
  board out;
  sensor_series series;
};

TEST_SUITE_BEGIN("agent/sources/bmc/sensor_series");

TEST_CASE("a temperature gives its value, its role, its margins and its state against the thresholds") {
  board_under_test b;
  auto s = sensor_of("20.0.1", "Inlet Temp");
  s.role = sensor_role::inlet;
  s.limits.lower_critical = 5;
  s.limits.upper_non_critical = 40;
  s.limits.upper_critical = 45;
  tell(b.view, {s});
  b.announce();
  const auto at = labels("Inlet Temp", "20.0.1");
  const auto margin = [&](const char* which) {
    return shown(
        b.out, "bmc_temperature_margin_celsius",
        {{"sensor", "Inlet Temp"}, {"threshold", which}, {"entity", "system board 1"}, {"id", "20.0.1"}});
  };
  const auto state = [&] {
    return shown(
        b.out, "bmc_sensor_state",
        {{"sensor", "Inlet Temp"}, {"kind", "temperature"}, {"entity", "system board 1"}, {"id", "20.0.1"}});
  };
  CHECK(shown(b.out, "bmc_temperature_celsius", at) == "not_read_yet");

  b.show(reading_of("20.0.1", 23.46, to_ns(b.now) - 1000));
  CHECK(shown(b.out, "bmc_temperature_celsius", at) == "23.5");
  CHECK(shown(b.out, "bmc_inlet_temperature_celsius", at) == "23.5");
  CHECK(shown(b.out, "bmc_cpu_temperature_celsius", at) == "no such series");
  CHECK(margin("non_critical") == "16.5");
  CHECK(margin("critical") == "21.5");
  CHECK(margin("non_recoverable") == "no such series");
  CHECK(state() == "0");
  CHECK(b.out.groups()[entry_of(b.out, "bmc_temperature_celsius", at)->info.group].read_at == b.now - 1us);

  b.show(reading_of("20.0.1", 40));
  CHECK(state() == "1");
  b.show(reading_of("20.0.1", 47));
  CHECK(state() == "2");
  CHECK(margin("critical") == "-2.0");
  b.show(reading_of("20.0.1", 5));
  CHECK(state() == "2");
}

TEST_CASE("a reading that failed is an absence with its reason, and refreshes no age") {
  board_under_test b;
  auto s = sensor_of("20.0.1", "CPU Temp");
  s.role = sensor_role::cpu;
  s.limits.upper_critical = 95;
  tell(b.view, {s});
  b.announce();
  b.show(reading_of("20.0.1", 50, to_ns(b.now)));
  const auto group = entry_of(b.out, "bmc_temperature_celsius", labels("CPU Temp", "20.0.1"))->info.group;
  const auto read_at = b.out.groups()[group].read_at;
  b.now += 1s;
  b.show(agent::test::absence_of("20.0.1", absence::no_data));
  for (const auto& e : b.out.series()) {
    CAPTURE(e.info.family);
    CHECK(e.reason == absence::no_data);
  }
  CHECK(b.out.groups()[group].read_at == read_at);
}

TEST_CASE("0 W of the whole machine is implausible, of one supply a value") {
  board_under_test b;
  auto whole = sensor_of("20.0.1", "System Power", sensor_kind::power, "watts");
  whole.role = sensor_role::system_power;
  auto supply = sensor_of("20.0.2", "PS1 Input", sensor_kind::power, "watts");
  supply.role = sensor_role::psu_input;
  tell(b.view, {whole, supply, sensor_of("dcmi.power", "DCMI Power", sensor_kind::power, "watts")});
  b.announce();
  const auto values = [&] {
    std::string all;
    for (const auto& e : b.out.series())
      all += (e.reason == absence::none ? to_string(e.value) : std::string(to_string(e.reason))) + " ";
    return all;
  };
  for (const char* key : {"20.0.1", "20.0.2", "dcmi.power"}) b.show(reading_of(key, 0));
  CHECK(values() == "implausible 0.0 implausible ");
  for (const char* key : {"20.0.1", "20.0.2", "dcmi.power"}) b.show(reading_of(key, 200));
  CHECK(values() == "200.0 200.0 200.0 ");
}

// Before, 300 W and -200 W were a machine of 100 W.
TEST_CASE("a sensor of power that says less than 0 W is implausible, and so is the sum of the supplies") {
  board_under_test b;
  auto first = sensor_of("20.0.1", "PS1 Input", sensor_kind::power, "watts");
  auto second = sensor_of("20.0.2", "PS2 Input", sensor_kind::power, "watts");
  first.role = second.role = sensor_role::psu_input;
  tell(b.view, {first, second, sensor_of("20.0.3", "CPU Power", sensor_kind::power, "watts"),
                sensor_of("20.0.4", "Outside", sensor_kind::temperature)});
  b.announce();
  agent::test::fake_clock clock;
  host_source host(host_options{.period = 1s}, clock.source());
  const auto say = [&](double second_supply, double cpu) {
    for (int i = 0; i < 31; ++i) {
      b.now += 1s;
      clock.now = b.now;
      b.show(reading_of("20.0.1", 300, to_ns(b.now)));
      b.show(reading_of("20.0.2", second_supply, to_ns(b.now)));
      b.show(reading_of("20.0.3", cpu, to_ns(b.now)));
      b.show(reading_of("20.0.4", -7, to_ns(b.now)));
      REQUIRE(host.read(b.out));
    }
    return shown(b.out, "host_power_watts", {{"source", "bmc"}});
  };
  CHECK(say(-200, -3) == "implausible");
  CHECK(b.series.doubted().starts_with("PS2 Input, CPU Power: says 0 W or less"));
  CHECK(shown(b.out, "bmc_temperature_celsius", labels("Outside", "20.0.4")) == "-7.0");
  CHECK(say(200, -0.04) == "500.0");
  CHECK(b.series.doubted().empty());
}

// Before, a sensor in mW set the true DCMI aside, and host_power_watts was 412,000 W.
TEST_CASE("more watts than a rack draws are implausible, and leave a true DCMI alone") {
  board_under_test b;
  auto whole = sensor_of("20.0.1", "Total Power", sensor_kind::power, "watts");
  whole.role = sensor_role::system_power;
  tell(b.view, {whole, sensor_of("dcmi.power", "DCMI Power", sensor_kind::power, "watts"),
                sensor_of("20.0.2", "Fan 1", sensor_kind::fan, "rpm")});
  b.announce();
  agent::test::fake_clock clock;
  host_source host(host_options{.period = 1s}, clock.source());
  auto at = labels("Total Power", "20.0.1");
  at.emplace_back("scope", "node");
  const auto say = [&](double watts) {
    for (int i = 0; i < 31; ++i) {
      b.now += 1s;
      clock.now = b.now;
      b.show(reading_of("20.0.1", watts, to_ns(b.now)));
      b.show(reading_of("dcmi.power", 412, to_ns(b.now)));
      b.show(reading_of("20.0.2", 200'000, to_ns(b.now)));
      REQUIRE(host.read(b.out));
      CHECK(shown(b.out, "host_power_watts", {{"source", "dcmi"}}) == "412.0");
    }
    return shown(b.out, "bmc_power_watts", at);
  };
  CHECK(say(412'000) == "implausible");
  CHECK(b.series.doubted().starts_with("Total Power: says"));
  CHECK(shown(b.out, "bmc_fan_rpm", labels("Fan 1", "20.0.2")) == "200000");
  CHECK(say(420) == "420.0");
  CHECK(b.series.doubted().empty());
}

TEST_CASE("a temperature that incoming air cannot have is implausible, of another sensor it is a value") {
  board_under_test b;
  auto inlet = sensor_of("20.0.1", "Inlet Temp");
  inlet.role = sensor_role::inlet;
  inlet.limits.lower_critical = 5;
  tell(b.view, {inlet, sensor_of("20.0.2", "VRM Temp")});
  b.announce();
  const auto say = [&](double celsius) {
    for (const char* key : {"20.0.1", "20.0.2"}) b.show(reading_of(key, celsius));
    return shown(b.out, "bmc_inlet_temperature_celsius", labels("Inlet Temp", "20.0.1"));
  };
  for (const double dead : {127.0, -128.0}) {
    CHECK(say(dead) == "implausible");
    CHECK(shown(b.out, "bmc_temperature_celsius", labels("Inlet Temp", "20.0.1")) == "implausible");
    CHECK(entry_of(b.out, "bmc_temperature_celsius", labels("VRM Temp", "20.0.2"))->reason == absence::none);
    CHECK(b.series.doubted().starts_with("Inlet Temp: says"));
    CHECK(agent::test::holds(b.series.doubted(), "a temperature that incoming air cannot have"));
  }
  CHECK(say(0) == "0.0");
  CHECK(b.series.doubted().empty());
}

TEST_CASE("statistics that contradict each other are absent at once, those that contradict the value later") {
  board_under_test b;
  tell(b.view, {sensor_of("dcmi.power", "DCMI Power", sensor_kind::power, "watts")});
  b.announce();
  const auto say = [&](double watts, ipmi::statistics over) {
    b.now += 5s;
    auto r = reading_of("dcmi.power", watts);
    r.over = over;
    b.show(r);
    return shown(b.out, "bmc_dcmi_average_power_watts");
  };
  CHECK(say(420, {380, 402, 450, 60'000}) == "402.0");
  CHECK(say(420, {410, 402, 450, 60'000}) == "implausible");
  CHECK(shown(b.out, "bmc_dcmi_power_watts") == "420.0");
  CHECK(b.series.doubted().find("DCMI Power: its minimum, mean and maximum contradict") == 0);
  CHECK(say(420, {380, 460, 450, 60'000}) == "implausible");
  CHECK(say(420, {380, 402, 450, 60'000}) == "402.0");
  CHECK(b.series.doubted().empty());
  // A load that ended: the window is over after a minute.
  for (const double after_the_step : {150, 900}) {
    for (int i = 0; i < 12; ++i) CHECK(say(after_the_step, {380, 402, 450, 60'000}) == "402.0");
    CHECK(say(after_the_step, {380, 402, 450, 60'000}) == "implausible");
    CHECK(shown(b.out, "bmc_dcmi_window_seconds") == "implausible");
    CHECK(say(285, {380, 402, 450, 60'000}) == "402.0");  // 380 * 0.8 - 20 = 284
  }
}

TEST_CASE("what the BMC says of a span of time has series once it says so, and never without a span") {
  board_under_test b;
  tell(b.view, {sensor_of("dcmi.power", "DCMI Power", sensor_kind::power, "watts")});
  b.announce();
  b.show(reading_of("dcmi.power", 417));
  CHECK(shown(b.out, "bmc_dcmi_power_watts") == "417.0");
  CHECK(shown(b.out, "bmc_dcmi_average_power_watts") == "no such series");

  auto r = reading_of("dcmi.power", 420);
  r.over = ipmi::statistics{380, 402, 450, 60'000};
  b.show(r);
  CHECK(shown(b.out, "bmc_dcmi_minimum_power_watts") == "380.0");
  CHECK(shown(b.out, "bmc_dcmi_average_power_watts") == "402.0");
  CHECK(shown(b.out, "bmc_dcmi_maximum_power_watts") == "450.0");
  CHECK(shown(b.out, "bmc_dcmi_window_seconds") == "60.000");

  b.show(reading_of("dcmi.power", 421));  // it lost its window
  CHECK(shown(b.out, "bmc_dcmi_power_watts") == "421.0");
  CHECK(shown(b.out, "bmc_dcmi_average_power_watts") == "no_data");

  b.show(r);
  b.show(agent::test::absence_of("dcmi.power", absence::timeout));
  CHECK(shown(b.out, "bmc_dcmi_average_power_watts") == "timeout");

  // The same board again, as after a restart of the helper. Nothing must be announced anew.
  b.show(r);
  tell(b.view, {sensor_of("dcmi.power", "DCMI Power", sensor_kind::power, "watts")});
  const auto series = b.out.live_series();
  b.announce();
  b.show(r);
  CHECK(b.out.live_series() == series);
}

TEST_CASE("the helper's instants are taken, but never one from the future") {
  board_under_test b;
  tell(b.view, {sensor_of("20.0.1", "T")});
  b.announce();
  b.show(reading_of("20.0.1", 50, to_ns(b.now) + 5'000'000'000));
  CHECK(b.out.groups()[0].read_at == b.now);
}

TEST_CASE("what is planned is announced, what no longer is is forgotten") {
  board_under_test b;
  const auto one = sensor_of("20.0.1", "One"), two = sensor_of("20.0.2", "Two");
  tell(b.view, {one, two});
  b.announce();
  CHECK(b.series.size() == 2);
  REQUIRE(b.view.take(ipmi::plan{{{"20.0.2", 1000}, {"20.0.7", 1000}}}));
  b.announce();
  CHECK(b.series.size() == 1);
  CHECK(shown(b.out, "bmc_temperature_celsius", labels("One", "20.0.1")) == "no such series");
  CHECK(shown(b.out, "bmc_temperature_celsius", labels("Two", "20.0.2")) == "not_read_yet");
  b.show(reading_of("20.0.1", 1));  // on its way when the plan changed
  tell(b.view, {one});
  b.announce();
  CHECK(shown(b.out, "bmc_temperature_celsius", labels("Two", "20.0.2")) == "no such series");
}

TEST_CASE("a new inventory keeps the values of what is as before, and takes over new thresholds") {
  board_under_test b;
  auto s = sensor_of("20.0.1", "One");
  s.limits.upper_critical = 90;
  tell(b.view, {s});
  b.announce();
  b.show(reading_of("20.0.1", 50, to_ns(b.now)));
  const auto version = b.out.version();
  s.limits.upper_critical = 80;
  tell(b.view, {s});
  b.announce();
  CHECK(b.out.version() == version);  // nothing to announce anew
  CHECK(shown(b.out, "bmc_temperature_celsius", labels("One", "20.0.1")) == "50.0");
  b.show(reading_of("20.0.1", 50, to_ns(b.now)));
  const metrics::label_set margin{
      {"sensor", "One"}, {"threshold", "critical"}, {"entity", "system board 1"}, {"id", "20.0.1"}};
  CHECK(shown(b.out, "bmc_temperature_margin_celsius", margin) == "30.0");
  SUBCASE("a sensor with a new name is a new series") {
    s.name = "Uno";
    tell(b.view, {s});
    b.announce();
    CHECK(shown(b.out, "bmc_temperature_celsius", labels("One", "20.0.1")) == "no such series");
    CHECK(shown(b.out, "bmc_temperature_celsius", labels("Uno", "20.0.1")) == "not_read_yet");
  }
  SUBCASE("if a threshold goes, its margin goes") {
    s.limits.upper_critical.reset();
    tell(b.view, {s});
    b.announce();
    CHECK(shown(b.out, "bmc_temperature_margin_celsius", margin) == "no such series");
  }
}

TEST_CASE("periods follow the plan, small steps to faster ones excepted") {
  board_under_test b;
  const std::vector all{sensor_of("20.0.1", "One")};
  tell(b.view, all, 10'000);
  b.announce();
  const auto& info = b.out.groups()[0].info;
  CHECK(info.period_ms == 10'000);
  CHECK(info.stale_after_ms == 30'000);
  const auto plan = [&](std::uint32_t ms) {
    REQUIRE(b.view.take(ipmi::plan{{{"20.0.1", ms}}}));
    b.announce();
  };
  plan(8'000);
  CHECK(info.period_ms == 10'000);
  plan(12'000);
  CHECK(info.period_ms == 12'000);
  plan(1'000);
  CHECK(info.period_ms == 1'000);
  CHECK(info.stale_after_ms == 10'000);
}

TEST_CASE("power counts for the node by its scope, percent becomes a ratio") {
  board_under_test b;
  auto sys = sensor_of("20.0.1", "Pwr Consumption", sensor_kind::power, "watts");
  sys.role = sensor_role::system_power;
  auto psu = sensor_of("20.0.2", "PS1 Input", sensor_kind::power, "watts");
  psu.role = sensor_role::psu_input;
  const auto fan = sensor_of("20.0.3", "Fan1", sensor_kind::fan, "percent");
  tell(b.view, {sys, psu, fan});
  b.announce();
  b.show(reading_of("20.0.1", 320));
  b.show(reading_of("20.0.2", 330));
  b.show(reading_of("20.0.3", 40));
  auto node = labels("Pwr Consumption", "20.0.1"), part = labels("PS1 Input", "20.0.2");
  node.emplace_back("scope", "node");
  part.emplace_back("scope", "supply");
  CHECK(shown(b.out, "bmc_power_watts", node) == "320.0");
  CHECK(shown(b.out, "bmc_power_watts", part) == "330.0");
  CHECK(shown(b.out, "bmc_fan_ratio", labels("Fan1", "20.0.3")) == "0.4000");
}

TEST_CASE("states are announced when first seen, and go back to 0") {
  board_under_test b;
  tell(b.view, {sensor_of("20.0.8", "PS1 Status", sensor_kind::state, "state")});
  b.announce();
  const auto says = [&](const char* word) {
    return shown(b.out, "bmc_state_asserted",
                 {{"sensor", "PS1 Status"}, {"state", word}, {"entity", "system board 1"}, {"id", "20.0.8"}});
  };
  ipmi::reading r;
  r.key = "20.0.8";
  r.state = 1;
  r.words = {"Presence detected"};
  b.show(r);
  CHECK(says("Presence detected") == "1");
  CHECK(says("Power Supply input lost (AC/DC)") == "no such series");
  r.words.push_back("Power Supply input lost (AC/DC)");
  b.show(r);
  CHECK(says("Power Supply input lost (AC/DC)") == "1");
  r.words.pop_back();
  b.show(r);
  CHECK(says("Power Supply input lost (AC/DC)") == "0");
  CHECK(says("Presence detected") == "1");
}

TEST_CASE("the chassis' state has families of its own") {
  board_under_test b;
  auto chassis = sensor_of("chassis.power", "Chassis Power", sensor_kind::state, "state");
  chassis.origin = ipmi::sensor_origin::chassis;
  tell(b.view, {chassis});
  b.announce();
  ipmi::reading r;
  r.key = "chassis.power";
  r.state = 1;
  r.words = {"on", "cooling fault"};
  b.show(r);
  CHECK(shown(b.out, "bmc_chassis_power_on") == "1");
  CHECK(shown(b.out, "bmc_chassis_cooling_fault") == "1");
  CHECK(shown(b.out, "bmc_chassis_drive_fault") == "0");
  r.words = {"off", "chassis intrusion"};
  b.show(r);
  CHECK(shown(b.out, "bmc_chassis_power_on") == "0");
  CHECK(shown(b.out, "bmc_chassis_cooling_fault") == "0");
  CHECK(shown(b.out, "bmc_state_asserted",
              {{"sensor", "Chassis Power"},
               {"state", "chassis intrusion"},
               {"entity", "system board 1"},
               {"id", "chassis.power"}}) == "1");
}

TEST_SUITE_END();

}  // namespace
