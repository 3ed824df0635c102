#include "agent/sources/host/host.hpp"

#include "tests/agent/support.hpp"

#include <doctest/doctest.h>

namespace host_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::entry_of;
using agent::test::fake_clock;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// A board with what other sources would have put on it. The composites are read after them.
struct bench {
  fake_clock clock;
  board out;
  host_source host{host_options{.period = 1s}, clock.source()};
  board::group_ref rapl = out.add_group("rapl", "", 1s, 10s);
  board::group_ref bmc = out.add_group("bmc", "sensors", 5s, 15s);

  board::series_ref add(board::group_ref g, const char* family, metrics::label_set labels = {}) {
    return out.add_series(g, family, std::move(labels));
  }
  void read() { REQUIRE(host.read(out).has_value()); }
  /// Lets this many seconds pass, and reads the given groups every second.
  void pass(int seconds, std::initializer_list<board::group_ref> groups) {
    for (int i = 0; i < seconds; ++i) {
      clock.now += 1s;
      for (const auto g : groups) out.mark_read(g, clock.now);
      read();
    }
  }
  std::string watts(const char* source) { return shown(out, "host_power_watts", {{"source", source}}); }
  const board::group_entry& group_of(const char* family, const char* source) {
    return out.groups()[entry_of(out, family, {{"source", source}})->info.group];
  }
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/host");

TEST_CASE("a node that measures nothing announces no figure") {
  bench b;
  b.pass(3, {});
  CHECK(b.out.live_series() == 0);
}

TEST_CASE("packages and dram make the node's watts, not cores, not dram alone") {
  bench b;
  const auto dram = b.add(b.rapl, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}});
  b.out.set(dram, 7.5);
  b.pass(1, {b.rapl});
  CHECK(b.watts("rapl") == "no such series");
  const auto p0 = b.add(b.rapl, "rapl_power_watts", {{"package", "0"}});
  const auto p1 = b.add(b.rapl, "rapl_power_watts", {{"package", "1"}});
  b.out.set(b.add(b.rapl, "rapl_zone_power_watts", {{"zone", "core"}, {"package", "0"}}), 50.0);
  b.out.set(p0, 80.0);
  b.pass(1, {b.rapl});
  CHECK(b.watts("rapl") == "not_read_yet");  // a sum of what is there would be less than the node draws
  b.out.set(p1, 60.1);
  b.pass(1, {b.rapl});
  CHECK(b.watts("rapl") == "147.6");
  CHECK(b.group_of("host_power_watts", "rapl").read_at == b.clock.now);
}

TEST_CASE("the whole platform's meter goes before its parts") {
  bench b;
  b.out.set(b.add(b.rapl, "rapl_power_watts", {{"package", "0"}}), 80.0);
  b.out.set(b.add(b.rapl, "rapl_zone_power_watts", {{"zone", "psys"}}), 130.0);
  b.pass(1, {b.rapl});
  CHECK(b.watts("psys") == "130.0");
  CHECK(b.watts("rapl") == "no such series");
}

TEST_CASE("a value is as old as its oldest part and ends with the first") {
  bench b;
  const auto other = b.out.add_group("bmc", "slow", 5s, 30s);
  b.out.set(b.add(b.bmc, "bmc_power_watts", {{"sensor", "PS1"}, {"scope", "node"}}), 100.0);
  b.out.set(b.add(other, "bmc_power_watts", {{"sensor", "PS2"}, {"scope", "node"}}), 110.0);
  b.out.set(b.add(b.bmc, "bmc_power_watts", {{"sensor", "CPU1"}, {"scope", "part"}}), 60.0);
  b.out.mark_read(other, b.clock.now);
  const auto first = b.clock.now;
  b.pass(3, {b.bmc});
  CHECK(b.watts("bmc") == "210.0");
  CHECK(b.group_of("host_power_watts", "bmc").read_at == first);
  CHECK(b.group_of("host_power_watts", "bmc").info.stale_after_ms == 15'000);
}

TEST_CASE(
    "when the best source falls silent its last value ages, then the next one that measures as much counts") {
  bench b;
  const auto supplies = b.out.add_group("bmc", "supplies", 5s, 15s);
  b.out.set(b.add(b.bmc, "bmc_dcmi_power_watts"), 240.0);
  b.out.set(b.add(supplies, "bmc_power_watts", {{"sensor", "PS1"}, {"scope", "node"}}), 250.0);
  b.pass(1, {b.bmc, supplies});
  CHECK(b.watts("dcmi") == "240.0");
  const auto last = b.clock.now;
  b.pass(14, {supplies});
  CHECK(b.watts("dcmi") == "240.0");
  CHECK(b.group_of("host_power_watts", "dcmi").read_at == last);
  b.pass(1, {supplies});
  CHECK(b.watts("bmc") == "250.0");
  CHECK(b.watts("dcmi") == "no such series");
  // The better source counts again only after its stale-after.
  b.pass(15, {b.bmc, supplies});
  CHECK(b.watts("bmc") == "250.0");
  b.pass(1, {b.bmc, supplies});
  CHECK(b.watts("dcmi") == "240.0");
}

// Before, the packages' 80 W replaced the machine's 240 W, and a node whose BMC had died won every placement.
TEST_CASE("when the machine's meter falls silent the packages' lower watts do not count instead") {
  bench b;
  const auto package = b.add(b.rapl, "rapl_power_watts", {{"package", "0"}});
  b.out.set(package, 80.0);
  b.pass(3, {b.rapl});
  CHECK(b.watts("rapl") == "80.0");  // while the BMC has not been met
  b.out.set(b.add(b.bmc, "bmc_dcmi_power_watts"), 240.0);
  b.pass(16, {b.bmc, b.rapl});
  CHECK(b.watts("dcmi") == "240.0");
  b.pass(15, {b.rapl});
  CHECK(b.watts("dcmi") == "timeout");
  CHECK(b.watts("rapl") == "no such series");
  CHECK(agent::test::holds(b.host.limitation(), "rapl may measure less of the machine"));
  SUBCASE("also when its series are gone") {
    b.out.remove_group(b.bmc);
    b.pass(60, {b.rapl});
    CHECK(b.watts("dcmi") == "missing");
    CHECK(b.watts("rapl") == "no such series");
  }
  SUBCASE("back at once") {
    b.pass(1, {b.bmc, b.rapl});
    CHECK(b.watts("dcmi") == "240.0");
    CHECK(b.host.limitation().empty());
  }
}

// Before, the packages counted after every restart of the agent until the BMC was read. In a rollout each
// node in turn showed 80 W instead of 240 W, and won placements.
TEST_CASE("after the start the packages' watts do not count while the BMC is being found or read") {
  bench b;
  b.out.set(b.add(b.rapl, "rapl_power_watts", {{"package", "0"}}), 80.0);
  const auto about = b.out.add_group("bmc", "", 1s, 10s);
  const auto sensors = b.add(about, "bmc_sensors");
  b.pass(20, {b.rapl});
  CHECK(b.watts("bmc") == "not_read_yet");
  CHECK(b.watts("rapl") == "no such series");
  CHECK(b.host.limitation().empty());
  SUBCASE("it says which sensors it has, and they are read") {
    b.out.set(sensors, std::int64_t{1});
    const auto dcmi = b.add(b.bmc, "bmc_dcmi_power_watts");
    b.pass(10, {b.rapl, about});
    CHECK(b.watts("dcmi") == "not_read_yet");
    b.out.set(dcmi, 240.0);
    b.pass(1, {b.rapl, b.bmc, about});
    CHECK(b.watts("dcmi") == "240.0");
  }
  SUBCASE("it cannot be reached") {
    b.out.set_without_value("bmc", absence::timeout);
    b.pass(20, {b.rapl});
    CHECK(b.watts("bmc") == "not_read_yet");
    CHECK(b.watts("rapl") == "no such series");
  }
  SUBCASE("it refuses the password, so it will not be read") {
    b.out.set_without_value("bmc", absence::permission);
    b.pass(1, {b.rapl});
    CHECK(b.watts("rapl") == "80.0");
  }
  SUBCASE("it has no sensor of power") {
    b.out.set(sensors, std::int64_t{7});
    b.pass(1, {b.rapl, about});
    CHECK(b.watts("rapl") == "80.0");
    CHECK(b.host.limitation().empty());
  }
  SUBCASE("it says nothing for a minute") {
    b.pass(40, {b.rapl});
    CHECK(b.watts("bmc") == "not_read_yet");
    b.pass(1, {b.rapl});
    CHECK(b.watts("rapl") == "80.0");
    CHECK(agent::test::holds(b.host.limitation(), "bmc gave no value within"));
    b.out.set(sensors, std::int64_t{1});
    b.out.set(b.add(b.bmc, "bmc_dcmi_power_watts"), 240.0);
    b.pass(16, {b.rapl, b.bmc, about});
    CHECK(b.watts("dcmi") == "240.0");
    CHECK(b.host.limitation().empty());
  }
  SUBCASE("DCMI is there and gives nothing for a minute") {
    b.out.set(sensors, std::int64_t{1});
    b.out.set_absent(b.add(b.bmc, "bmc_dcmi_power_watts"), absence::timeout);
    b.pass(40, {b.rapl, about});
    CHECK(b.watts("dcmi") == "timeout");
    CHECK(b.watts("rapl") == "no such series");
    b.pass(1, {b.rapl, about});
    CHECK(b.watts("rapl") == "80.0");
  }
}

TEST_CASE("a machine without a BMC has its packages' watts at once") {
  bench b;
  b.out.set(b.add(b.rapl, "rapl_power_watts", {{"package", "0"}}), 80.0);
  b.pass(1, {b.rapl});
  CHECK(b.watts("rapl") == "80.0");
}

TEST_CASE("without any value the figure is absent, with the reason of its source") {
  bench b;
  const auto dcmi = b.add(b.bmc, "bmc_dcmi_power_watts");
  b.out.set_absent(dcmi, absence::no_data);
  b.pass(1, {b.bmc});
  CHECK(b.watts("dcmi") == "no_data");
  b.out.set(dcmi, 200.0);
  b.pass(1, {b.bmc});
  CHECK(b.watts("dcmi") == "200.0");
  b.pass(20, {});
  CHECK(b.watts("dcmi") == "timeout");
  b.out.remove_group(b.bmc);
  b.pass(1, {});
  CHECK(b.watts("dcmi") == "no such series");
}

TEST_CASE(
    "a supply that a new inventory lacks is missing, supplies that a sensor of the whole replaces are not") {
  bench b;
  auto supplies = b.out.add_group("bmc", "supplies", 5s, 15s);
  const auto say = [&](const char* name, const char* scope, double watts) {
    b.out.set(b.add(supplies, "bmc_power_watts",
                    {{"sensor", name}, {"entity", "power supply"}, {"id", name}, {"scope", scope}}),
              watts);
  };
  say("PS1", "node", 100);
  say("PS2", "node", 110);
  b.pass(1, {supplies});
  CHECK(b.watts("bmc") == "210.0");
  b.out.remove_group(supplies);
  supplies = b.out.add_group("bmc", "supplies", 5s, 15s);
  SUBCASE("one supply") {
    say("PS1", "node", 105);
    b.pass(15, {supplies});
    CHECK(b.watts("bmc") == "missing");
    CHECK(agent::test::holds(b.host.limitation(), "sensor=\"PS2\""));
    say("PS2", "node", 110);
    b.pass(1, {supplies});
    CHECK(b.watts("bmc") == "215.0");
  }
  SUBCASE("a sensor of the whole system") {
    for (const char* name : {"PS1", "PS2"}) say(name, "part", 100);
    say("System Power", "node", 205);
    b.pass(1, {supplies});
    CHECK(b.watts("bmc") == "205.0");
  }
}

// A BMC's sensor has the name "Input" while no other one of its kind has it. Before, it was taken for another
// sensor, and the sum was absent until the agent was restarted.
TEST_CASE("a sensor of the BMC whose name grows or shrinks is the same sensor") {
  bench b;
  auto supplies = b.out.add_group("bmc", "supplies", 5s, 15s);
  const auto say = [&](const char* name, const char* id, double watts) {
    b.out.set(b.add(supplies, "bmc_power_watts",
                    {{"sensor", name}, {"entity", "power supply"}, {"id", id}, {"scope", "node"}}),
              watts);
  };
  say("Input", "sensor 1", 100);
  b.pass(1, {supplies});
  CHECK(b.watts("bmc") == "100.0");
  b.out.remove_group(supplies);
  supplies = b.out.add_group("bmc", "supplies", 5s, 15s);
  say("Input (power supply 1)", "sensor 1", 100);
  say("Input (power supply 2)", "sensor 2", 110);
  b.pass(16, {supplies});
  CHECK(b.watts("bmc") == "210.0");
  CHECK(b.host.limitation().empty());
  b.out.remove_group(supplies);
  supplies = b.out.add_group("bmc", "supplies", 5s, 15s);
  say("Input", "sensor 1", 100);
  b.pass(16, {supplies});
  CHECK(b.watts("bmc") == "missing");
  CHECK(agent::test::holds(b.host.limitation(), "id=\"sensor 2\""));
}

// OpenBMC numbers its sensors anew when a fan or a drive comes or goes. Before, both figures were `missing`
// until the agent was restarted, although their sensors were on the board.
TEST_CASE("a BMC gives its sensors new numbers, and the figures stay") {
  bench b;
  auto sensors = b.out.add_group("bmc", "all", 5s, 15s);
  const auto labels = [](const char* name, const char* id) {
    return metrics::label_set{{"sensor", name}, {"entity", "unspecified 0"}, {"id", id}};
  };
  const auto watts = [&](const char* name, const char* id, const char* scope, double value) {
    auto at = labels(name, id);
    at.emplace_back("scope", scope);
    b.out.set(b.add(sensors, "bmc_power_watts", at), value);
  };
  const auto celsius = [&](const char* family, const char* name, const char* id, double value) {
    b.out.set(b.add(sensors, family, labels(name, id)), value);
  };
  const auto inlet = [&] { return shown(b.out, "host_inlet_temperature_celsius", {{"source", "bmc"}}); };
  watts("Total_Power", "20.0.e", "node", 300);
  celsius("bmc_inlet_temperature_celsius", "Inlet_Temp", "20.0.f", 24);
  b.pass(1, {sensors});
  CHECK(b.watts("bmc") == "300.0");
  CHECK(inlet() == "24.0");
  b.out.remove_group(sensors);
  sensors = b.out.add_group("bmc", "all", 5s, 15s);
  watts("Total_Power", "20.0.c", "node", 310);
  celsius("bmc_inlet_temperature_celsius", "Inlet_Temp", "20.0.d", 25);
  celsius("bmc_temperature_celsius", "DIMM_Temp", "20.0.e", 45);
  b.pass(16, {sensors});
  CHECK(b.watts("bmc") == "310.0");
  CHECK(inlet() == "25.0");
  CHECK(b.host.limitation().empty());
}

// Before, the other one's 24 °C were fresh and the node's.
TEST_CASE("the warmest inlet is the node's; one that dies makes it absent, one that never lived does not") {
  bench b;
  const auto other = b.out.add_group("bmc", "other", 5s, 15s);
  const auto left = b.add(b.bmc, "bmc_inlet_temperature_celsius", {{"sensor", "Inlet left"}});
  const auto right = b.add(other, "bmc_inlet_temperature_celsius", {{"sensor", "Inlet right"}});
  const auto third = b.add(b.bmc, "bmc_inlet_temperature_celsius", {{"sensor", "Inlet of no card"}});
  b.out.set(left, 24.0);
  b.out.set(right, 41.0);
  b.out.set_absent(third, absence::no_data);
  b.pass(1, {b.bmc, other});
  const auto inlet = [&] { return shown(b.out, "host_inlet_temperature_celsius", {{"source", "bmc"}}); };
  CHECK(inlet() == "41.0");
  SUBCASE("it says nothing") {
    b.out.set_absent(right, absence::timeout);
    b.pass(15, {b.bmc, other});
    CHECK(inlet() == "timeout");
    b.out.set(right, 40.0);
    b.pass(1, {b.bmc, other});
    CHECK(inlet() == "40.0");
  }
  SUBCASE("it is not read any more") {
    b.pass(15, {b.bmc});
    CHECK(inlet() == "timeout");
  }
  SUBCASE("its series goes") {
    b.out.remove_group(other);
    b.pass(15, {b.bmc});
    CHECK(inlet() == "missing");
    CHECK(agent::test::holds(b.host.limitation(), "sensor=\"Inlet right\""));
  }
}

// Before, it was taken for one that counted, and once the other one was read again, the inlet was absent.
TEST_CASE("an inlet whose value was old from the start has not counted") {
  bench b;
  const auto other = b.out.add_group("bmc", "other", 5s, 15s);
  b.out.set(b.add(b.bmc, "bmc_inlet_temperature_celsius", {{"sensor", "Inlet left"}}), 24.0);
  b.out.set(b.add(other, "bmc_inlet_temperature_celsius", {{"sensor", "Inlet right"}}), 41.0);
  b.pass(30, {b.bmc});
  CHECK(shown(b.out, "host_inlet_temperature_celsius", {{"source", "bmc"}}) == "24.0");
}

TEST_CASE("without an inlet of the BMC, what is named as one is taken, and nothing else") {
  bench b;
  const auto chips = b.out.add_group("os", "chips", 10s, 30s);
  const auto add = [&](const char* label, double celsius) {
    b.out.set(b.add(chips, "os_hwmon_temperature_celsius", {{"chip", "nct6798-isa-0290"}, {"sensor", label}}),
              celsius);
  };
  const auto inlet = [&](const char* source) {
    return shown(b.out, "host_inlet_temperature_celsius", {{"source", source}});
  };
  for (const char* other : {"SYSTIN", "temp1", "Outlet Temp", "Composite"}) add(other, 50);
  SUBCASE("no name is honest") {
    b.pass(1, {chips});
    CHECK(b.out.live_series() == 4);
  }
  SUBCASE("the warmest chip that is") {
    add("Inlet Temp", 23.5);
    add("ambient-port", 25);
    b.pass(1, {chips});
    CHECK(inlet("hwmon") == "25.0");
  }
  SUBCASE("a chip goes before a zone") {
    const auto zones = b.out.add_group("os", "zones", 10s, 30s);
    b.out.set(b.add(zones, "os_thermal_zone_temperature_celsius", {{"zone", "0"}, {"type", "acpitz"}}), 60.0);
    b.out.set(b.add(zones, "os_thermal_zone_temperature_celsius", {{"zone", "1"}, {"type", "ambient"}}),
              26.0);
    b.pass(1, {chips, zones});
    CHECK(inlet("thermal_zone") == "26.0");
    add("Inlet", 22);
    b.pass(31, {chips, zones});
    CHECK(inlet("hwmon") == "22.0");
    CHECK(inlet("thermal_zone") == "no such series");
  }
  SUBCASE("a BMC that is there goes before both") {
    add("Inlet Temp", 23.5);
    b.out.set(b.add(b.bmc, "bmc_inlet_temperature_celsius", {{"sensor", "Inlet"}}), 21.0);
    b.pass(1, {chips, b.bmc});
    CHECK(inlet("bmc") == "21.0");
    CHECK(inlet("hwmon") == "no such series");
  }
  SUBCASE("a person knows what SYSTIN is on this board, and says so") {
    std::vector<std::string> names{"systin"};
    SUBCASE("by its label") {}
    SUBCASE("by chip and label") { names = {"nct6798-*/SYSTIN"}; }
    host_source told(host_options{1s, names}, b.clock.source());
    b.clock.now += 1s;
    b.out.mark_read(chips, b.clock.now);
    REQUIRE(told.read(b.out).has_value());
    CHECK(inlet("hwmon") == "50.0");
  }
}

TEST_CASE("a figure that stays the same keeps its series, and its catalog") {
  bench b;
  b.out.set(b.add(b.rapl, "rapl_power_watts", {{"package", "0"}}), 80.0);
  b.pass(1, {b.rapl});
  const auto version = b.out.version();
  b.pass(60, {b.rapl});
  CHECK(b.out.version() == version);
}

TEST_SUITE_END();

}  // namespace host_test
