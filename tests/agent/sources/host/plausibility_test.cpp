// The table of rules in agent/README.md ("What is not believed"): one case for each line.
#include "agent/sources/host/host.hpp"
#include "agent/sources/rapl/rapl.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/powercap_sim.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plausibility_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::fake_clock;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// A simulated machine that both sources read, as the sampler would.
struct machine {
  explicit machine(std::vector<zone_spec> zones, double watts = 100, duration step = 1s)
      : period(step),
        sim(sys.path(), std::move(zones), watts, 0),
        rapl({.sys_root = sys.path(), .pause = [](duration) {}}, clock.source()),
        host(host_options{.period = 1s}, clock.source()) {}

  void begin() {
    REQUIRE(rapl.discover(out));
    read();
  }
  void read() {
    REQUIRE(rapl.read(out));
    REQUIRE(host.read(out));
  }
  void pass(duration time) {
    for (duration t{}; t < time; t += period) {
      sim.advance(period);
      clock.now += period;
      read();
    }
  }
  /// Lets a period pass during which a zone's counter dies.
  void kill(const std::string& zone, double share) {
    const auto before = std::chrono::duration_cast<duration>(period * share);
    sim.advance(before);
    REQUIRE(sim.set_watts(zone + " stop"));
    sim.advance(period - before);
    clock.now += period;
    read();
  }
  /// host_power_watts from whichever source. Nothing if it is absent.
  std::optional<double> watts() const {
    for (const auto& e : out.series()) {
      if (e.removed || e.info.family != "host_power_watts" || e.reason != absence::none) continue;
      return to_double(e.value);
    }
    return std::nullopt;
  }
  std::string package(const char* name) { return shown(out, "rapl_power_watts", {{"package", name}}); }
  std::string psys() { return shown(out, "rapl_zone_power_watts", {{"zone", "psys"}}); }
  std::string dram(const char* name) {
    return shown(out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", name}});
  }
  std::string node(const char* source) { return shown(out, "host_power_watts", {{"source", source}}); }

  duration period;
  temp_folder sys;
  powercap_sim sim;
  fake_clock clock;
  board out;
  rapl_source rapl;
  host_source host;
};

/// A board on which a test puts the values of the sources.
struct desk {
  fake_clock clock;
  board out;
  host_source host{host_options{.period = 1s}, clock.source()};
  board::group_ref rapl = out.add_group("rapl", "", 1s, 10s);
  board::group_ref bmc = out.add_group("bmc", "dcmi.power", 5s, 15s);
  board::series_ref package = out.add_series(rapl, "rapl_power_watts", {{"package", "0"}});
  board::series_ref memory =
      out.add_series(rapl, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}});
  board::series_ref dcmi = board::no_series, psys = board::no_series;
  board::series_ref supply[2] = {board::no_series, board::no_series};

  void has_dcmi() { dcmi = out.add_series(bmc, "bmc_dcmi_power_watts", {}); }
  void has_psys() { psys = out.add_series(rapl, "rapl_zone_power_watts", {{"zone", "psys"}}); }
  void has_supplies() {
    for (const char* name : {"PS1", "PS2"})
      supply[name[2] - '1'] = out.add_series(
          bmc, "bmc_power_watts", {{"sensor", name}, {"entity", "x"}, {"id", name}, {"scope", "node"}});
  }
  void parts(double packages, double dram = 10) {
    out.set(package, packages);
    out.set(memory, dram);
  }
  /// Lets time pass in steps of a second. The BMC is read at every fifth step.
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock.now += 1s;
      out.mark_read(rapl, clock.now);
      if (++ticks_ % 5 == 0) out.mark_read(bmc, clock.now);
      REQUIRE(host.read(out));
    }
  }
  std::string node(const char* source) { return shown(out, "host_power_watts", {{"source", source}}); }
  std::string set_aside(const char* source, const char* reason) {
    return shown(out, "host_power_set_aside", {{"source", source}, {"reason", reason}});
  }

 private:
  int ticks_ = 4;  // so that the first step reads everything
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/host/plausibility");

// A guest has a psys that nothing fills. Before, the agent then sent host_power_watts{source="psys"} 0.0,
// which wins every placement by lowest watts.
TEST_CASE("never moved: a dead psys is no watts at any moment, has its reason after 10 s, and RAPL counts") {
  machine m(machines::xeon_two_sockets());
  REQUIRE(m.sim.set_watts("psys stop"));
  m.begin();
  for (int second = 1; second <= 30; ++second) {
    m.pass(1s);
    CHECK(m.psys() == (second < 10 ? "not_read_yet" : "never_moved"));
    CHECK(shown(m.out, "rapl_energy_joules_total", {{"zone", "psys"}}) == m.psys());
    // While psys is not known to be dead, RAPL's lower watts do not count instead.
    CHECK(m.node("psys") == (second < 10 ? "not_read_yet" : "no such series"));
    CHECK(m.node("rapl") == (second < 10 ? "no such series" : "224.0"));
  }
  CHECK(holds(m.rapl.limitation(), "psys has never moved since it was first seen"));
  CHECK(holds(m.rapl.limitation(), "virtual machine"));
  REQUIRE(m.sim.set_watts("psys go"));
  m.pass(2s);
  CHECK(m.psys() == "gap");
  m.pass(1s);
  CHECK(m.psys() == "259.0");
  CHECK(m.rapl.limitation().empty());
  m.pass(11s);
  CHECK(m.node("psys") == "259.0");
}

TEST_CASE("never moved: where psys is all there is, the node's watts are absent with that reason") {
  machine m(std::vector<zone_spec>{{.name = "psys"}});
  REQUIRE(m.sim.set_watts("psys stop"));
  m.begin();
  m.pass(9s);
  CHECK(m.node("psys") == "not_read_yet");
  m.pass(2s);
  CHECK(m.node("psys") == "never_moved");
}

TEST_CASE(
    "stands still: a package that dies is absent within a second, named after 10 s, and back by itself") {
  machine m(machines::epyc());
  m.begin();
  m.pass(5s);
  CHECK(m.node("rapl") == "200.0");
  REQUIRE(m.sim.set_watts("package-0 stop"));
  m.pass(1s);
  CHECK(m.package("0") == "no_data");
  CHECK(m.package("1") == "100.0");
  CHECK(shown(m.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "no_data");
  CHECK(m.node("rapl") == "no_data");  // at once: the last sum may be of the interval in which it died
  m.pass(9s);
  CHECK(m.package("0") == "stands_still");
  CHECK(shown(m.out, "rapl_headroom_ratio", {{"package", "0"}}) == "stands_still");
  m.pass(1s);
  CHECK(m.node("rapl") == "stands_still");
  CHECK(holds(m.rapl.limitation(), "package-0 has stood still for more than 10 s"));
  REQUIRE(m.sim.set_watts("package-0 go"));
  m.pass(3s);
  CHECK(m.package("0") == "100.0");
  CHECK(m.node("rapl") == "200.0");
  CHECK(m.rapl.limitation().empty());
}

TEST_CASE(
    "a sensor that dies: host_power_watts is never lower because of it, at whatever moment, then absent") {
  struct what {
    const char* name;
    std::vector<zone_spec> zones;
    double watts;
  };
  const std::vector<what> all{{"package-0", machines::epyc(), 200},
                              {"psys", machines::xeon_two_sockets(), 259},
                              {"package-1", machines::xeon_two_sockets(), 259},
                              {"dram", machines::xeon_two_sockets(), 259}};
  for (const auto& one : all) {
    for (const auto period : {200ms, 1000ms}) {
      for (const double share : {0.001, 0.3, 0.6, 0.9, 0.999}) {
        CAPTURE(one.name);
        CAPTURE(period.count());
        CAPTURE(share);
        machine m(one.zones, 100, period);
        m.begin();
        m.pass(15s);
        REQUIRE(m.watts() == one.watts);
        m.kill(one.name, share);
        for (duration t{}; t < 30s; t += period) {
          if (const auto now = m.watts()) REQUIRE(*now >= one.watts * 0.99);
          m.pass(period);
        }
        const bool other_counts = one.name != all[0].name && one.name != all[1].name;  // psys still counts
        CHECK(m.watts().has_value() == other_counts);
      }
    }
  }
}

TEST_CASE("a short period: reading every 200 ms finds no counter standing that moves, nor 0 W") {
  machine m(machines::xeon_two_sockets(), 0.5, 200ms);
  m.begin();
  for (int i = 0; i < 300; ++i) {
    m.pass(200ms);
    REQUIRE(m.package("0") == "0.5");
    REQUIRE(m.psys() == "36.1");
  }
  CHECK(m.rapl.limitation().empty());
}

TEST_CASE("small memory: a zone under the steps that leave the node is no zone that stands still") {
  machine m(machines::xeon_two_sockets(),
            0.2);  // memory draws 0.024 W, shown as 0.0 W and for the first 41 s as 0 J
  m.begin();
  m.pass(30s);
  CHECK(m.dram("0") == "0.0");
  CHECK(shown(m.out, "rapl_energy_joules_total", {{"zone", "dram"}, {"package", "0"}}) == "0");
  CHECK(m.rapl.limitation().empty());
}

TEST_CASE("cores and graphics: they may stand still, and 0 W is their value") {
  machine m(machines::client(), 20);
  for (const char* zone : {"core stop", "uncore stop"}) REQUIRE(m.sim.set_watts(zone));
  m.begin();
  m.pass(30s);
  for (const char* zone : {"core", "uncore"}) {
    CHECK(shown(m.out, "rapl_zone_power_watts", {{"zone", zone}, {"package", "0"}}) == "0.0");
    CHECK(shown(m.out, "rapl_energy_joules_total", {{"zone", zone}, {"package", "0"}}) == "0");
  }
  CHECK(m.rapl.limitation().empty());
}

TEST_CASE("a zone that nobody knows: it may stand still, and 0 W is its value") {
  auto zones = machines::client();
  zones[0].parts.push_back({.name = "dlvr"});
  machine m(zones, 20);
  SUBCASE("from the beginning") {}
  SUBCASE("after it moved") {
    m.begin();
    m.pass(5s);
  }
  REQUIRE(m.sim.set_watts("dlvr stop"));
  if (m.out.series().empty()) m.begin();
  m.pass(30s);
  CHECK(shown(m.out, "rapl_zone_power_watts", {{"zone", "dlvr"}, {"package", "0"}}) == "0.0");
  CHECK(m.package("0") == "20.0");
  CHECK(m.rapl.limitation().empty());
}

TEST_CASE(
    "zero: a package that moves so little that it shows 0 W is implausible, and so what is made of it") {
  machine m(machines::epyc(), 0.01);
  m.begin();
  m.pass(3s);
  CHECK(m.package("0") == "implausible");
  CHECK(shown(m.out, "rapl_tdp_utilization_ratio", {{"package", "0"}}) == "implausible");
  CHECK(m.node("rapl") == "implausible");
  CHECK(holds(m.rapl.limitation(), "says 0 W although it is on"));
}

TEST_CASE("zero: a psys that moves so little that it shows 0 W is implausible") {
  machine m(std::vector<zone_spec>{{.name = "psys"}});
  REQUIRE(m.sim.set_watts("psys stop"));
  m.begin();
  for (int second = 1; second <= 15; ++second) {
    m.sys.write(zone_folder({0}) + "/energy_uj", std::to_string(second * 10'000) + "\n");  // 0.01 W
    m.clock.now += 1s;
    m.read();
  }
  CHECK(m.psys() == "implausible");
  CHECK(m.node("psys") == "implausible");
  CHECK(holds(m.rapl.limitation(), "says 0 W although it is on"));
}

TEST_CASE("zero: DCMI and a sensor of the whole system that say 0 W are set aside at once") {
  desk d;
  const char* way = "dcmi";
  SUBCASE("DCMI") { d.has_dcmi(); }
  SUBCASE("the system's sensor") {
    d.dcmi = d.out.add_series(d.bmc, "bmc_power_watts", {{"sensor", "System Power"}, {"scope", "node"}});
    way = "bmc";
  }
  d.parts(100);
  d.out.set(d.dcmi, 240.0);
  d.pass(6);
  CHECK(d.node(way) == "240.0");
  d.out.set_absent(d.dcmi, absence::implausible);  // as reason_of() gives it for 0 W
  d.pass(1);
  CHECK(d.node(way) == "implausible");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside(way, "zero") == "1");
  CHECK(holds(d.host.limitation(), std::string(way) + " says 0 W although the machine is on"));
  d.out.set_absent(d.dcmi, absence::timeout);
  d.pass(1);
  CHECK(d.node(way) == "timeout");
  for (int i = 0; i < 31; ++i) {
    d.out.set(d.dcmi, 250.0);
    d.pass(1);
  }
  CHECK(d.node(way) == "250.0");
  CHECK(d.set_aside(way, "zero") == "0");
}

TEST_CASE("zero: supplies that all say 0 W are set aside, one of two may") {
  desk d;
  d.has_supplies();
  d.parts(100);
  d.out.set(d.supply[0], 180.0);
  d.out.set(d.supply[1], 0.0);
  d.pass(6);
  CHECK(d.node("bmc") == "180.0");
  d.out.set(d.supply[0], 0.0);
  d.pass(1);
  CHECK(d.node("bmc") == "implausible");
  CHECK(d.node("rapl") == "no such series");  // packages alone are less than the machine
  CHECK(d.set_aside("bmc", "zero") == "1");
  CHECK(d.out.series()[d.supply[0]].reason == absence::implausible);
  CHECK(holds(d.host.limitation(), "bmc says 0 W although the machine is on"));
}

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

TEST_CASE("DCMI and the supplies contradict each other: the lower one is set aside") {
  desk d;
  d.has_dcmi();
  d.has_supplies();
  const auto say = [&](double by_dcmi, double by_supplies) {
    d.out.set(d.dcmi, by_dcmi);
    for (const auto s : d.supply) d.out.set(s, by_supplies / 2);
  };
  d.parts(60);
  say(300, 310);
  d.pass(10);
  CHECK(d.node("dcmi") == "300.0");
  SUBCASE("DCMI") {
    say(150, 310);
    d.pass(59);
    CHECK(d.node("dcmi") == "150.0");
    d.pass(2);
    CHECK(d.node("bmc") == "310.0");
    CHECK(d.set_aside("dcmi", "below_other") == "1");
    CHECK(holds(d.host.limitation(), "dcmi said 150.0 W, less than the 310.0 W of bmc"));
    CHECK(holds(d.host.limitation(), "bmc-roles"));
    SUBCASE("the supplies fall silent: nobody can say that it fits") {
      for (const auto s : d.supply) d.out.set_absent(s, absence::no_data);
      d.pass(60);
      CHECK(d.node("bmc") == "no_data");
    }
    SUBCASE("the supplies are found to be hanging: they contradict nothing") {
      d.parts(120);
      d.pass(240);
      CHECK(d.set_aside("bmc", "stands_still") == "1");
      CHECK(d.set_aside("dcmi", "below_other") == "0");
    }
  }
  SUBCASE("the supplies") {
    say(300, 150);  // the sum lacks one supply
    d.pass(61);
    CHECK(d.node("dcmi") == "300.0");
    CHECK(d.set_aside("bmc", "below_other") == "1");
    say(300, 290);
    d.pass(31);
    CHECK(d.set_aside("bmc", "below_other") == "0");
  }
  SUBCASE("not for what supplies lose, nor for the steps of their sensors") {
    say(300, 370);
    d.pass(100);
    CHECK(d.node("dcmi") == "300.0");
    CHECK(d.host.limitation().empty());
  }
}

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

TEST_CASE("a source that is set aside and then goes away is no longer set aside") {
  desk d;
  d.has_dcmi();
  d.parts(150);
  d.out.set(d.dcmi, 12.0);
  d.pass(1);
  CHECK(d.set_aside("dcmi", "below_parts") == "1");
  d.out.remove_group(d.bmc);
  d.pass(1);
  CHECK(d.set_aside("dcmi", "below_parts") == "0");
  CHECK(d.host.limitation().empty());
}

// Before, RAPL had to move by 40 W, which never happens on a node of 20 to 55 W.
TEST_CASE("stands still while RAPL moves: also on a small machine, and not for a few watts of a large one") {
  desk d;
  d.has_dcmi();
  const auto moves = [&](double from, double to) {
    d.parts(from, 0.1);
    d.pass(60);
    d.parts(to, 0.1);
    d.pass(105);
  };
  SUBCASE("a node of 45 W") {
    d.out.set(d.dcmi, 45.0);
    moves(9, 24);
    CHECK(d.node("dcmi") == "frozen");
    CHECK(d.set_aside("dcmi", "stands_still") == "1");
  }
  SUBCASE("the same node, a little busier: a BMC's sensor may have such steps") {
    d.out.set(d.dcmi, 45.0);
    moves(9, 16);
    CHECK(d.node("dcmi") == "45.0");
  }
  SUBCASE("as many watts are a twentieth of a large machine") {
    d.out.set(d.dcmi, 900.0);
    moves(90, 135);
    CHECK(d.node("dcmi") == "900.0");
  }
}

TEST_CASE(
    "stands still while RAPL moves: DCMI is set aside, its series left to `frozen`, and back when it moves") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 240.0);
  d.parts(60);
  d.pass(60);
  CHECK(d.node("dcmi") == "240.0");
  d.parts(160);
  d.pass(75);
  CHECK(d.node("dcmi") == "240.0");
  d.pass(30);
  CHECK(d.node("dcmi") == "frozen");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside("dcmi", "stands_still") == "1");
  CHECK(shown(d.out, "bmc_dcmi_power_watts") == "240.0");
  CHECK(holds(d.host.limitation(), "dcmi has said exactly 240.0 W"));
  d.out.set(d.dcmi, 320.0);
  d.pass(60);
  CHECK(d.node("dcmi") == "320.0");
}

TEST_CASE("stands still while RAPL moves: so it is with the sum of the supplies") {
  desk d;
  d.has_supplies();
  const auto say = [&d](double watts) {
    for (const auto s : d.supply) d.out.set(s, watts / 2);
  };
  say(240);
  d.parts(60);
  d.pass(60);
  CHECK(d.node("bmc") == "240.0");
  d.parts(160);
  d.pass(75);
  CHECK(d.node("bmc") == "240.0");
  d.pass(30);
  CHECK(d.node("bmc") == "frozen");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside("bmc", "stands_still") == "1");
  CHECK(holds(d.host.limitation(), "bmc has said exactly 240.0 W"));
  say(320);
  d.pass(60);
  CHECK(d.node("bmc") == "320.0");
  CHECK(d.set_aside("bmc", "stands_still") == "0");
}

TEST_CASE("stands still while RAPL moves: not on an idle machine, not for spikes") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 240.0);
  SUBCASE("an idle machine") {
    for (int i = 0; i < 600; ++i) {
      d.parts(60 + i % 3);
      d.pass(1);
    }
  }
  SUBCASE("spikes of a second") {
    for (int i = 0; i < 600; ++i) {
      d.parts(i % 20 == 0 ? 200 : 60);
      d.pass(1);
    }
  }
  CHECK(d.node("dcmi") == "240.0");
  CHECK(d.host.limitation().empty());
}

TEST_CASE("memory that never moved counts as memory that is not there, memory that died does not") {
  machine m(machines::xeon_two_sockets());
  REQUIRE(m.sim.set_watts("psys stop"));
  REQUIRE(m.sim.set_watts("dram stop"));
  m.begin();
  m.pass(11s);
  CHECK(m.dram("0") == "never_moved");
  CHECK(m.node("rapl") == "200.0");
  REQUIRE(m.sim.set_watts("dram go"));
  m.pass(4s);
  CHECK(m.node("rapl") == "224.0");
  REQUIRE(m.sim.set_watts("dram stop"));
  m.pass(25s);
  CHECK(m.dram("0") == "stands_still");
  CHECK(m.node("rapl") == "stands_still");
}

namespace {

/// An Arm server: it has no RAPL, only sensors of chips and firmware.
struct arm {
  fake_clock clock;
  board out;
  host_source host{host_options{.period = 1s}, clock.source()};
  board::group_ref chip = out.add_group("os", "apm_xgene-APMC0D29:00", 10s, 30s);
  board::group_ref firmware = out.add_group("os", "arm-scmi", 10s, 30s);
  board::group_ref bmc = out.add_group("bmc", "dcmi.power", 5s, 15s);

  board::series_ref sensor(const char* driver, const char* label, double watts) {
    const auto s = out.add_series(chip, "os_hwmon_power_watts", {{"chip", driver}, {"sensor", label}});
    out.set(s, watts);
    return s;
  }
  board::series_ref zone(const char* name, double watts, const char* family = "os_powercap_power_watts") {
    const auto s = out.add_series(firmware, family, {{"chip", "arm-scmi"}, {"zone", name}});
    out.set(s, watts);
    return s;
  }
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock.now += 1s;
      for (const auto g : {chip, firmware, bmc}) out.mark_read(g, clock.now);
      REQUIRE(host.read(out));
    }
  }
  std::string node(const char* source) { return shown(out, "host_power_watts", {{"source", source}}); }
  std::string set_aside(const char* source, const char* reason) {
    return shown(out, "host_power_set_aside", {{"source", source}, {"reason", reason}});
  }
};

}  // namespace

TEST_CASE("hwmon: the processors of an Arm server feed host_power_watts, a card and a drive do not") {
  arm a;
  a.sensor("apm_xgene-APMC0D29:00", "CPU power", 75.5);
  a.sensor("apm_xgene-APMC0D29:00", "IO power", 31.2);
  a.sensor("amdgpu-0000:03:00.0", "PPT", 210);
  a.sensor("smpro_hwmon-smpro-hwmon.3.auto", "power1 CORE VRD", 75.5);  // the same once more
  a.pass(1);
  CHECK(a.node("hwmon") == "106.7");
  SUBCASE("0 W of one of them is not believed, nor is the sum that it is part of") {
    a.sensor("apm_xgene-APMC0D29:00", "CPU power", 0);
    const auto card = a.sensor("amdgpu-0000:03:00.0", "PPT", 0);
    a.pass(1);
    CHECK(a.node("hwmon") == "implausible");
    CHECK(shown(a.out, "os_hwmon_power_watts",
                {{"chip", "apm_xgene-APMC0D29:00"}, {"sensor", "CPU power"}}) == "implausible");
    CHECK(a.out.series()[card].reason == absence::none);  // the card sleeps, so its 0 W are valid
    CHECK(a.set_aside("hwmon", "zero") == "1");
    CHECK(holds(a.host.limitation(), "hwmon says 0 W although the processors are on"));
    a.sensor("apm_xgene-APMC0D29:00", "CPU power", 60);
    a.pass(1);
    CHECK(a.node("hwmon") == "91.2");
    CHECK(a.set_aside("hwmon", "zero") == "0");
  }
  SUBCASE("one that cannot be read takes the sum with it") {
    a.out.set_absent(a.sensor("apm_xgene-APMC0D29:00", "IO power", 0), absence::no_data);
    a.pass(31);
    CHECK(a.node("hwmon") == "no_data");
  }
}

TEST_CASE("hwmon: a person knows which of a board's sensors make the sum, and says so") {
  arm a;
  a.sensor("power_meter-ACPI000D:00", "power1", 410);
  a.sensor("power_meter-ACPI000D:01", "power1", 320);
  a.pass(1);
  CHECK(a.node("hwmon") == "no such series");
  host_source told(host_options{.period = 1s, .powers = {"power_meter-ACPI000D:00/power1"}},
                   a.clock.source());
  REQUIRE(told.read(a.out));
  CHECK(a.node("hwmon") == "410.0");
}

TEST_CASE("arm-scmi: zones that are in no other make host_power_watts, before hwmon, and 0 W is none") {
  arm a;
  a.sensor("scmi_sensors-scmi_dev.2", "soc", 182.0);
  a.zone("SOC 0", 182.4);
  const auto second = a.zone("SOC 1", 170);
  a.zone("CLUSTER", 64.1, "os_powercap_part_power_watts");
  a.pass(1);
  CHECK(a.node("arm-scmi") == "352.4");
  a.out.set(second, 0.0);
  a.pass(1);
  CHECK(a.set_aside("arm-scmi", "zero") == "1");
  CHECK(a.out.series()[second].reason == absence::implausible);
  // Nobody knows whether the chip measures as much: it may show one socket of two.
  CHECK(a.node("hwmon") == "no such series");
  CHECK(a.node("arm-scmi") == "implausible");
  a.out.set(second, 160.0);
  a.pass(1);
  CHECK(a.node("arm-scmi") == "342.4");
}

TEST_CASE("arm-scmi and hwmon: DCMI that contradicts the processors is set aside, as beside RAPL") {
  arm a;
  const auto dcmi = a.out.add_series(a.bmc, "bmc_dcmi_power_watts", {});
  const char* witness = "hwmon";
  const auto draw = [&](double watts) {
    if (std::string_view(witness) == "hwmon")
      a.sensor("apm_xgene-APMC0D29:00", "CPU power", watts);
    else
      a.zone("SOC", watts);
  };
  SUBCASE("hwmon") {}
  SUBCASE("arm-scmi") { witness = "arm-scmi"; }
  draw(150);
  SUBCASE("less than they draw, from the first comparison on") {
    a.out.set(dcmi, 90.0);
    a.pass(1);
    CHECK(a.node(witness) == "150.0");
    CHECK(a.set_aside("dcmi", "below_parts") == "1");
    CHECK(holds(a.host.limitation(), "less than the 150.0 W of the processors"));
  }
  SUBCASE("the same number while they move") {
    a.out.set(dcmi, 400.0);
    a.pass(60);
    CHECK(a.node("dcmi") == "400.0");
    draw(260);
    a.pass(105);
    CHECK(a.node("dcmi") == "frozen");
    CHECK(holds(a.host.limitation(), std::string("in which ") + witness + " moved"));
  }
}

TEST_SUITE_END();

}  // namespace plausibility_test
