// A source of host_power_watts that says less than a part of the machine draws: RAPL, psys. The rows of "What
// is not believed" in agent/README.md that set a source aside.
#include "tests/agent/sources/host/plausibility/machines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace plausibility_below_parts_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace binnacle::agent::plausibility;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/sources/host/plausibility/below_parts");

TEST_CASE("psys below its packages and memory: never believed from the first comparison on") {
  desk d;
  d.has_psys();
  d.parts(150);
  d.out.set(d.psys, 12.0);
  d.pass(1);
  CHECK(d.node("rapl") == "160.0");
  CHECK(d.node("psys") == "no such series");
  CHECK(d.set_aside("psys", "below_parts") == "1");
  CHECK(d.out.series()[d.psys].reason == absence::implausible);
  CHECK(holds(d.host.limitation(), "psys said 12.0 W, less than the 160.0 W"));
  SUBCASE("half a minute after it fits it is shown again, and counts when it has stayed") {
    for (int i = 0; i < 31; ++i) {
      d.out.set(d.psys, 210.0);  // its source sets it even while it is withheld
      CHECK(d.out.series()[d.psys].reason == absence::implausible);
      d.pass(1);
    }
    CHECK(d.out.series()[d.psys].reason == absence::none);
    CHECK(d.set_aside("psys", "below_parts") == "0");
    CHECK(d.host.limitation().empty());
    d.pass(11);
    CHECK(d.node("psys") == "210.0");
  }
  SUBCASE("with RAPL gone nobody can say that it fits") {
    d.out.set(d.psys, 210.0);
    d.out.set_absent(d.package, absence::no_data);
    d.out.set_absent(d.memory, absence::no_data);
    d.pass(120);
    CHECK(d.out.series()[d.psys].reason == absence::implausible);
    CHECK(d.node("rapl") == "no_data");
  }
}

TEST_CASE(
    "psys below its packages and memory: 10 s of it for one that was believed, noise and steps are none") {
  desk d;
  d.has_psys();
  d.parts(100);
  d.out.set(d.psys, 150.0);
  d.pass(2);
  CHECK(d.node("psys") == "150.0");
  SUBCASE("within 10 % and 5 W for ever") {
    d.out.set(d.psys, 94.5);  // 110 * 0.9 - 5 = 94
    d.pass(100);
    CHECK(d.node("psys") == "94.5");
  }
  SUBCASE("far below for nine seconds, again and again") {
    for (int i = 0; i < 20; ++i) {
      d.out.set(d.psys, 60.0);
      d.pass(9);
      CHECK(d.node("psys") == "60.0");
      d.out.set(d.psys, 150.0);
      d.pass(1);
    }
    CHECK(d.node("psys") == "150.0");
  }
  SUBCASE("far below for longer") {
    d.out.set(d.psys, 60.0);
    d.pass(11);
    CHECK(d.node("psys") == "implausible");
    CHECK(d.node("rapl") == "no such series");
  }
  SUBCASE("far below, with readings of RAPL that fail now and then") {
    d.out.set(d.psys, 60.0);
    for (int i = 0; i < 15; ++i) {
      d.parts(100);
      if (i % 4 == 0) d.out.set_absent(d.package, absence::no_data);
      d.pass(1);
    }
    CHECK(d.set_aside("psys", "below_parts") == "1");
  }
  SUBCASE("far below around five seconds without RAPL, of which nobody knows anything") {
    d.out.set(d.psys, 60.0);
    d.pass(6);
    d.out.set_absent(d.package, absence::no_data);
    d.pass(5);
    d.parts(100);
    d.pass(9);
    CHECK(d.node("psys") == "60.0");
  }
  SUBCASE("one package that has no value does not hide it") {
    const auto other = d.out.add_series(d.rapl, "rapl_power_watts", {{"package", "1"}});
    d.out.set_absent(other, absence::stands_still);
    d.out.set(d.psys, 60.0);
    d.pass(11);
    CHECK(d.set_aside("psys", "below_parts") == "1");
    CHECK(d.node("psys") == "implausible");  // no other way has a value
  }
}

TEST_CASE("below RAPL: supplies and DCMI are set aside after a minute, since a BMC's mean comes late") {
  desk d;
  const char* way = "dcmi";
  const auto say = [&](double watts) {
    if (d.dcmi != board::no_series) return d.out.set(d.dcmi, watts);
    for (const auto s : d.supply) d.out.set(s, watts / 2);
  };
  SUBCASE("DCMI") { d.has_dcmi(); }
  SUBCASE("the sum of the supplies") {
    d.has_supplies();
    way = "bmc";
  }
  d.parts(60);
  say(180);
  d.pass(10);
  CHECK(d.node(way) == "180.0");
  d.parts(300);  // a step of the load
  d.pass(59);
  CHECK(d.node(way) == "180.0");
  say(420);
  d.pass(10);
  say(180);  // from now on it is wrong
  d.pass(61);
  CHECK(d.node(way) == "implausible");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside(way, "below_parts") == "1");
  say(420);
  d.pass(60);
  CHECK(d.node(way) == "420.0");
  CHECK(d.set_aside(way, "below_parts") == "0");
}

/// With a meter of the whole machine: "dcmi", or "bmc" for the sum of two supplies.
struct metered : desk {
  explicit metered(const char* source) : way(source) {
    if (std::string_view(way) == "dcmi") {
      has_dcmi();
    } else {
      has_supplies();
    }
  }
  void say(double watts) {
    if (dcmi != board::no_series) return out.set(dcmi, watts);
    for (const auto s : supply) out.set(s, watts / 2);
  }
  std::string said() { return node(way); }

  const char* way;
};

/// RAPL and the meter agree for long enough.
struct agreed : metered {
  explicit agreed(const char* source) : metered(source) {
    parts(150);
    say(240);
    pass(200);
    CHECK(said() == "240.0");
  }
};

/// RAPL has had no value yet, and the meter says 60 W.
struct started : metered {
  explicit started(const char* source) : metered(source) {
    for (const auto s : {package, memory}) out.set_absent(s, absence::not_read_yet);
    say(60);
    pass(2);
    CHECK(said() == "not_read_yet");
    CHECK(host.limitation().empty());
  }
};

// Before, the 8 W of a sensor that had died were the node's for a minute, and every pod of that minute went
// there.
TEST_CASE("below RAPL by far: a meter of the machine that collapses is set aside at once") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    d.say(8);
    d.pass(1);
    CHECK(d.said() == "implausible");
    CHECK(d.node("rapl") == "no such series");
    CHECK(d.set_aside(way, "below_parts") == "1");
    d.say(240);
    d.pass(60);
    CHECK(d.said() == "240.0");
  }
}

TEST_CASE("below RAPL by far: a number that an idle machine may have counts for a minute") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    d.say(40);
    d.pass(59);
    CHECK(d.said() == "40.0");
  }
}

TEST_CASE("below RAPL by far: the load falls and rises, and the meter comes a minute late") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    d.parts(8, 4);
    d.pass(60);
    d.say(45);
    d.pass(300);
    d.parts(500);
    d.pass(59);
    CHECK(d.said() == "45.0");
    d.say(620);
    d.pass(300);
    d.parts(8, 4);
    d.pass(60);
    d.say(45);
    d.pass(60);
    CHECK(d.said() == "45.0");
    CHECK(d.host.limitation().empty());
  }
}

TEST_CASE("below RAPL by far: after a gap of RAPL a minute, since nobody knows what the processors drew") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    for (const auto s : {d.package, d.memory}) d.out.set_absent(s, absence::gap);
    d.pass(1);
    d.parts(150);
    d.say(8);
    d.pass(60);
    CHECK(d.said() == "8.0");
    d.pass(1);
    CHECK(d.said() == "implausible");
  }
}

namespace {

/// Two packages of 90 W and a true DCMI.
struct two_packages : metered {
  board::series_ref other = out.add_series(rapl, "rapl_power_watts", {{"package", "1"}});

  two_packages() : metered("dcmi") {
    say_all(417);
    pass(10);
    CHECK(said() == "417.0");
  }
  void say_all(double by_dcmi) {
    parts(90);
    out.set(other, 90.0);
    say(by_dcmi);
  }
  /// Lets time pass in which the first `gap` seconds of each `every` lack the values of `silent`.
  void pass_with_gaps(int seconds, double by_dcmi, const std::vector<board::series_ref>& silent, int gap,
                      int every) {
    for (int i = 0; i < seconds; ++i) {
      say_all(by_dcmi);
      if (i % every < gap)
        for (const auto s : silent) out.set_absent(s, absence::no_data);
      pass(1);
    }
  }
};

}  // namespace

// Before, each second without RAPL began the minute anew. A false DCMI was believed for ever if a reading
// failed every 45 s, or if the counters moved every 4 s.
TEST_CASE("below RAPL: values that are missing now and then begin no new minute") {
  two_packages d;
  std::vector<board::series_ref> silent;
  int gap = 2, every = 20;
  SUBCASE("RAPL's") { silent = {d.package, d.other, d.memory}; }
  SUBCASE("those of one package of two") { silent = {d.other}; }
  SUBCASE("the meter's") { silent = {d.dcmi}; }
  SUBCASE("RAPL's, whose counters move every four seconds") {
    silent = {d.package, d.other, d.memory};
    gap = 3;
    every = 4;
  }
  d.pass_with_gaps(60, 130, silent, gap, every);
  CHECK(d.said() == "130.0");
  d.pass_with_gaps(20, 130, silent, gap, every);
  CHECK(d.said() == "implausible");
  CHECK(d.set_aside("dcmi", "below_parts") == "1");
  d.pass_with_gaps(20, 417, silent, gap, every);  // nor a new half minute of agreement
  CHECK(d.set_aside("dcmi", "below_parts") == "1");
  d.pass_with_gaps(40, 417, silent, gap, every);
  CHECK(d.said() == "417.0");
}

TEST_CASE("below RAPL: after 20 s without the values that contradict, the minute begins anew") {
  two_packages d;
  std::vector<board::series_ref> silent;
  SUBCASE("RAPL's") { silent = {d.package, d.other, d.memory}; }
  SUBCASE("those of one package of two") { silent = {d.other}; }
  SUBCASE("the meter's") { silent = {d.dcmi}; }
  d.say_all(130);
  d.pass(50);
  for (const auto s : silent) d.out.set_absent(s, absence::no_data);
  d.pass(21);
  d.say_all(130);
  d.pass(60);
  CHECK(d.set_aside("dcmi", "below_parts") == "no such series");
  d.pass(1);
  CHECK(d.set_aside("dcmi", "below_parts") == "1");
}

// Before, DCMI's 60 W counted for two seconds after each start of the agent. Then they were set aside, and
// the node had no watts until the next start.
TEST_CASE("below RAPL at the start: no meter of the machine counts before RAPL has had a value") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    started low(way);
    low.parts(150);
    low.pass(1);
    CHECK(low.node("rapl") == "160.0");
    CHECK(low.set_aside(way, "below_parts") == "1");

    started right(way);
    right.parts(30);
    right.pass(1);
    CHECK(right.said() == "60.0");

    // RAPL may not be read, or never counts, as in many guests.
    for (const absence why : {absence::permission, absence::never_moved}) {
      started d(way);
      for (const auto s : {d.package, d.memory}) d.out.set_absent(s, why);
      d.pass(1);
      CHECK(d.said() == "60.0");
    }

    // Not for longer than power-wait.
    started d(way);
    d.pass(58);
    CHECK(d.said() == "not_read_yet");
    d.pass(1);
    CHECK(d.said() == "60.0");
    d.out.set_absent(d.package, absence::gap);  // and later not at all
    d.pass(1);
    CHECK(d.said() == "60.0");
  }
}

// Before, DCMI's 150 W beside psys' 300 W were believed, because they were compared only with the packages'
// 120 W.
TEST_CASE("below psys: supplies and DCMI are set aside, since the platform is a part of the machine") {
  desk d;
  const char* way = "dcmi";
  d.has_psys();
  SUBCASE("DCMI") { d.has_dcmi(); }
  SUBCASE("the sum of the supplies") {
    d.has_supplies();
    way = "bmc";
  }
  const auto say = [&](double watts) {
    if (d.dcmi != board::no_series) return d.out.set(d.dcmi, watts);
    for (const auto s : d.supply) d.out.set(s, watts / 2);
  };
  d.parts(110);
  d.out.set(d.psys, 300.0);
  say(150);
  d.pass(1);
  CHECK(d.node("psys") == "300.0");
  CHECK(d.set_aside(way, "below_parts") == "1");
  CHECK(holds(d.host.limitation(), "less than the 300.0 W of the platform (psys)"));
  d.out.set_absent(d.psys, absence::stands_still);  // without psys nobody can say that it agrees
  d.pass(60);
  CHECK(d.node("psys") == "stands_still");
  CHECK(d.set_aside(way, "below_parts") == "1");
  d.out.set(d.psys, 20.0);  // a psys that is not believed itself does not count
  d.pass(11);
  CHECK(d.set_aside("psys", "below_parts") == "1");
  d.pass(50);
  CHECK(d.node(way) == "150.0");
  CHECK(d.set_aside(way, "below_parts") == "0");
}

// Before, the sentence blamed the BMC alone, and advised to restart the agent to use psys.
TEST_CASE("hwmon below RAPL: the sensors that power-sensors names lack something") {
  desk d;
  const auto chips = d.out.add_group("os", "chip", 10s, 30s);
  const auto sensor = d.out.add_series(chips, "os_hwmon_power_watts",
                                       {{"chip", "ina3221-i2c-1-40"}, {"sensor", "CPU power"}});
  host_source told(host_options{.period = 1s, .powers = {"CPU power"}}, d.clock.source());
  d.parts(150);
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      d.clock.now += 1s;
      for (const auto g : {d.rapl, chips}) d.out.mark_read(g, d.clock.now);
      REQUIRE(told.read(d.out));
    }
  };
  d.out.set(sensor, 90.0);
  pass(1);
  CHECK(d.node("rapl") == "160.0");
  CHECK(d.set_aside("hwmon", "below_parts") == "1");
  CHECK(d.out.series()[sensor].reason == absence::implausible);
  CHECK(holds(told.limitation(), "a sensor may be missing in power-sensors"));
  d.out.set(sensor, 170.0);
  pass(31);
  CHECK(d.set_aside("hwmon", "below_parts") == "0");
  CHECK(d.out.series()[sensor].reason == absence::none);
}

// Before, the package's 3 W were the node's, which won every placement.
TEST_CASE("a package below its own cores and graphics: the sum of packages is set aside") {
  desk d;
  const auto core = d.out.add_series(d.rapl, "rapl_zone_power_watts", {{"zone", "core"}, {"package", "0"}});
  const auto graphics =
      d.out.add_series(d.rapl, "rapl_zone_power_watts", {{"zone", "uncore"}, {"package", "0"}});
  const auto says = [&](double package, double of_cores, double of_graphics) {
    d.parts(package);
    d.out.set(core, of_cores);
    d.out.set(graphics, of_graphics);
  };
  SUBCASE("from the first comparison on, and back after half a minute of agreement") {
    says(3, 80, 5);
    d.pass(1);
    CHECK(d.node("rapl") == "implausible");
    CHECK(d.set_aside("rapl", "below_parts") == "1");
    CHECK(d.out.series()[d.package].reason == absence::implausible);
    CHECK(d.out.series()[d.memory].reason == absence::none);
    CHECK(holds(d.host.limitation(), "rapl said 13.0 W, less than the 95.0 W of the zones inside it"));
    says(95, 80, 5);
    d.pass(31);
    CHECK(d.node("rapl") == "105.0");
    CHECK(d.out.series()[d.package].reason == absence::none);
    CHECK(d.host.limitation().empty());
  }
  SUBCASE("later after 10 s") {
    says(95, 80, 5);
    d.pass(5);
    says(40, 50, 10);
    d.pass(10);
    CHECK(d.node("rapl") == "50.0");
    d.pass(1);
    CHECK(d.node("rapl") == "implausible");
  }
  SUBCASE("not for what the counters differ by") {
    says(80, 82, 5);
    d.pass(60);
    CHECK(d.node("rapl") == "90.0");
  }
  SUBCASE("one package of two, though the other one draws more than all cores") {
    d.out.set(d.out.add_series(d.rapl, "rapl_power_watts", {{"package", "1"}}), 200.0);
    says(3, 80, 5);
    d.pass(1);
    CHECK(d.set_aside("rapl", "below_parts") == "1");
  }
  SUBCASE("a meter of the machine that says less than the cores is set aside with it") {
    d.out.set(d.has_system_sensor("Sys Power"), 20.0);
    says(3, 80, 5);
    d.pass(120);
    CHECK(d.set_aside("bmc", "below_parts") == "1");
    CHECK(d.node("bmc") == "implausible");
  }
  SUBCASE("a meter of the machine that says more counts") {
    d.out.set(d.has_system_sensor("Sys Power"), 200.0);
    says(3, 80, 5);
    d.pass(120);
    CHECK(d.node("bmc") == "200.0");
    CHECK(d.set_aside("rapl", "below_parts") == "1");
  }
}

TEST_CASE("a package below its own cores: its energy and its free watts are withheld with it") {
  auto zones = machines::xeon_two_sockets();
  zones.pop_back();  // psys
  machine m(zones);
  m.begin();
  m.pass(5s);
  CHECK(m.node("rapl") == "224.0");
  for (int second = 1; second <= 15; ++second) {
    m.sim.advance(1s);
    m.sys.write(zone_folder({0}) + "/energy_uj", std::to_string(2'000'000 * second) + "\n");  // 2 W
    m.clock.now += 1s;
    m.read();
  }
  const auto of_first = [&m](const char* family) { return shown(m.out, family, {{"package", "0"}}); };
  CHECK(m.node("rapl") == "implausible");
  CHECK(m.package("0") == "implausible");
  CHECK(of_first("rapl_headroom_ratio") == "implausible");
  CHECK(of_first("rapl_tdp_utilization_ratio") == "implausible");
  CHECK(shown(m.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "implausible");
  CHECK(m.dram("0") == "12.0");
}

// Before, two sockets of two dies were four packages, 600 W, and a true DCMI was never believed again.
TEST_CASE("below parts: dies that each show their socket's counter do not set a true DCMI aside") {
  std::vector<zone_spec> dies;
  for (const char* name : {"package-0-die-0", "package-0-die-1", "package-1-die-0", "package-1-die-1"})
    dies.push_back({.name = name, .range_uj = 65'532'610'987});
  machine m(dies, 150);
  m.sys.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
  const auto bmc = m.out.add_group("bmc", "dcmi.power", 5s, 15s);
  const auto dcmi = m.out.add_series(bmc, "bmc_dcmi_power_watts", {});
  m.begin();
  for (int second = 0; second < 90; ++second) {
    m.out.set(dcmi, 420.0);
    m.out.mark_read(bmc, m.clock.now);
    m.pass(1s);
  }
  CHECK(m.package("0") == "150.0");
  CHECK(m.package("1") == "150.0");
  CHECK(m.node("dcmi") == "420.0");
  CHECK(m.out.series()[dcmi].reason == absence::none);
}

// Before, a policy on DCMI's mean or on the platform's energy got the number that host_power_watts refused.
TEST_SUITE_END();

}  // namespace plausibility_below_parts_test
