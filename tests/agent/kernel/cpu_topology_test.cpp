#include "agent/kernel/cpu_topology.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cpu_topology_test {

using namespace binnacle;
using namespace binnacle::agent;
using support::temp_folder;

TEST_SUITE_BEGIN("agent/kernel/cpu_topology");

TEST_CASE("CPUs are found by number, whatever else is in their folder") {
  const temp_folder sys;
  for (const char* name : {"cpu10", "cpu2", "cpu0", "cpufreq", "cpuidle", "cpu", "cpu1x"})
    sys.write(std::string("devices/system/cpu/") + name + "/x", "");
  CHECK(find_cpus(sys.path()).value() == std::vector<unsigned>{0, 2, 10});
  CHECK(find_cpus(sys / "none").error().code == errc::not_found);
}

TEST_CASE("a seat has what the kernel says; what it does not know is nothing, not a number") {
  const temp_folder sys;
  const auto write = [&](const std::string& file, const std::string& text) {
    sys.write("devices/system/cpu/cpu3/topology/" + file, text);
  };
  write("physical_package_id", "1\n");
  write("core_id", "17\n");
  SUBCASE("of an old kernel without dies") {
    const auto seat = seat_of(sys.path(), 3);
    CHECK(seat.cpu == 3);
    CHECK(seat.package == "1");
    CHECK_FALSE(seat.die.has_value());
    CHECK(seat.core == "17");
  }
  SUBCASE("of firmware that does not say") {
    write("physical_package_id", "-1\n");
    write("die_id", "0\n");
    const auto seat = seat_of(sys.path(), 3);
    CHECK_FALSE(seat.package.has_value());
    CHECK(seat.die == "0");
  }
  SUBCASE("of a CPU that is offline") { CHECK_FALSE(seat_of(sys.path(), 4).core.has_value()); }
}

TEST_CASE("as many CPUs are online as the list names or as have a topology, whichever is more") {
  const temp_folder sys;
  const std::string cpus = "devices/system/cpu/";
  CHECK(count_cpus_online(sys.path()) == 0);
  for (const char* cpu : {"cpu0", "cpu1", "cpu2"}) sys.write(cpus + cpu + "/topology/core_id", "0\n");
  sys.write(cpus + "cpu3/online", "0\n");  // without a topology: it is offline
  CHECK(count_cpus_online(sys.path()) == 3);
  sys.write(cpus + "online", "0\n");  // of a container
  CHECK(count_cpus_online(sys.path()) == 3);
  sys.write(cpus + "online", "0-7\n");
  CHECK(count_cpus_online(sys.path()) == 8);
}

TEST_CASE("a package has no memory if each of its nodes has none, and the kernel says so") {
  const temp_folder sys;
  const std::string nodes = "devices/system/node/";
  for (const char* cpu : {"0", "1", "2"}) {
    sys.write("devices/system/cpu/cpu" + std::string(cpu) + "/topology/physical_package_id",
              std::string(cpu) + "\n");
    sys.write(nodes + "node" + cpu + "/cpulist", std::string(cpu) + "\n");
  }
  sys.write(nodes + "node3/cpulist", "2\n");  // a second node of package 2
  sys.write(nodes + "node4/cpulist", "\n");   // memory without CPUs
  sys.write(nodes + "online", "0-4\n");
  CHECK(packages_without_memory(sys.path()).empty());
  sys.write(nodes + "has_memory", "0,3-4\n");
  CHECK(packages_without_memory(sys.path()) == std::set<std::string>{"1"});
}

TEST_CASE("the first CPU's lines of cpuinfo are taken, without the tabs that pad them") {
  using lines = std::vector<std::pair<std::string_view, std::string_view>>;
  CHECK(first_cpu("\nprocessor\t: 0\nmodel name\t: A: B\nflags\t\t:\nno colon\n\nprocessor\t: 1\n") ==
        lines{{"processor", "0"}, {"model name", "A: B"}, {"flags", ""}});
  // LoongArch has an empty line before the first CPU.
  CHECK(first_cpu("system type\t: x\n\nprocessor\t: 0\nModel Name\t: y\n\nprocessor\t: 1\n") ==
        lines{{"system type", "x"}, {"processor", "0"}, {"Model Name", "y"}});
  CHECK(first_cpu("").empty());
  CHECK(first_cpu("a: b") == lines{{"a", "b"}});
  CHECK(value_of_first_cpu("processor: 0\na: b\n\nprocessor: 1\na: c\nd: e\n", "a") == "b");
  CHECK(value_of_first_cpu("processor: 0\na: b\n\nprocessor: 1\na: c\nd: e\n", "d").empty());
}

TEST_SUITE_END();

}  // namespace cpu_topology_test
