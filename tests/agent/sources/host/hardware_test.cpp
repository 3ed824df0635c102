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

// Before, all of these were "unknown", so machines of different kinds were one class.
TEST_CASE("the CPU of an architecture without \"model name\" has the name that its kernel gives") {
  CHECK(cpu_name("processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz\n"
                 "revision\t: 2.3 (pvr 004e 1203)\n\nmodel\t\t: 9006-22P\n") == "POWER9, altivec supported");
  const std::string riscv =
      "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n"
      "mvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000007\n";
  CHECK(cpu_name(riscv + "uarch\t\t: sifive,u74-mc\n") == "sifive,u74-mc");
  CHECK(cpu_name(riscv) == "mvendorid 0x489 marchid 0x8000000000000007");
  CHECK(cpu_name("system type\t\t: generic-loongson-machine\n\nprocessor\t\t: 0\npackage\t\t\t: 0\n"
                 "Model Name\t\t: Loongson-3C6000\n\nprocessor\t\t: 1\nModel Name\t\t: another\n") ==
        "Loongson-3C6000");
  CHECK(cpu_name("system type\t\t: MIPS Malta\nprocessor\t\t: 0\ncpu model\t\t: MIPS 24Kc V0.0\n") ==
        "MIPS 24Kc V0.0");
}

TEST_CASE("the name of a CPU of s390 is its machine's type, without the serial number beside it") {
  CHECK(cpu_name("vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3241.00\n"
                 "features\t: esan3 zarch\n"
                 "processor 0: version = FF,  identification = 123456,  machine = 3931\n"
                 "processor 1: version = FF,  identification = 123456,  machine = 3931\n"
                 "\ncpu number      : 0\n") == "IBM/S390 machine 3931");
}

TEST_CASE("machines built alike have the same memory, whatever their firmware keeps") {
  constexpr std::uint64_t mib = 1u << 20;
  for (const auto& of : {std::pair<std::uint64_t, std::uint64_t>{515'600, 512},
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
    CAPTURE(of.first);
    CHECK(built_in_gib(of.first * mib) == of.second);
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
  SUBCASE("a CPU without a name: at least the architecture") {
    root.write("proc/cpuinfo", "processor\t: 0\nmmu\t\t: sv39\n");
    root.write("proc/sys/kernel/arch", "riscv64\n");
    CHECK(read_hardware(root / "proc", root / "sys").cpu == "unknown riscv64");
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
