// Energy counters that never moved, that died, or whose watts round to 0: the first rows of "What is not
// believed" in agent/README.md.
#include "tests/agent/sources/host/plausibility/machines.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace plausibility_counters_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace binnacle::agent::plausibility;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/sources/host/plausibility/counters");

// A guest may have a psys that stays at 0. The agent once sent it as host_power_watts{source="psys"} 0.0, and
// such a node wins every placement by lowest watts.
TEST_CASE("a psys that never moves gives no watts; after 10 s it has a reason, and RAPL counts") {
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
  machine m(machines::xeon_two_sockets(), 0.5, 200ms);  // the least that is believed is 0.41 W
  m.begin();
  m.pass(200ms);
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
            0.415);  // memory draws 0.0498 W, shown as 0.0 W and for the first 20 s as 0 J
  m.begin();
  m.pass(20s);
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

// Before, such a package was the node with the lowest watts of all.
TEST_CASE("wrong unit: a package in mJ where µJ are promised is implausible, and so is its energy") {
  struct row {
    const char* what;
    std::vector<zone_spec> zones;
    double watts;
    const char* online;  // CPUs
    const char* least;   // in words
  };
  const auto alone = [](std::vector<zone_spec> zones) { return std::vector<zone_spec>{zones[0]}; };
  const std::vector<row> rows{{"the TDP is known", alone(machines::xeon_two_sockets()), 350, "0-7", "0.41 W"},
                              {"two sockets", machines::epyc(), 280, "0-7", "1.00 W"},
                              {"eight CPUs", alone(machines::epyc()), 120, "0-7", "0.20 W"},
                              {"96 CPUs", alone(machines::epyc()), 400, "0-95", "2.40 W"}};
  for (const auto& r : rows) {
    CAPTURE(r.what);
    machine m(r.zones, r.watts / 1000);
    m.sys.write("devices/system/cpu/online", std::string(r.online) + "\n");
    m.begin();
    m.pass(3s);
    CHECK(m.package("0") == "implausible");
    CHECK(shown(m.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "implausible");
    CHECK(m.watts() == std::nullopt);
    CHECK(holds(m.rapl.limitation(), fmt::format("less than the {} that it draws at least", r.least)));
    REQUIRE(m.sim.set_watts(fmt::format("{}", r.watts)));  // another kernel
    m.pass(11s);
    CHECK(m.package("0") == fmt::format("{:.1f}", r.watts));
  }
}

// Before, the least was 0 W, or that of one CPU, and a package of 0.15 W won every placement.
TEST_CASE("wrong unit: where the list of CPUs is not the machine's, CPUs with a topology count") {
  machine m(std::vector<zone_spec>{machines::epyc()[0]}, 0.15);
  const std::string cpus = "devices/system/cpu/";
  for (int cpu = 0; cpu < 64; ++cpu)
    m.sys.write(fmt::format("{}cpu{}/topology/physical_package_id", cpus, cpu), "0\n");
  SUBCASE("it cannot be read") { m.sys.write(cpus + "online/x", ""); }
  SUBCASE("it is a container's") { m.sys.write(cpus + "online", "0\n"); }
  m.begin();
  m.pass(3s);
  CHECK(m.package("0") == "implausible");
  CHECK(m.watts() == std::nullopt);
  CHECK(holds(m.rapl.limitation(), "less than the 1.60 W that it draws at least"));
}

// Before, a psys without packages was compared with the CPUs of the start for five minutes.
TEST_CASE("wrong unit: where psys is all there is, CPUs that come online count at the next reading") {
  machine m(std::vector<zone_spec>{{.name = "psys"}});  // draws 35 W
  m.sys.write("devices/system/cpu/online", "0\n");
  m.begin();
  m.pass(5s);
  CHECK(m.psys() == "35.0");
  m.sys.write("devices/system/cpu/online", "0-2047\n");
  m.pass(1s);
  CHECK(m.psys() == "implausible");
  CHECK(holds(m.rapl.limitation(), "less than the 51.20 W that it draws at least"));
}

// Before, the intervals in which it changed were watts of 15 to 75 W.
TEST_CASE("wrong unit: a package that takes turns between µJ and mJ has its true watts or none") {
  machine m(std::vector<zone_spec>{machines::epyc()[0]}, 150);
  m.sys.write("devices/system/cpu/online", "0-63\n");
  m.begin();
  int valid = 0;
  for (int half = 0; half < 130; ++half) {
    REQUIRE(m.sim.set_watts(half % 13 > 6 ? "0.15" : "150"));
    m.sim.advance(500ms);
    if (half % 2 == 0) continue;
    m.clock.now += 1s;
    m.read();
    const auto watts = m.watts();
    if (!watts) continue;
    ++valid;
    CAPTURE(half);
    CHECK(*watts == doctest::Approx(150));
  }
  CHECK(valid > 0);
}

TEST_CASE("wrong unit: energy that was not believed is in no later total") {
  machine m(std::vector<zone_spec>{machines::xeon_two_sockets()[0]}, 0.35);
  m.sys.write("devices/system/cpu/online", "0-7\n");
  m.begin();
  m.pass(300s);  // 105 J
  CHECK(m.package("0") == "implausible");
  REQUIRE(m.sim.set_watts("350"));
  m.pass(11s);
  CHECK(m.package("0") == "350.0");
  const auto joules = shown(m.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}});
  CHECK(std::stoi(joules) <= 3850);
}

TEST_CASE("wrong unit: what idles lowest is believed") {
  const auto alone = [](std::vector<zone_spec> zones) { return std::vector<zone_spec>{zones[0]}; };
  SUBCASE("a notebook of 28 W that sleeps nearly all the time") {
    machine m(machines::client(), 0.3);
    m.sys.write("devices/system/cpu/online", "0-7\n");
    m.begin();
    m.pass(3s);
    CHECK(m.package("0") == "0.3");
  }
  SUBCASE("a notebook of AMD with 16 CPUs") {
    machine m(alone(machines::epyc()), 1);
    m.sys.write("devices/system/cpu/online", "0-15\n");
    m.begin();
    m.pass(3s);
    CHECK(m.package("0") == "1.0");
  }
  SUBCASE("a socket without work in a server") {
    machine m(machines::epyc(), 12);
    m.sys.write("devices/system/cpu/online", "0-255\n");
    m.begin();
    m.pass(3s);
    CHECK(m.package("1") == "12.0");
  }
}

TEST_CASE("wrong unit: packages in nJ are implausible, not reset for ever") {
  machine m(machines::epyc(), 90'000);
  m.begin();
  m.pass(2s);
  CHECK(m.package("0") == "reset");
  m.pass(2s);
  CHECK(m.package("0") == "implausible");
  CHECK(m.node("rapl") == "implausible");
  CHECK(holds(m.rapl.limitation(),
              " W, more than the 1500 W that it can draw at most, so it is not used: its unit may be wrong"));
}

// Before, the jump was power: psys counted, then had none, and nothing took its place.
TEST_CASE("one jump: a psys that jumps once and then stands is dead, and RAPL counts") {
  machine m(machines::xeon_two_sockets());
  REQUIRE(m.sim.set_watts("psys stop"));
  m.begin();
  m.pass(3s);
  m.sys.write(zone_folder({2}) + "/energy_uj", "2300000000\n");  // 300 J more
  for (int second = 1; second <= 30; ++second) {
    m.pass(1s);
    CHECK(m.psys() == (second <= 10 ? "not_read_yet" : "never_moved"));
    CHECK(m.node("rapl") == (second <= 10 ? "no such series" : "224.0"));
  }
  CHECK(holds(m.rapl.limitation(), "psys has moved only once since it was first seen"));
}

TEST_CASE("backwards: a counter whose number falls is implausible, and says so") {
  machine m(std::vector<zone_spec>{{.name = "package-0"}});
  REQUIRE(m.sim.set_watts("package-0 stop"));
  m.begin();
  for (int second = 1; second <= 5; ++second) {
    m.sys.write(zone_folder({0}) + "/energy_uj",
                std::to_string(9'000'000'000 - second * 100'000'000ll) + "\n");
    m.clock.now += 1s;
    m.read();
  }
  CHECK(m.node("rapl") == "implausible");
  CHECK(holds(m.rapl.limitation(), "package-0 runs backwards"));
}

// Before, its rises were watts, and host_power_watts stood at 50 W, because a reset did not end its last
// value.
TEST_CASE("backwards now and then: a counter that falls at every second reading gives no lasting watts") {
  machine m(std::vector<zone_spec>{{.name = "package-0", .energy_uj = 9'000'000'000}});
  REQUIRE(m.sim.set_watts("package-0 stop"));
  m.begin();
  long long uj = 9'000'000'000;
  for (int second = 1; second <= 60; ++second) {
    CAPTURE(second);
    uj += second % 2 == 1 ? 50'000'000 : -150'000'000;
    m.sys.write(zone_folder({0}) + "/energy_uj", std::to_string(uj) + "\n");
    m.clock.now += 1s;
    m.read();
    if (second % 2 == 0) CHECK(m.watts() == std::nullopt);
    if (second >= 6) CHECK(m.node("rapl") == "implausible");
  }
  CHECK(holds(m.rapl.limitation(), "package-0 runs backwards"));
}

TEST_CASE("a range so small that wraps between two readings cannot be told has a sentence") {
  auto zones = machines::epyc();
  zones[0].range_uj = 1'200'000'000;
  machine m(zones);
  m.begin();
  m.pass(5s);
  CHECK(m.package("0") == "gap");
  CHECK(holds(m.rapl.limitation(), "package-0 starts again at 0 after 1200 J"));
  CHECK(holds(m.rapl.limitation(), "set rapl-period below 800 ms"));
}

// Before, the sentence asked for a rapl-period below 0.0 s, or below the 20 ms that are the least.
TEST_CASE("a range so small that no period is short enough is said to be wrong") {
  auto zones = machines::epyc();
  zones[0].energy_uj = 0;
  const char* range = "30 J";
  SUBCASE("20 ms of 1500 W") { zones[0].range_uj = 30'000'000; }
  SUBCASE("20.4 ms of 1500 W") {
    zones[0].range_uj = 30'600'000;
    range = "30.6 J";
  }
  machine m(zones);
  m.begin();
  m.pass(5s);
  CHECK(m.package("0") == "gap");
  CHECK(holds(m.rapl.limitation(), std::string("package-0 starts again at 0 after ") + range));
  CHECK(holds(m.rapl.limitation(), "its max_energy_range_uj may be wrong"));
  CHECK_FALSE(holds(m.rapl.limitation(), "rapl-period"));
}

// Before, such a counter was a gap for ever.
TEST_CASE("a range that the counter exceeds is none: its watts count") {
  machine m(
      std::vector<zone_spec>{{.name = "package-0", .energy_uj = 1'000'000'000, .range_uj = 262'143'328}});
  REQUIRE(m.sim.set_watts("package-0 stop"));
  m.begin();
  for (int second = 1; second <= 3; ++second) {
    m.sys.write(zone_folder({0}) + "/energy_uj", fmt::format("{}\n", 1'000'000'000 + second * 120'000'000));
    m.clock.now += 1s;
    m.read();
  }
  CHECK(m.package("0") == "120.0");
  CHECK(m.rapl.limitation().empty());
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

// Linux names it so on the packages after the first (intel_rapl_common.c). Before, it was a zone that nobody
// knows: dead, it was 0 W, and alive, it never counted.
TEST_CASE(
    "psys of another package: it is the platform, the one that moves counts, and two that move do not") {
  auto zones = machines::xeon_two_sockets();
  const auto by_first = [](machine& m) { return m.psys(); };
  const auto by_second = [](machine& m) {
    return shown(m.out, "rapl_zone_power_watts", {{"zone", "psys"}, {"package", "1"}});
  };
  SUBCASE("it alone") {
    zones[2].name = "psys-1";
    machine m(zones);
    m.begin();
    m.pass(5s);
    CHECK(by_second(m) == "259.0");
    CHECK(m.node("psys") == "259.0");
  }
  SUBCASE("it alone, dead") {
    zones[2].name = "psys-1";
    machine m(zones);
    REQUIRE(m.sim.set_watts("psys-1 stop"));
    m.begin();
    m.pass(12s);
    CHECK(by_second(m) == "never_moved");
    CHECK(m.node("rapl") == "224.0");
    CHECK(m.rapl.limitation().starts_with("psys-1 has never moved"));
  }
  SUBCASE("the first one's is dead") {
    zones.push_back({.name = "psys-1"});
    machine m(zones);
    REQUIRE(m.sim.set_watts("psys stop"));
    m.begin();
    m.pass(12s);
    CHECK(by_first(m) == "no such series");  // so a sum over psys is the live one
    CHECK(m.node("psys") == "259.0");
    CHECK(m.rapl.limitation().empty());
    REQUIRE(m.sim.set_watts("psys-1 stop"));
    m.pass(20s);
    CHECK(m.node("psys") == "stands_still");
    CHECK(by_first(m) == "no such series");
    REQUIRE(m.sim.set_watts("psys go"));  // it is back when it counts
    m.pass(4s);
    CHECK(by_first(m) == "259.0");
  }
  SUBCASE("both move") {
    zones.push_back({.name = "psys-1"});
    machine m(zones);
    m.begin();
    m.pass(5s);
    CHECK(by_first(m) == "259.0");
    CHECK(by_second(m) == "259.0");
    CHECK(m.node("rapl") == "224.0");
    CHECK(shown(m.out, "host_power_set_aside", {{"source", "psys"}, {"reason", "several"}}) == "1");
    CHECK(holds(m.host.limitation(), "several packages count a platform (psys)"));
  }
}

// Before, only a package that went while the agent ran was missing. After a restart the other one's 180 W
// were the node's.
TEST_CASE("half a machine: a package or its memory that nothing counts is missing from the start") {
  struct row {
    const char* what;
    const char* second_socket;  // physical_package_id of its CPUs; null: the kernel does not say any
    std::vector<unsigned> gone;
    const char* name;  // what the second package calls itself; null: package-1
    const char* node;
  };
  const std::vector<row> rows{{"all is there", "1", {}, nullptr, "403.2"},
                              {"the package is not there", "1", {1}, nullptr, "missing"},
                              {"its name is empty", "1", {}, "", "missing"},
                              {"it says the first one's name", "1", {}, "package-0", "missing"},
                              {"its name is unknown", "1", {}, "x", "missing"},
                              {"its memory is not there", "1", {1, 1}, nullptr, "missing"},
                              {"the machine has one socket", "0", {1}, nullptr, "201.6"},
                              {"the CPUs number the sockets differently", "4", {}, nullptr, "403.2"},
                              {"the kernel does not say where CPUs sit", nullptr, {1}, nullptr, "201.6"}};
  for (const auto& r : rows) {
    CAPTURE(r.what);
    auto zones = machines::xeon_two_sockets();
    zones.pop_back();  // psys
    machine m(zones, 180);
    for (int cpu = 0; r.second_socket != nullptr && cpu < 4; ++cpu) {
      m.sys.write(fmt::format("devices/system/cpu/cpu{}/topology/physical_package_id", cpu),
                  cpu % 2 == 0 ? "0\n" : std::string(r.second_socket) + "\n");
    }
    if (!r.gone.empty()) m.sys.remove(zone_folder(r.gone));
    if (r.name != nullptr) m.sys.write(zone_folder({1}) + "/name", std::string(r.name) + "\n");
    m.begin();
    m.pass(10s);
    CHECK(m.node("rapl") == r.node);
    CHECK(m.package("0") == "180.0");
    CHECK(m.rapl.limitation().empty() == (m.node("rapl") != "missing"));
    REQUIRE(m.rapl.discover(m.out));  // and so it stays
    m.pass(1s);
    CHECK(m.node("rapl") == r.node);
  }
}

// Before, the memory of the second socket was missing, and so was the sum, for good.
TEST_CASE("a socket without DIMMs has no memory that could be missing") {
  auto zones = machines::xeon_two_sockets();
  zones.pop_back();  // psys
  machine m(zones, 180);
  for (int cpu = 0; cpu < 4; ++cpu) {
    m.sys.write(fmt::format("devices/system/cpu/cpu{}/topology/physical_package_id", cpu),
                cpu % 2 == 0 ? "0\n" : "1\n");
  }
  m.sys.remove(zone_folder({1, 1}));
  const std::string nodes = "devices/system/node/";
  m.sys.write(nodes + "node0/cpulist", "0,2\n");
  m.sys.write(nodes + "node1/cpulist", "1,3\n");
  m.sys.write(nodes + "online", "0-1\n");
  SUBCASE("so the sum is there") {
    m.sys.write(nodes + "has_memory", "0\n");
    m.begin();
    m.pass(10s);
    CHECK(m.node("rapl") == "381.6");
    CHECK(m.dram("1") == "no such series");
    CHECK(m.rapl.limitation().empty());
  }
  SUBCASE("a socket with DIMMs has") {
    m.sys.write(nodes + "has_memory", "0-1\n");
    m.begin();
    m.pass(10s);
    CHECK(m.node("rapl") == "missing");
  }
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

TEST_SUITE_END();

}  // namespace plausibility_counters_test
