#include "agent/sources/rapl/power_pmu.hpp"

#include "agent/privileges.hpp"
#include "agent/source_list.hpp"
#include "agent/sources/host/host.hpp"
#include "agent/sources/rapl/rapl.hpp"
#include "tests/agent/perf_machine.hpp"
#include "tests/support/machine/powercap_sim.hpp"
#include "tests/support/no_file_capabilities.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <linux/capability.h>
#include <string>
#include <vector>

namespace power_pmu_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

constexpr double joule = 4294967296.0;  // counts; rapl.c gives 2^-32 J

/// A machine whose powercap gives no energy, and a RAPL source that can also use the perf PMU.
struct bench : agent::test::perf_machine {
  explicit bench(const pmu_machine& machine, rapl_options options = {})
      : perf_machine(machine), source(adapted(std::move(options)), clock.source(), sim.opener()) {
    sim.rate = [](const perf_encoding& e, unsigned) {
      const double watts = e.config == 2 ? 150.04 : e.config == 3 ? 20 : e.config == 5 ? 500 : 30;
      return watts * joule;
    };
  }
  rapl_options adapted(rapl_options o) {
    sys.write("proc/sys/kernel/perf_event_paranoid", "2\n");
    o.sys_root = sys.path();
    o.proc_root = sys / "proc";
    o.pause = [this](duration d) { sim.advance(d); };
    return o;
  }
  bool read(duration pause = 1s) { return perf_machine::read(source, pause); }
  // Until there are watts.
  void warm_up() {
    perf_machine::warm_up(source);
    REQUIRE(read());
  }
  std::string watts(const std::string& package) {
    return shown(out, "rapl_power_watts", {{"package", package}});
  }

  rapl_source source;
};

// What MMIO shows of a client; its counter stands still until a test writes it.
std::vector<zone_spec> package_by_mmio() {
  return {{.name = "package-0", .constraints = {{"long_term", 28'000'000, 976, 28'000'000}}}};
}

// Replaces the file by a folder, from which even root cannot read a number.
void close_energy(const temp_folder& sys) {
  for (const auto& zone : {zone_folder({0}), zone_folder({1})}) {
    sys.remove(zone + "/energy_uj");
    sys.write(zone + "/energy_uj/x", "");
  }
}

}  // namespace

TEST_SUITE_BEGIN("agent/sources/rapl/power_pmu");

TEST_CASE("each package, its memory and its platform, through the CPUs of the mask") {
  temp_folder sys;
  write_pmu_tree(sys.path(), pmus::xeon());
  const auto found = find_power_pmu(sys.path(), sys / "proc").events;
  REQUIRE(found.size() == 6);
  CHECK(found[0].zone == "package");
  CHECK(found[0].package == "0");
  CHECK(found[1].package == "1");
  CHECK(found[1].cpu == 2);
  CHECK(found[1].encoding == perf_encoding{.type = 13, .config = 2});
  CHECK(found[1].joules * joule == 1);
  CHECK(found[3].zone == "dram");
  CHECK(found[4].zone == "psys");
  CHECK(found[4].package.empty());
  CHECK(found[5].zone == "psys");
  CHECK(found[5].package == "1");
  CHECK(found[5].cpu == 2);
  CHECK(zones_of(found).size() == 5);
}

// The kernel looks at one CPU whether the memory counts, and then shows the event for each package.
TEST_CASE("the memory of a socket without DIMMs is no event") {
  bench b(pmus::xeon());
  const std::string nodes = "devices/system/node/";
  b.sys.write(nodes + "node0/cpulist", "0-1\n");
  b.sys.write(nodes + "node1/cpulist", "2-3\n");
  b.sys.write(nodes + "online", "0-1\n");
  b.sys.write(nodes + "has_memory", "0\n");
  b.warm_up();
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}}) == "20.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "1"}}) == "no such series");
  CHECK(b.watts("1") == "150.0");
  CHECK(b.source.limitation().empty());
  CHECK(b.source.probe().size() == 4);
}

TEST_CASE("a die with counters of its own has powercap's name") {
  auto machine = pmus::xeon();
  machine.seats = {{0, 0}, {0, 0}, {0, 1}, {0, 1}};
  temp_folder sys;
  write_pmu_tree(sys.path(), machine);
  sys.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n");
  const auto found = find_power_pmu(sys.path(), sys / "proc").events;
  REQUIRE(found.size() == 6);
  CHECK(found[0].package == "0-die-0");
  CHECK(found[1].package == "0-die-1");
}

// Before, each die was a package, and the node's watts were those of its sockets times the number of dies.
TEST_CASE("of dies that have one counter a socket, the first one is read, as the socket") {
  const char* vendor = "AuthenticAMD";
  SUBCASE("AMD") {}
  SUBCASE("Hygon") { vendor = "HygonGenuine"; }
  auto machine = pmus::epyc();
  machine.seats = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  machine.pmus.back().cpumask = "0-3";
  bench b(machine);
  b.sys.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: " + std::string(vendor) + "\n");
  b.warm_up();
  CHECK(b.watts("0") == "150.0");
  CHECK(b.watts("1") == "150.0");
  CHECK(b.watts("0-die-0") == "no such series");
  CHECK(b.source.limitation().empty());
  for (const auto& r : b.sim.requests()) CHECK(r.cpu % 2 == 0);
  CHECK(b.source.probe().size() == 2);
}

TEST_CASE("a PMU that cannot be used gives no events") {
  temp_folder sys;
  CHECK(find_power_pmu(sys.path(), sys / "proc").events.empty());
  auto machine = pmus::xeon();
  SUBCASE("no CPUs to read it through") { machine.pmus[3].cpumask.clear(); }
  SUBCASE("another unit") {
    for (auto& [name, text] : machine.pmus[3].events) {
      if (text == "Joules") text = "Calories";
    }
  }
  SUBCASE("CPUs whose package nobody knows") { machine.seats.clear(); }
  write_pmu_tree(sys.path(), machine);
  CHECK(find_power_pmu(sys.path(), sys / "proc").events.empty());
}

// Before, a missing scale counted as 1: each count of 2^-32 J was a joule.
TEST_CASE("an event that does not say how many joules a count is, is refused with that reason") {
  auto machine = pmus::xeon();
  auto& events = machine.pmus[3].events;
  const auto name = [](const auto& file) { return file.first; };
  SUBCASE("no .scale") {
    std::erase_if(events, [&](const auto& e) { return name(e) == "energy-pkg.scale"; });
  }
  SUBCASE("a .scale that is no number") {
    std::ranges::find(events, "energy-pkg.scale", name)->second = "many";
  }
  SUBCASE("no .unit") {
    std::erase_if(events, [&](const auto& e) { return name(e) == "energy-pkg.unit"; });
  }
  bench b(machine);
  const auto found = find_power_pmu(b.sys.path(), b.sys / "proc");
  CHECK(std::ranges::none_of(found.events, [](const power_event& e) { return e.zone == "package"; }));
  REQUIRE(found.problems.size() == 1);
  CHECK(holds(found.problems[0], "the event energy-pkg of the perf PMU power is not used"));
  b.warm_up();
  CHECK(b.watts("0") == "no such series");
  CHECK(holds(b.source.limitation(), "energy-pkg"));
  const auto probed = b.source.probe();
  CHECK(probed.back().how == finding::grade::broken);
  CHECK(holds(probed.back().why, "energy-pkg"));
  CHECK(probed.back().what == "the perf PMU power");
  CHECK_FALSE(holds(probed.back().remedy, "powercap"));  // there is none
}

// Before, the status said so only where there is no powercap at all.
TEST_CASE("what the perf PMU refuses is told beside powercap where the PMU gives other parts") {
  auto machine = pmus::client();
  std::erase_if(machine.pmus[3].events, [](const auto& e) { return e.first == "energy-ram.scale"; });
  bench b(machine);
  SUBCASE("beside MMIO") {
    write_powercap_tree(b.sys.path(), package_by_mmio(), "intel-rapl-mmio");
    REQUIRE(b.source.discover(b.out));
    REQUIRE(b.read());
    CHECK(holds(b.source.limitation(), "the event energy-ram of the perf PMU power is not used"));
  }
  SUBCASE("not beside intel-rapl, which has them all") {
    write_powercap_tree(b.sys.path(), machines::client());
    REQUIRE(b.source.discover(b.out));
    REQUIRE(b.read());
    CHECK(b.source.limitation().empty());
  }
  CHECK(holds(b.source.probe().back().remedy, "powercap has the same counters"));
}

TEST_CASE("where no event says how many joules a count is, the source says so beside powercap's reason") {
  auto machine = pmus::xeon();
  std::erase_if(machine.pmus[3].events, [](const auto& e) { return e.first.ends_with(".scale"); });
  bench b(machine);
  const auto failed = b.source.discover(b.out);
  REQUIRE_FALSE(failed);
  CHECK(holds(failed.error().message, "energy-psys"));
}

TEST_CASE("the range is where 2^64 counts are, and a wrap there is no reset") {
  perf_sim sim;
  power_counter counter({"package", "0", 0, {.type = 13, .config = 2}, 1 / joule}, sim.opener());
  CHECK(counter.range_uj() == 4'294'967'296'000'000);
  sim.rate = [](const perf_encoding&, unsigned) { return 5 * joule; };
  sim.advance(2s);
  CHECK(counter.energy_uj().value == 10'000'000);
  CHECK(counter.energy_uj().reason == absence::missing);  // the kernel gives no counts any more
}

TEST_CASE("without powercap all of a machine's power comes from the perf PMU, under the same names") {
  bench b(pmus::xeon());
  b.warm_up();
  CHECK(b.watts("0") == "150.0");
  CHECK(b.watts("1") == "150.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "1"}}) == "20.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "500.0");
  CHECK(shown(b.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "300");
  CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "no_data");
  CHECK(b.source.limitation().empty());
}

// Before, the CPU was left out without a word, and the sum was that of the other package.
TEST_CASE("a package whose CPU of the mask does not say where it sits is missing") {
  bench b(pmus::xeon());
  b.sys.remove("devices/system/cpu/cpu2/topology/physical_package_id");
  b.warm_up();
  CHECK(b.watts("0") == "150.0");
  CHECK(b.watts("1") == "missing");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "1"}}) == "missing");
  CHECK(b.source.limitation().starts_with("CPU 2 of the perf PMU power is not used"));
  CHECK(holds(b.source.probe().back().why, "CPU 2 of the perf PMU power"));
}

TEST_CASE("a package that powercap does not show is counted by the perf PMU") {
  bench b(pmus::xeon());
  powercap_sim powercap(b.sys.path(), {machines::xeon_two_sockets()[0]}, 70, 0);
  b.warm_up();
  CHECK(b.watts("1") == "150.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "1"}}) == "20.0");
  b.sim.offline = {2};
  REQUIRE(b.read());
  CHECK(b.watts("1") == "missing");
  b.sim.offline.clear();
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  REQUIRE(b.read());
  CHECK(b.watts("1") == "150.0");
}

// The perf PMU of recent servers shows psys also where the BIOS has switched it off. Before, it was
// announced, and the status of rapl asked for rights, or complained of a counter that never moves.
TEST_CASE("a psys that the driver leaves out because it does not count is not taken from the perf PMU") {
  bench b(pmus::xeon());
  b.sim.rate = [](const perf_encoding&, unsigned) { return 0.0; };
  auto zones = machines::xeon_two_sockets();
  zones.pop_back();  // psys
  powercap_sim powercap(b.sys.path(), zones, 70, 0);
  SUBCASE("with the right to count") {}
  SUBCASE("without") {
    b.sim.refusal = [](const perf_request&) { return EACCES; };
  }
  REQUIRE(b.source.discover(b.out));
  for (int i = 0; i < 15; ++i) {
    powercap.advance(1s);
    REQUIRE(b.read());
  }
  CHECK(b.watts("1") == "70.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "no such series");
  CHECK(b.source.limitation().empty());
  CHECK(b.sim.requests().empty());
  const auto probed = b.source.probe();
  CHECK(probed.size() == 6);
  CHECK(std::ranges::none_of(probed, [](const finding& f) { return holds(f.what, "psys"); }));
}

// Before, psys was read through the first package alone, whose counter may stay at 0.
TEST_CASE("the platform is counted through another package where the first one's counter is dead") {
  bench b(pmus::xeon());
  b.sim.rate = [](const perf_encoding& e, unsigned cpu) {
    if (e.config == 5) return cpu == 2 ? 500 * joule : 0;
    return e.config == 2 ? 150 * joule : 20 * joule;
  };
  const metrics::label_set first{{"zone", "psys"}}, second{{"zone", "psys"}, {"package", "1"}};
  b.warm_up();
  for (int i = 0; i < 12; ++i) REQUIRE(b.read());
  CHECK(shown(b.out, "rapl_zone_power_watts", first) == "never_moved");
  CHECK(shown(b.out, "rapl_zone_power_watts", second) == "no such series");
  CHECK(holds(b.source.limitation(), "psys, energy by the perf PMU power, has never moved"));
  REQUIRE(b.source.discover(b.out));
  for (int i = 0; i < 4; ++i) REQUIRE(b.read());
  // A sum over the zone needs each of its members.
  CHECK(shown(b.out, "rapl_zone_power_watts", first) == "no such series");
  CHECK(shown(b.out, "rapl_energy_joules_total", first) == "no such series");
  CHECK(shown(b.out, "rapl_zone_power_watts", second) == "500.0");
  CHECK(b.source.limitation().empty());
  const auto version = b.out.version();
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  CHECK(b.out.version() == version);
}

// Before, a guest of 64 CPUs that are each a package got 63 more counters that never move.
TEST_CASE("in a guest, where no package counts, no other package's psys is tried") {
  auto machine = pmus::xeon();
  SUBCASE("psys alone") {
    std::erase_if(machine.pmus[3].events, [](const auto& e) { return !e.first.starts_with("energy-psys"); });
  }
  SUBCASE("packages that never move") {}
  bench b(machine);
  b.sim.rate = [](const perf_encoding&, unsigned) { return 0.0; };
  b.warm_up();
  for (int i = 0; i < 12; ++i) REQUIRE(b.read());
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "never_moved");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}, {"package", "1"}}) == "no such series");
}

TEST_CASE("a configured TDP makes utilization of it") {
  bench b(pmus::epyc(), {.tdp_watts = 300});
  b.warm_up();
  CHECK(shown(b.out, "rapl_tdp_utilization_ratio", {{"package", "1"}}) == "0.5001");
}

TEST_CASE("where only the energy is closed, limits and TDP still come from powercap") {
  bench b(pmus::xeon());
  powercap_sim powercap(b.sys.path(), machines::xeon_two_sockets(), 100, 0);
  close_energy(b.sys);
  b.warm_up();
  CHECK(b.watts("0") == "150.0");
  CHECK(shown(b.out, "rapl_tdp_watts", {{"package", "0"}}) == "205.0");
  CHECK(shown(b.out, "rapl_limit_watts", {{"package", "1"}, {"constraint", "long_term"}}) == "205.0");
  CHECK(shown(b.out, "rapl_headroom_ratio", {{"package", "0"}}) == "0.2681");
  // What powercap can give is still read there.
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}}) == "not_read_yet");
  for (const auto& r : b.sim.requests()) CHECK(r.event.config == 2);
}

TEST_CASE("when powercap opens again it is taken, with one reading without power") {
  bench b(pmus::xeon());
  b.warm_up();
  powercap_sim powercap(b.sys.path(), machines::xeon_two_sockets(), 70, 0);
  REQUIRE(b.source.discover(b.out));
  CHECK(b.sim.open_descriptors() == 0);
  powercap.advance(1s);
  REQUIRE(b.read());
  CHECK(b.watts("0") == "gap");
  CHECK(shown(b.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "0");
  powercap.advance(1s);
  REQUIRE(b.read());
  CHECK(b.watts("0") == "70.0");
  CHECK(shown(b.out, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}) == "70");
}

// Before, the PMU's parts counted only where powercap had no zone at all.
TEST_CASE("beside intel-rapl-mmio, which has the package alone, the PMU gives the other parts") {
  bench b(pmus::client());
  write_powercap_tree(b.sys.path(), package_by_mmio(), "intel-rapl-mmio");
  REQUIRE(b.source.discover(b.out));
  for (unsigned second = 1; second <= 3; ++second) {
    b.sys.write("devices/virtual/powercap/intel-rapl-mmio/intel-rapl-mmio:0/energy_uj",
                std::to_string(second * 9'000'000) + "\n");
    REQUIRE(b.read());
  }
  CHECK(b.watts("0") == "9.0");
  CHECK(shown(b.out, "rapl_limit_watts", {{"package", "0"}, {"constraint", "long_term"}}) == "28.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "core"}, {"package", "0"}}) == "30.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "uncore"}, {"package", "0"}}) == "30.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}}) == "20.0");
  CHECK(shown(b.out, "rapl_zone_power_watts", {{"zone", "psys"}}) == "500.0");
  for (const auto& r : b.sim.requests()) CHECK(r.event.config != 2);  // not the package a second time
  CHECK(b.source.limitation().empty());
}

// Before, its memory was absent, and so the node's sum, which is the package's watts without the PMU.
TEST_CASE("parts that only the PMU shows, and that may not be counted, are left out with both reasons") {
  bench b(pmus::client());
  write_powercap_tree(b.sys.path(), package_by_mmio(), "intel-rapl-mmio");
  b.sim.refusal = [](const perf_request&) { return EACCES; };
  host_source host({.sys_root = b.sys.path()}, b.clock.source());
  REQUIRE(b.source.discover(b.out));
  const auto pass = [&](unsigned seconds) {
    for (unsigned i = 0; i < seconds; ++i) {
      b.sys.write("devices/virtual/powercap/intel-rapl-mmio/intel-rapl-mmio:0/energy_uj",
                  std::to_string(b.clock.now.time_since_epoch() / 1s * 9'000'000) + "\n");
      REQUIRE(b.read());
      REQUIRE(host.read(b.out));
    }
  };
  const auto part = [&b](const metrics::label_set& labels) {
    return shown(b.out, "rapl_zone_power_watts", labels);
  };
  pass(3);
  CHECK(shown(b.out, "host_power_watts", {{"source", "rapl"}}) == "9.0");
  CHECK(part({{"zone", "dram"}, {"package", "0"}}) == "no such series");
  CHECK(part({{"zone", "psys"}}) == "no such series");
  CHECK(holds(b.source.limitation(), "powercap does not show package-0 core, package-0 dram,"));
  CHECK(holds(b.source.limitation(), "CAP_PERFMON"));
  // Once the right is there, so are the parts.
  b.sim.refusal = [](const perf_request&) { return 0; };
  REQUIRE(b.source.discover(b.out));
  pass(3);
  CHECK(part({{"zone", "dram"}, {"package", "0"}}) == "20.0");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("a socket that powercap shows as a whole and the PMU by its dies is counted once") {
  auto machine = pmus::epyc();
  machine.seats = {{0, 0}, {0, 0}, {0, 1}, {0, 1}};
  bench b(machine);
  powercap_sim powercap(b.sys.path(), {machines::epyc()[0]}, 70, 0);
  REQUIRE(b.source.discover(b.out));
  for (int i = 0; i < 3; ++i) {
    powercap.advance(1s);
    REQUIRE(b.read());
  }
  CHECK(b.watts("0") == "70.0");
  CHECK(b.watts("0-die-0") == "no such series");
  CHECK(b.watts("0-die-1") == "no such series");
}

// Before, they stayed with their last watts, and each reading made them look fresh.
TEST_CASE("when powercap goes and the PMU takes over, the limits are missing") {
  bench b(pmus::xeon());
  write_powercap_tree(b.sys.path(), machines::xeon_two_sockets());
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  const metrics::label_set labels{{"package", "0"}, {"constraint", "long_term"}};
  REQUIRE(shown(b.out, "rapl_limit_watts", labels) == "205.0");
  b.sys.remove("devices/virtual/powercap");
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  CHECK(shown(b.out, "rapl_limit_watts", labels) == "missing");
}

TEST_CASE("without either right both are named, and granting one mends it") {
  bench b(pmus::xeon());
  b.sim.refusal = [](const perf_request&) { return EACCES; };
  REQUIRE(b.source.discover(b.out));
  const auto failed = b.source.read(b.out);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == errc::permission);
  CHECK(holds(failed.error().message, "there is no"));
  CHECK(holds(failed.error().message, "CAP_PERFMON"));
  CHECK(b.watts("0") == "permission");
  b.sim.refusal = [](const perf_request&) { return 0; };
  b.warm_up();
  CHECK(b.watts("0") == "150.0");
}

TEST_CASE("a counter that the kernel takes away is opened again") {
  bench b(pmus::xeon());
  b.warm_up();
  b.sim.offline = {2};
  REQUIRE(b.read());
  CHECK(b.watts("0") == "150.0");
  CHECK(b.watts("1") == "missing");
  CHECK_FALSE(b.source.limitation().empty());
  b.sim.offline.clear();
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  REQUIRE(b.read());
  CHECK(b.watts("1") == "150.0");
  CHECK(b.source.limitation().empty());
}

// Before, it stood still until the agent was restarted.
TEST_CASE("a counter whose CPU was offline between two reads is missing, and then opened again") {
  bench b(pmus::xeon());
  b.warm_up();
  b.sim.blink(2);
  REQUIRE(b.read());
  CHECK(b.watts("0") == "150.0");
  CHECK(b.watts("1") == "missing");
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  REQUIRE(b.read());
  CHECK(b.watts("1") == "150.0");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("the probe says by which door energy comes") {
  bench b(pmus::xeon());
  SUBCASE("the perf PMU alone") {
    const auto found = b.source.probe();
    REQUIRE(found.size() == 5);
    CHECK(found[0].how == finding::grade::limited);
    CHECK(holds(found[0].what, "package-0, energy by the perf PMU power"));
    CHECK(holds(found[0].why, "no limits"));
    CHECK(found[2].how == finding::grade::works);
  }
  SUBCASE("a counter that nothing fills, as a guest's psys") {
    b.sim.rate = [](const perf_encoding& e, unsigned) { return e.config == 5 ? 0.0 : joule; };
    const auto found = b.source.probe();
    CHECK(found[0].how == finding::grade::limited);
    CHECK(found[4].how == finding::grade::broken);
    CHECK(holds(found[4].what, "psys"));
    CHECK(holds(found[4].why, "did not move within 1 s"));
    CHECK_FALSE(found[4].remedy.empty());
  }
  SUBCASE("powercap, but not its energy") {
    powercap_sim powercap(b.sys.path(), machines::xeon_two_sockets(), 100, 0);
    close_energy(b.sys);
    const auto found = b.source.probe();
    CHECK(found[0].how == finding::grade::works);
    CHECK(holds(found[0].what, "TDP 205 W"));
    CHECK(holds(found[0].what, "perf PMU power"));
  }
  SUBCASE("powercap, but only one package, by MMIO") {
    write_powercap_tree(b.sys.path(), package_by_mmio(), "intel-rapl-mmio");
    const auto found = b.source.probe();
    REQUIRE(found.size() == 5);
    CHECK(found[0].what == "package-0, long_term 28 W");
    CHECK(found[1].how == finding::grade::limited);
    CHECK(found[1].what == "package-1, energy by the perf PMU power");
    CHECK(holds(found[1].why, "powercap does not show it"));
    CHECK(holds(found[1].remedy, "intel_rapl_msr"));
    CHECK(found[2].how == finding::grade::works);
    CHECK(found[2].what == "package-0 dram, energy by the perf PMU power");
  }
  SUBCASE("neither") {
    b.sim.refusal = [](const perf_request&) { return EACCES; };
    const auto found = b.source.probe();
    CHECK(found[0].how == finding::grade::broken);
    CHECK(holds(found[0].why, "perf_event_paranoid is 2"));
    CHECK(holds(found[0].remedy, "CAP_PERFMON"));
  }
}

TEST_CASE("both doors are closed: CAP_PERFMON is offered where it is enough") {
  bench b(pmus::xeon());
  write_powercap_tree(b.sys.path(), machines::xeon_two_sockets());
  for (const auto& file : std::filesystem::recursive_directory_iterator(b.sys.path())) {
    if (file.path().filename() == "energy_uj")
      std::filesystem::permissions(file, std::filesystem::perms::none);
  }
  const no_file_capabilities as_anybody;
  b.sim.refusal = [](const perf_request&) { return EACCES; };
  const auto remedies = [&b] {
    REQUIRE(b.source.discover(b.out));
    return std::array{b.source.read(b.out).error().message, b.source.probe().at(0).remedy};
  };
  for (const auto& said : remedies()) {
    CHECK(holds(said, "CAP_DAC_READ_SEARCH"));
    CHECK(holds(said, "CAP_PERFMON"));
  }
  b.sys.write("proc/sys/kernel/perf_event_paranoid", "3\n");
  for (const auto& said : remedies()) {
    CHECK(holds(said, "CAP_DAC_READ_SEARCH"));
    CHECK_FALSE(holds(said, "CAP_PERFMON"));
  }
}

TEST_CASE("CAP_PERFMON is asked for where it does instead of CAP_DAC_READ_SEARCH") {
  temp_folder sys;
  write_pmu_tree(sys.path(), pmus::xeon());
  settings s;
  s.sources = {"rapl"};
  s.sys_root = sys.path();
  s.proc_root = sys / "proc";
  sys.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  const auto kinds = all_source_kinds();
  const bool has_it = (effective_capabilities() & one_capability(CAP_PERFMON)) != 0;
  const auto wanted = has_it ? one_capability(CAP_PERFMON) : capability_set{0};
  CHECK(needed_privileges(s, kinds).needed == wanted);
  write_powercap_tree(sys.path(), machines::xeon_two_sockets());
  CHECK(needed_privileges(s, kinds).needed == 0);
  std::filesystem::permissions(sys / (zone_folder({0}) + "/energy_uj"), std::filesystem::perms::none);
  if (has_it) CHECK(needed_privileges(s, kinds).needed == wanted);
  // Debian's kernel, where it does not.
  sys.write("proc/sys/kernel/perf_event_paranoid", "3\n");
  if (has_one_of(file_capabilities))
    CHECK(needed_privileges(s, kinds).needed == one_capability(CAP_DAC_READ_SEARCH));
}

TEST_CASE("CAP_PERFMON is asked for where only the PMU shows a part, and instead only where it shows all") {
  temp_folder sys;
  settings s;
  s.sources = {"rapl"};
  s.sys_root = sys.path();
  s.proc_root = sys / "proc";
  sys.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  const auto kinds = all_source_kinds();
  const bool has_it = (effective_capabilities() & one_capability(CAP_PERFMON)) != 0;
  SUBCASE("a part beside MMIO's open package") {
    write_pmu_tree(sys.path(), pmus::client());
    write_powercap_tree(sys.path(), package_by_mmio(), "intel-rapl-mmio");
    CHECK(needed_privileges(s, kinds).needed == (has_it ? one_capability(CAP_PERFMON) : capability_set{0}));
  }
  SUBCASE("not for a psys that the driver leaves out") {
    write_pmu_tree(sys.path(), pmus::client());
    write_powercap_tree(sys.path(), {machines::client()[0]});
    CHECK(needed_privileges(s, kinds).needed == 0);
  }
  // Before, such a PMU was taken for all of RAPL, and the packages were lost.
  SUBCASE("a PMU without packages beside a closed powercap") {
    auto machine = pmus::client();
    std::erase_if(machine.pmus[3].events, [](const auto& e) { return e.first.starts_with("energy-pkg"); });
    write_pmu_tree(sys.path(), machine);
    write_powercap_tree(sys.path(), machines::client());
    std::filesystem::permissions(sys / (zone_folder({0}) + "/energy_uj"), std::filesystem::perms::none);
    const auto wanted =
        has_one_of(file_capabilities) ? one_capability(CAP_DAC_READ_SEARCH) : capability_set{0};
    CHECK(needed_privileges(s, kinds).needed == wanted);
  }
}

TEST_SUITE_END();

}  // namespace power_pmu_test
