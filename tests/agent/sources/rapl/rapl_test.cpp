#include "agent/sources/rapl/rapl.hpp"

#include "tests/agent/support.hpp"
#include "tests/support/machine/powercap_sim.hpp"
#include "tests/support/machine/powercap_tree.hpp"
#include "tests/support/no_file_capabilities.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace rapl_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::entry_of;
using agent::test::fake_clock;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// A simulated machine, its clock, and a RAPL source that reads it.
struct bench {
  explicit bench(std::vector<zone_spec> machine, double watts = 100, rapl_options options = {})
      : sim(sys.path(), std::move(machine), watts, 0), source(adapted(std::move(options)), clock.source()) {}

  rapl_options adapted(rapl_options o) {
    o.sys_root = sys.path();
    o.proc_root = sys / "proc";
    o.pause = [this](duration d) { pass(d); };
    return o;
  }
  void pass(duration time) {
    sim.advance(time);
    clock.now += time;
  }
  // Finds everything, and reads until there are watts.
  void warm_up() {
    REQUIRE(source.discover(out));
    REQUIRE(source.read(out));
    for (int i = 0; i < 2; ++i) {
      pass(1s);
      REQUIRE(source.read(out));
    }
  }
  std::string watts(const std::string& package) {
    return shown(out, "rapl_power_watts", {{"package", package}});
  }
  std::string part(const std::string& zone, const std::string& package) {
    return shown(out, "rapl_zone_power_watts", {{"zone", zone}, {"package", package}});
  }

  temp_folder sys;
  powercap_sim sim;
  fake_clock clock;
  board out;
  rapl_source source;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/rapl/source");

TEST_CASE("power, energy, limits, headroom and utilization of a two-socket machine") {
  bench b(machines::xeon_two_sockets(), 123.04);
  b.warm_up();
  CHECK(b.watts("0") == "123.0");
  CHECK(b.watts("1") == "123.0");
  CHECK(b.part("dram", "0") == "14.8");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "310.6");
  CHECK(shown(b.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "1"}}) == "246");
  CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "205.0");
  CHECK(shown(b.out, "rapl_limit_watts", {{"package", "0"}, {"constraint", "long_term"}}) == "205.0");
  CHECK(shown(b.out, "rapl_limit_watts", {{"package", "0"}, {"constraint", "short_term"}}) == "246.0");
  CHECK(shown(b.out, "rapl_headroom_ratio", {{"package", "0"}}) == "0.3998");
  CHECK(shown(b.out, "rapl_tdp_utilization_ratio", {{"package", "0"}}) == "0.6002");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("every series the source announces is one of METRICS.md, with its labels in order") {
  bench b(machines::client());
  b.warm_up();
  CHECK(b.out.live_series() > 10);
  agent::test::check_families(b.out, false);
}

TEST_CASE("every package of every kind of machine has its power") {
  struct row {
    machine_kind machine;
    std::vector<std::string> packages;
  };
  std::vector<std::string> sixteen;
  for (int i = 0; i < 16; ++i) sixteen.push_back(std::to_string(i));
  for (const auto& r : {row{machine_kind::xeon_two_sockets, {"0", "1"}},
                        row{machine_kind::xeon_dies, {"0-die-0", "0-die-1", "1-die-0", "1-die-1"}},
                        row{machine_kind::client, {"0"}}, row{machine_kind::epyc, {"0", "1"}},
                        row{machine_kind::sixteen_packages, sixteen}}) {
    CAPTURE(static_cast<int>(r.machine));
    bench b(zones_of(r.machine), 40);
    b.warm_up();
    CHECK(b.source.limitation().empty());
    for (const auto& p : r.packages) CHECK(b.watts(p) == "40.0");
    std::size_t found = 0;
    for (const auto& e : b.out.series()) found += e.info.family == "rapl_power_watts" ? 1 : 0;
    CHECK(found == r.packages.size());
  }
}

TEST_CASE("a client's limits: above its TDP, one limit more than servers have, and one without a maximum") {
  bench b(machines::client(), 20);
  b.warm_up();
  const auto limit = [&](const char* name) {
    return shown(b.out, "rapl_limit_watts", {{"package", "0"}, {"constraint", name}});
  };
  CHECK(limit("long_term") == "28.0");
  CHECK(limit("short_term") == "64.0");
  CHECK(limit("peak_power") == "121.0");
  CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "28.0");
  CHECK(b.part("uncore", "0") != "no such series");
  // A driver may suddenly say ENODATA. An empty file, which is no number either, stands for that.
  b.sys.write(zone_folder({0}) + "/constraint_2_power_limit_uw", "");
  b.pass(1s);
  REQUIRE(b.source.read(b.out));
  CHECK(limit("peak_power") != "121.0");
  CHECK(limit("short_term") == "64.0");
  CHECK(b.watts("0") == "20.0");
}

TEST_CASE("the first reading has neither power nor energy, but limits") {
  bench b(machines::xeon_two_sockets());
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") == "not_read_yet");
  CHECK(shown(b.out, "rapl_headroom_ratio", {{"package", "0"}}) == "not_read_yet");
  CHECK(shown(b.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "not_read_yet");
  CHECK(shown(b.out, "rapl_limit_watts", {{"package", "0"}, {"constraint", "long_term"}}) == "205.0");
}

TEST_CASE("a simulated hour of load wraps every counter and loses no joule") {
  bench b(machines::xeon_two_sockets(), 200);
  b.warm_up();
  for (int second = 0; second < 3600; ++second) {
    b.pass(1s);
    REQUIRE(b.source.read(b.out));
    REQUIRE(b.watts("0") == "200.0");
    REQUIRE(b.part("dram", "1") == "24.0");
  }
  CHECK(shown(b.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "720400");
}

TEST_CASE("power follows a change of load within one period") {
  bench b(machines::xeon_two_sockets(), 50);
  b.warm_up();
  REQUIRE(b.sim.set_watts("package-1 180\n"));
  b.pass(200ms);
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") == "50.0");
  CHECK(b.watts("1") == "180.0");
}

TEST_CASE("the configured TDP counts, else the kernel's; without one utilization is absent") {
  SUBCASE("AMD, unconfigured") {
    bench b(machines::epyc());
    b.warm_up();
    CHECK(b.watts("0") == "100.0");
    CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "no_data");
    CHECK(shown(b.out, "rapl_tdp_utilization_ratio", {{"package", "0"}}) == "no_data");
    CHECK(shown(b.out, "rapl_headroom_ratio", {{"package", "0"}}) == "no_data");
    CHECK(b.source.limitation().empty());  // empty, because looking again would not help
  }
  SUBCASE("AMD, configured") {
    bench b(machines::epyc(), 100, {.tdp_watts = 250});
    b.warm_up();
    CHECK(shown(b.out, "rapl_tdp_utilization_ratio", {{"package", "0"}}) == "0.4000");
  }
  SUBCASE("the configuration wins over the kernel's word") {
    bench b(machines::xeon_two_sockets(), 100, {.tdp_watts = 999});
    b.warm_up();
    CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "999.0");
  }
  SUBCASE("a zero is no TDP") {
    auto zones = machines::xeon_two_sockets();
    zones[0].constraints[0].max_power_uw = 0;
    bench b(zones);
    b.warm_up();
    CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "no_data");
    CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "1"}}) == "205.0");
  }
}

// Before, a TDP of 1 µW bounded the package at 150 W, and one of 2^63 µW was a gap at each reading.
TEST_CASE("a TDP that no package has is unknown, and hides no package's watts") {
  struct row {
    std::uint64_t max_power_uw;
    const char* said;
  };
  for (const auto& r : {row{1, "1e-06 W"}, row{std::uint64_t{1} << 63, "9.22337e+12 W"},
                        row{4'000'000'001, "which is not believed"}}) {
    CAPTURE(r.max_power_uw);
    auto zones = machines::xeon_two_sockets();
    zones[0].constraints[0].max_power_uw = r.max_power_uw;
    const auto utilization = [](const bench& b) {
      return shown(b.out, "rapl_tdp_utilization_ratio", {{"package", "0"}});
    };
    bench b(zones, 200);
    b.warm_up();
    CHECK(b.watts("0") == "200.0");
    CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "no_data");
    CHECK(utilization(b) == "no_data");
    CHECK(b.source.limitation().find(r.said) != std::string::npos);
    CHECK(b.source.limitation().find("rapl-tdp") != std::string::npos);
    bench told(zones, 200, {.tdp_watts = 250});
    told.warm_up();
    CHECK(utilization(told) == "0.8000");
    CHECK(told.source.limitation().empty());
  }
}

// Before, the kernel's 12 W refused a package of 240 W for ever, and rapl-tdp changed nothing.
TEST_CASE("a TDP of the kernel that is far too low is named with rapl-tdp, which mends it") {
  auto zones = machines::xeon_two_sockets();
  zones[0].constraints[0].max_power_uw = 12'000'000;
  bench b(zones, 240);
  b.warm_up();
  for (int i = 0; i < 3; ++i) {
    b.pass(1s);
    REQUIRE(b.source.read(b.out));
  }
  CHECK(b.watts("0") == "implausible");
  CHECK(b.source.limitation().find("more than the 150 W that it can draw at most") != std::string::npos);
  CHECK(b.source.limitation().find("if 12 W is not its TDP, set rapl-tdp") != std::string::npos);
  bench told(zones, 240, {.tdp_watts = 300});
  told.warm_up();
  CHECK(told.watts("0") == "240.0");
  CHECK(told.source.limitation().empty());
}

TEST_CASE("a notebook may turbo far above its TDP without being taken for a reset") {
  bench b(machines::client(), 121);
  b.warm_up();
  CHECK(b.watts("0") == "121.0");
  CHECK(shown(b.out, "rapl_limit_watts", {{"package", "0"}, {"constraint", "peak_power"}}) == "121.0");
  CHECK(entry_of(b.out, "rapl_headroom_ratio", {{"package", "0"}})->value.mantissa < 0);
}

TEST_CASE("one broken file makes that zone absent with a reason, the others go on") {
  bench b(machines::xeon_two_sockets());
  b.warm_up();
  const auto energy = zone_folder({0}) + "/energy_uj";
  std::string reason;
  SUBCASE("empty, as ENODATA") {
    b.sys.write(energy, "");
    reason = "no_data";
  }
  SUBCASE("not a number, which libpowercap takes for 0") {
    b.sys.write(energy, "broken\n");
    reason = "malformed";
  }
  SUBCASE("a number with something behind it, which libpowercap takes for 12") {
    b.sys.write(energy, "12x\n");
    reason = "malformed";
  }
  SUBCASE("negative, which libpowercap takes for a huge one") {
    b.sys.write(energy, "-5\n");
    reason = "malformed";
  }
  SUBCASE("too large for 64 bits") {
    b.sys.write(energy, "99999999999999999999999\n");
    reason = "malformed";
  }
  b.clock.now += 1s;
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") == reason);
  CHECK(shown(b.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == reason);
  CHECK(shown(b.out, "rapl_tdp_utilization_ratio", {{"package", "0"}}) == reason);
  CHECK(b.watts("1") == "no_data");  // their counters were read, and have not moved
  CHECK(b.part("dram", "0") == "no_data");
  CHECK(b.part("core", "0") == "0.0");
  CHECK(b.source.limitation().find("intel-rapl:0/energy_uj") != std::string::npos);

  b.pass(1s);  // the simulator writes a valid number again
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") != reason);
  CHECK(b.source.limitation().empty());
}

TEST_CASE("a zone that vanishes stays announced as missing and comes back by itself") {
  bench b(machines::xeon_two_sockets());
  b.warm_up();
  b.sys.remove(zone_folder({1}));
  b.pass(1s);
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") == "100.0");
  CHECK(b.watts("1") == "missing");
  CHECK(b.part("dram", "1") == "missing");
  CHECK(shown(b.out, "rapl_limit_watts", {{"package", "1"}, {"constraint", "long_term"}}) == "missing");
  CHECK(b.source.limitation().find("package-1 has vanished from ") == 0);
  CHECK(b.source.limitation().find("restart the agent if the zone has another name") != std::string::npos);

  write_powercap_tree(b.sys.path(), machines::xeon_two_sockets());
  b.clock.now += 1s;
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("1") == "reset");
  powercap_sim again(b.sys.path(), machines::xeon_two_sockets(), 60, 0);
  REQUIRE(b.source.discover(b.out));
  for (int i = 0; i < 2; ++i) {
    again.advance(1s);
    b.clock.now += 1s;
    REQUIRE(b.source.read(b.out));
  }
  CHECK(b.watts("1") == "60.0");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("a die that has CPUs and no zone is missing from the start, and comes by itself") {
  bench b(machines::xeon_dies());
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    const auto topology = "devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    b.sys.write(topology + "physical_package_id", std::to_string(cpu / 2) + "\n");
    b.sys.write(topology + "die_id", std::to_string(cpu % 2) + "\n");
  }
  std::filesystem::rename(b.sys / zone_folder({3}), b.sys / "gone");
  b.warm_up();
  CHECK(b.watts("1-die-0") == "100.0");
  CHECK(b.watts("1-die-1") == "missing");
  CHECK(b.part("dram", "1-die-1") == "missing");
  CHECK(b.source.limitation().find("package-1-die-1 has no energy counter") == 0);
  std::filesystem::rename(b.sys / "gone", b.sys / zone_folder({3}));
  b.warm_up();
  CHECK(b.watts("1-die-1") == "100.0");
  CHECK(b.source.limitation().empty());
}

// On 448 CPUs these are 1344 files.
TEST_CASE("where CPUs sit is read again only when other CPUs are online") {
  bench b(machines::epyc());
  const auto sits = [&b](unsigned cpu, const char* package) {
    b.sys.write("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id", package);
  };
  sits(0, "0\n");
  sits(1, "1\n");
  b.sys.write("devices/system/cpu/online", "0-1\n");
  b.warm_up();
  sits(2, "2\n");
  REQUIRE(b.source.discover(b.out));
  CHECK(b.watts("2") == "no such series");
  b.sys.write("devices/system/cpu/online", "0-2\n");
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("2") == "missing");
}

// Before, the other socket's watts were the node's for up to five minutes.
TEST_CASE("a socket that comes online is found at the next reading") {
  bench b(machines::epyc());
  const std::string cpus = "devices/system/cpu/";
  b.sys.write(cpus + "cpu0/topology/physical_package_id", "0\n");
  b.sys.write(cpus + "online", "0\n");
  std::filesystem::rename(b.sys / zone_folder({1}), b.sys / "gone");
  b.warm_up();
  CHECK(b.watts("0") == "100.0");
  CHECK(b.watts("1") == "no such series");
  std::filesystem::rename(b.sys / "gone", b.sys / zone_folder({1}));
  b.sys.write(cpus + "cpu1/topology/physical_package_id", "1\n");
  b.sys.write(cpus + "online", "0-1\n");
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("1") != "no such series");
  for (int i = 0; i < 2; ++i) {
    b.pass(1s);
    REQUIRE(b.source.read(b.out));
  }
  CHECK(b.watts("0") == "100.0");
  CHECK(b.watts("1") == "100.0");
}

TEST_CASE("when the whole tree goes, the source fails and says so, and works again when it is back") {
  bench b(machines::epyc());
  b.warm_up();
  b.sys.remove("devices");
  CHECK(!b.source.discover(b.out));
  const auto failed = b.source.read(b.out);
  REQUIRE(!failed);
  CHECK(failed.error().message.find("has vanished") != std::string::npos);
  CHECK(b.watts("0") == "missing");
  write_powercap_tree(b.sys.path(), machines::epyc());
  REQUIRE(b.source.discover(b.out));
  CHECK(b.source.read(b.out));
}

TEST_CASE("reading before anything was found is an error, not a crash") {
  temp_folder sys;
  board out;
  rapl_source source({.sys_root = sys.path()});
  CHECK(!source.discover(out));
  CHECK(!source.read(out));
}

TEST_CASE("a suspend makes power absent once") {
  bench b(machines::xeon_two_sockets());
  b.warm_up();
  b.clock.asleep += 10min;
  b.pass(10min);
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") == "gap");
  b.pass(1s);
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") == "100.0");
}

TEST_CASE("a tree made anew under the same names is taken over at the next discovery") {
  bench b(machines::xeon_two_sockets());
  b.warm_up();
  const auto version = b.out.version();
  b.sys.remove("devices");
  powercap_sim again(b.sys.path(), machines::xeon_two_sockets(), 70, 0);
  REQUIRE(b.source.discover(b.out));
  b.clock.now += 1s;
  REQUIRE(b.source.read(b.out));
  again.advance(1s);
  b.clock.now += 1s;
  REQUIRE(b.source.read(b.out));
  CHECK(b.watts("0") == "70.0");
  CHECK(b.out.version() == version);
}

TEST_CASE("energy that only root may read is named with its remedy") {
  bench b(machines::epyc());
  for (const auto& zone : {zone_folder({0}), zone_folder({0, 0}), zone_folder({1}), zone_folder({1, 0})}) {
    std::filesystem::permissions(b.sys / (zone + "/energy_uj"), std::filesystem::perms::none);
  }
  const no_file_capabilities as_anybody;
  REQUIRE(b.source.discover(b.out));
  const auto failed = b.source.read(b.out);
  REQUIRE(!failed);
  CHECK(failed.error().code == errc::permission);
  CHECK(failed.error().message.find("CAP_DAC_READ_SEARCH") != std::string::npos);
  CHECK(b.watts("0") == "permission");
  const auto found = b.source.probe();
  REQUIRE(found.size() == 4);
  CHECK(found[0].how == finding::grade::broken);
  CHECK(found[0].remedy.find("CAP_DAC_READ_SEARCH") != std::string::npos);
}

// Before, 4000 W were the most, and the busiest node of accelerators had no value, or that of its packages.
TEST_CASE("a platform with accelerators draws 6 kW; one that says 360 kW is not believed") {
  std::vector<zone_spec> zones;
  for (const char* name : {"package-0", "package-1", "package-2", "package-3", "psys"})
    zones.push_back({.name = name});
  bench b(zones, 1490);
  b.warm_up();
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "5995.0");
  REQUIRE(b.sim.set_watts("90000"));
  for (int i = 0; i < 3; ++i) {
    b.pass(1s);
    REQUIRE(b.source.read(b.out));
  }
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "implausible");
}

TEST_CASE("a notebook's psys in nJ is not believed") {
  bench b(machines::client(), 9000);
  b.warm_up();
  b.pass(1s);
  REQUIRE(b.source.read(b.out));
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "implausible");
}

TEST_CASE("a counter of psys that is read seldom is not taken for one that may have wrapped") {
  bench b(machines::xeon_two_sockets(), 100, {.period = 20s});
  b.warm_up();
  for (int i = 0; i < 3; ++i) {
    b.pass(20s);
    REQUIRE(b.source.read(b.out));
    CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "259.0");
  }
}

TEST_CASE("the probe names what works and what would mend the rest") {
  SUBCASE("a healthy machine") {
    bench b(machines::xeon_two_sockets());
    const auto found = b.source.probe();
    REQUIRE(found.size() == 7);
    CHECK(found[0].how == finding::grade::works);
    CHECK(found[0].what == "package-0, long_term 205 W, short_term 246 W, TDP 205 W");
    CHECK(b.clock.now == fake_clock().now + 20ms);  // counters that move are noticed after one look
  }
  SUBCASE("a counter that nothing fills") {
    bench b(machines::xeon_two_sockets());
    REQUIRE(b.sim.set_watts("psys stop"));
    const auto before = b.clock.now;
    const auto found = b.source.probe();
    CHECK(b.clock.now - before == 1s);
    std::size_t broken = 0;
    for (const auto& f : found) {
      if (f.how == finding::grade::works) continue;
      ++broken;
      CHECK(f.how == finding::grade::broken);
      CHECK(f.what == "psys");
      CHECK(f.why.find("did not move within 1 s") != std::string::npos);
      CHECK(!f.remedy.empty());
    }
    CHECK(broken == 1);
  }
  SUBCASE("no TDP") {
    bench b(machines::epyc());
    const auto found = b.source.probe();
    CHECK(found[0].how == finding::grade::limited);
    CHECK(found[0].remedy.find("rapl-tdp") != std::string::npos);
  }
  SUBCASE("masked by a container runtime") {
    temp_folder sys;
    write_masked_powercap(sys.path());
    const auto found = rapl_source({.sys_root = sys.path()}).probe();
    REQUIRE(found.size() == 1);
    CHECK(found[0].how == finding::grade::broken);
    CHECK(found[0].why.find("the container runtime masks it") != std::string::npos);
    CHECK(found[0].remedy.find("give --sys-root /host/sys") != std::string::npos);
  }
  SUBCASE("no RAPL") {
    temp_folder sys;
    const auto found = rapl_source({.sys_root = sys.path()}).probe();
    REQUIRE(found.size() == 1);
    CHECK(found[0].how == finding::grade::absent);
    CHECK(!found[0].why.empty());
    CHECK(!found[0].remedy.empty());
  }
}

TEST_SUITE_END();

}  // namespace rapl_test
