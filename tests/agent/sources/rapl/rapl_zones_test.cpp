#include "agent/sources/rapl/rapl_zones.hpp"

#include "tests/support/machine/powercap_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace rapl_zones_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;

namespace {

std::vector<std::string> labels(const rapl_tree& tree) {
  std::vector<std::string> found;
  for (const auto& z : tree.zones) found.push_back(z.package.empty() ? z.zone : z.zone + "/" + z.package);
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("agent/sources/rapl/zones");

TEST_CASE("a two-socket Xeon has packages with their parts, and psys beside them") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::xeon_two_sockets());
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  CHECK(labels(tree) ==
        std::vector<std::string>{"package/0", "core/0", "dram/0", "package/1", "core/1", "dram/1", "psys"});
  CHECK(tree.problems.empty());
  REQUIRE(tree.zones[0].constraints.size() == 2);
  CHECK(tree.zones[0].constraints[0].name == "long_term");
}

TEST_CASE("dies of a package are packages of their own") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::xeon_dies());
  CHECK(labels(find_rapl_zones(sys.path(), sys / "proc").value()) ==
        std::vector<std::string>{"package/0-die-0", "dram/0-die-0", "package/0-die-1", "dram/0-die-1",
                                 "package/1-die-0", "dram/1-die-0", "package/1-die-1", "dram/1-die-1"});
}

// Linux 6.10 shows an EPYC so, with the same number in each zone of a socket.
TEST_CASE("dies that have one counter a socket are one package, that of the socket") {
  temp_folder sys;
  std::vector<zone_spec> zones;
  for (const char* name : {"package-0-die-0", "package-0-die-1", "package-1-die-0", "package-1-die-1"})
    zones.push_back({.name = name, .parts = {{.name = "core"}}});
  write_powercap_tree(sys.path(), zones);
  const char* vendor = "AuthenticAMD";
  const std::vector<std::string> sockets{"package/0", "core/0", "package/1", "core/1"};
  SUBCASE("AMD") {}
  SUBCASE("Hygon") { vendor = "HygonGenuine"; }
  SUBCASE("AMD whose first die has no zone") {
    std::filesystem::remove_all(sys / zone_folder({0}));
    std::filesystem::remove(sys / "class/powercap/intel-rapl:0");
  }
  sys.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: " + std::string(vendor) + "\n");
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  CHECK(labels(tree) == sockets);
  CHECK(tree.zones[2].name == "package-1");
  CHECK(tree.zones[2].folder.ends_with("intel-rapl:2"));
  CHECK(tree.problems.empty());
}

TEST_CASE("dies are not taken together where each has its own counter, or the vendor is unknown") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::xeon_dies());
  SUBCASE("Intel") { sys.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n"); }
  SUBCASE("no cpuinfo") {}
  CHECK(find_rapl_zones(sys.path(), sys / "proc").value().zones.size() == 8);
}

// libpowercap's own search stops at the first hole and takes numbers as decimal. And the number is not the
// socket's.
TEST_CASE("zone numbers are hexadecimal, may have holes, and say nothing about the socket") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::sixteen_packages());
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  REQUIRE(tree.zones.size() == 16);
  CHECK(tree.zones.front().package == "15");
  CHECK(tree.zones.back().package == "0");
  CHECK(tree.zones.back().folder.ends_with("intel-rapl:10"));
  CHECK(std::filesystem::exists(sys / zone_folder({0xf})));
}

TEST_CASE("the same counters under intel-rapl-mmio are not counted twice") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::client());
  write_powercap_tree(sys.path(), machines::client(), "intel-rapl-mmio");
  CHECK(labels(find_rapl_zones(sys.path(), sys / "proc").value()) ==
        std::vector<std::string>{"package/0", "core/0", "uncore/0", "psys"});
}

TEST_CASE("intel-rapl-mmio counts where it is the only door") {
  temp_folder sys;
  write_powercap_tree(sys.path(), {{.name = "package-0"}}, "intel-rapl-mmio");
  SUBCASE("without intel-rapl") {}
  SUBCASE("beside an empty intel-rapl") { write_powercap_tree(sys.path(), {}); }
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  REQUIRE(labels(tree) == std::vector<std::string>{"package/0"});
  CHECK(tree.zones[0].folder.find("/intel-rapl-mmio/intel-rapl-mmio:0") != std::string::npos);
}

TEST_CASE("intel-rapl-mmio adds a part that intel-rapl does not show, and only that") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::client());
  write_powercap_tree(sys.path(), {{.name = "package-0", .parts = {{.name = "dram"}}}}, "intel-rapl-mmio");
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  REQUIRE(labels(tree) == std::vector<std::string>{"package/0", "core/0", "uncore/0", "psys", "dram/0"});
  CHECK(tree.zones[4].folder.ends_with("/intel-rapl-mmio:0/intel-rapl-mmio:0:0"));
  CHECK(tree.problems.empty());
}

TEST_CASE("a socket that one shows as a whole and the other by its dies is taken once") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::xeon_dies());
  write_powercap_tree(sys.path(), {{.name = "package-0"}, {.name = "package-2"}}, "intel-rapl-mmio");
  const auto found = labels(find_rapl_zones(sys.path(), sys / "proc").value());
  REQUIRE(found.size() == 9);
  CHECK(found[0] == "package/0-die-0");
  CHECK(found[8] == "package/2");  // a socket that intel-rapl does not show at all
}

// libpowercap's RAPL calls refuse a whole package because of one name that they do not know.
TEST_CASE("unknown constraints and parts are taken under their own names") {
  temp_folder sys;
  auto zones = machines::client();
  zones[0].parts.push_back({.name = "npu"});
  zones.push_back({.name = "platform-x"});
  write_powercap_tree(sys.path(), zones);
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  CHECK(labels(tree) ==
        std::vector<std::string>{"package/0", "core/0", "uncore/0", "npu/0", "psys", "platform-x"});
  REQUIRE(tree.zones[0].constraints.size() == 3);
  CHECK(tree.zones[0].constraints[2].name == "peak_power");
}

TEST_CASE("AMD comes under the same names, without constraints") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::epyc());
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  CHECK(labels(tree) == std::vector<std::string>{"package/0", "core/0", "package/1", "core/1"});
  CHECK(tree.zones[0].constraints.empty());
}

TEST_CASE("either of the two folders of the kernel is enough") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::epyc());
  SUBCASE("class only, as a bind mount may show it") {
    std::filesystem::remove(sys / "class/powercap/intel-rapl");
    std::filesystem::rename(sys / "devices/virtual/powercap/intel-rapl", sys / "class/powercap/intel-rapl");
  }
  SUBCASE("devices only") { sys.remove("class"); }
  CHECK(find_rapl_zones(sys.path(), sys / "proc").value().zones.size() == 4);
}

TEST_CASE("a zone without a readable name is left out and named") {
  temp_folder sys;
  write_powercap_tree(sys.path(), machines::xeon_two_sockets());
  SUBCASE("empty") { sys.write(zone_folder({1}) + "/name", ""); }
  SUBCASE("gone") { sys.remove(zone_folder({1}) + "/name"); }
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  CHECK(tree.zones.size() == 4);
  REQUIRE(tree.problems.size() == 1);
  CHECK(tree.problems[0].find("intel-rapl:1/name") != std::string::npos);
}

TEST_CASE("two zones of one name give one series, the other is named") {
  temp_folder sys;
  auto zones = machines::epyc();
  zones[1].name = "package-0";
  write_powercap_tree(sys.path(), zones);
  const auto tree = find_rapl_zones(sys.path(), sys / "proc").value();
  CHECK(labels(tree) == std::vector<std::string>{"package/0", "core/0"});
  CHECK(tree.problems.size() == 2);
}

TEST_CASE("where there is no RAPL the message says why and what to do") {
  temp_folder sys;
  SUBCASE("no powercap at all") {
    const auto none = find_rapl_zones(sys.path(), sys / "proc");
    REQUIRE(!none);
    CHECK(none.error().code == errc::unsupported);
    CHECK(none.error().message.find("this machine has no RAPL") == 0);
  }
  SUBCASE("masked by a container runtime: there, but empty") {
    write_masked_powercap(sys.path());
    const auto none = find_rapl_zones(sys.path(), sys / "proc");
    REQUIRE(!none);
    CHECK(none.error().code == errc::permission);
    CHECK(none.error().message.find("give --sys-root /host/sys") != std::string::npos);
  }
  SUBCASE("an Arm server, whose zones are another driver's") {
    sys.write("class/powercap/arm-scmi:0/power_uw", "182400000\n");
    const auto none = find_rapl_zones(sys.path(), sys / "proc");
    REQUIRE(!none);
    CHECK(none.error().code == errc::unsupported);
    CHECK(none.error().message.find("its powercap zones are those of arm-scmi") != std::string::npos);
    CHECK(none.error().message.find("modprobe") == std::string::npos);
  }
  SUBCASE("powercap without the driver") {
    sys.write("devices/virtual/powercap/dtpm/enabled", "1\n");
    const auto none = find_rapl_zones(sys.path(), sys / "proc");
    REQUIRE(!none);
    CHECK(none.error().message.find("modprobe intel_rapl_msr") != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace rapl_zones_test
