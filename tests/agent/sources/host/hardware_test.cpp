#include "agent/sources/host/hardware.hpp"

#include "agent/sources/host/host.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace hardware_test {

using namespace binnacle;
using namespace binnacle::agent;
using support::temp_folder;

namespace {

constexpr const char* epyc =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7763 64-Core Processor\nphysical "
    "id\t: 0\n"
    "\nprocessor\t: 1\nmodel name\t: another\n";

void write_machine(const temp_folder& root) {
  root.write("proc/cpuinfo", epyc);
  root.write("proc/meminfo", "MemTotal:       527971944 kB\nMemFree:        1 kB\n");
  for (const char* cpu : {"0", "1", "2", "3"})
    root.write("sys/devices/system/cpu/cpu" + std::string(cpu) + "/topology/physical_package_id",
               std::string(cpu) < "2" ? "0\n" : "1\n");
  root.write("sys/devices/system/cpu/cpufreq/x", "");
  for (const auto& [address, what] : {std::pair("0000:03:00.0", "0x030000"),
                                      {"0000:17:00.0", "0x030200"},
                                      {"0000:18:00.0", "0x120000"},
                                      {"0000:19:00.0", "0x020000"}})
    root.write(std::string("sys/bus/pci/devices/") + address + "/class", std::string(what) + "\n");
}

}  // namespace

TEST_SUITE_BEGIN("agent/sources/host/hardware");

TEST_CASE("the CPU's name is the model's, or Arm's numbers") {
  CHECK(cpu_name(epyc) == "AMD EPYC 7763 64-Core Processor");
  CHECK(cpu_name("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n") ==
        "implementer 0x41 part 0xd0c");
  CHECK(cpu_name("").empty());
  CHECK(cpu_name("no colon\nmodel name\n").empty());
}

TEST_CASE("machines built alike have the same memory, whatever their firmware keeps") {
  constexpr std::uint64_t mib = 1u << 20;
  for (const auto& [mibs, gib] : {std::pair<std::uint64_t, std::uint64_t>{515'600, 512},
                                  {503'000, 512},
                                  {524'288, 512},
                                  {193'000, 192},
                                  {128'000, 128},
                                  {96'300, 96},
                                  {64'000, 64},
                                  {15'800, 16},
                                  {7'900, 8},
                                  {3'800, 4},
                                  {900, 1},
                                  {100, 1}}) {
    CAPTURE(mibs);
    CHECK(built_in_gib(mibs * mib) == gib);
  }
}

TEST_CASE("a machine says what it is, and that what it does not know is unknown") {
  temp_folder root;
  SUBCASE("a server") {
    write_machine(root);
    const auto h = read_hardware(root / "proc", root / "sys");
    CHECK(h.cpu == "AMD EPYC 7763 64-Core Processor");
    CHECK(h.sockets == 2);
    CHECK(h.memory_gib == 512);
    CHECK(h.accelerators == 2);
  }
  SUBCASE("nothing there") {
    const auto h = read_hardware(root / "proc", root / "sys");
    CHECK(h.cpu == "unknown");
    CHECK(h.sockets == 1);
    CHECK(h.memory_gib == 0);
  }
}

TEST_CASE("the host source announces it, for who compares machines") {
  temp_folder root;
  write_machine(root);
  agent::test::fake_clock clock;
  board out;
  host_source host(host_options{.proc_root = root / "proc", .sys_root = root / "sys"}, clock.source());
  REQUIRE(host.discover(out));
  CHECK(agent::test::shown(out, "host_hardware_info",
                           {{"cpu", "AMD EPYC 7763 64-Core Processor"},
                            {"sockets", "2"},
                            {"memory_gib", "512"},
                            {"accelerators", "2"}}) == "1");
  const auto version = out.version();
  REQUIRE(host.read(out));
  REQUIRE(host.discover(out));
  CHECK(out.version() == version);
}

TEST_SUITE_END();

}  // namespace hardware_test
