// A report keeps what discovery reads: otherwise a machine that was sent in is found to be another one.
#include "agent/kernel/cpu_topology.hpp"
#include "agent/report/report.hpp"
#include "agent/sources/host/hardware.hpp"
#include "agent/sources/host/host.hpp"
#include "agent/sources/os/sensors.hpp"
#include "agent/sources/pmu/pmu.hpp"
#include "agent/sources/rapl/rapl.hpp"
#include "agent/sources/rdt/resctrl_tree.hpp"
#include "common/system/descriptor.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/machine.hpp"
#include "tests/support/machine/pmu_tree.hpp"
#include "tests/support/machine/powercap_tree.hpp"
#include "tests/support/machine/resctrl_tree.hpp"
#include "tests/support/machine/sensor_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kept_files_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

descriptor refuse(const perf_request&) {
  errno = EACCES;
  return {};
}

/// A two-socket server with two accelerators and everything that discovery looks for. Socket 1 has no DIMMs.
struct server : temp_folder {
  server() {
    auto zones = machines::xeon_two_sockets();
    std::erase_if(zones.at(1).parts, [](const zone_spec& part) { return part.name == "dram"; });
    write_powercap_tree(*this / "sys", zones);
    write_pmu_tree(*this / "sys", pmus::xeon());
    sensor_trees::xeon(*this / "sys");
    const resctrl_tree_writer resctrl(*this / "sys", {0, 1});
    write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: A CPU\n");
    write("proc/meminfo", "MemTotal:       527971944 kB\nMemFree:        1 kB\n");
    write("proc/sys/kernel/perf_event_paranoid", "2\n");
    write("sys/devices/system/node/online", "0-1\n");
    write("sys/devices/system/node/has_memory", "0\n");
    for (const auto* node : {"0", "1"}) {
      const std::string cpu = std::string(node) == "0" ? "0" : "2";
      write("sys/devices/system/cpu/cpu" + cpu + "/topology/physical_package_id", node);
      write("sys/devices/system/node/node" + std::string(node) + "/cpulist", cpu + "\n");
    }
    for (const auto& [place, what] : {std::pair("0000:03:00.0", "0x030000"),
                                      {"0000:17:00.0", "0x030200"},
                                      {"0000:18:00.0", "0x120000"},
                                      {"0000:19:00.0", "0x020000"}})
      write(std::string("sys/bus/pci/devices/") + place + "/class", std::string(what) + "\n");
  }

  std::string report() const {
    report_options o;
    o.sys_root = *this / "sys";
    o.proc_root = *this / "proc";
    o.dev_root = *this / "dev";
    o.etc_root = *this / "etc";
    o.open = refuse;
    o.between_readings = 1ms;
    return make_report(o);
  }
  /// Makes below `root` the machine that the report describes.
  void report_to(const temp_folder& root) const {
    root.write("report.yaml", report());
    machine(root / "report.yaml").write(root.path());
  }
};

/// Which files below a folder are opened, from when this is made.
class opened_files {
 public:
  explicit opened_files(const std::string& root) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    REQUIRE(static_cast<bool>(events_));
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_symlink() || !entry.is_directory()) continue;
      const int watch = ::inotify_add_watch(events_.get(), entry.path().c_str(), IN_OPEN);
      REQUIRE(watch >= 0);
      folders_[watch] = fs::relative(entry.path(), root).string();
    }
  }

  /// Their names below the folder.
  std::set<std::string> names() const {
    std::set<std::string> all;
    std::array<char, 65536> buffer{};
    for (;;) {
      const auto n = ::read(events_.get(), buffer.data(), buffer.size());
      if (n <= 0) return all;
      for (std::size_t at = 0; at < static_cast<std::size_t>(n);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        REQUIRE((event.mask & IN_Q_OVERFLOW) == 0);
        // Only a file below the watched folder has a name here.
        if (event.len > 0 && (event.mask & IN_ISDIR) == 0)
          all.insert(folders_.at(event.wd) + "/" + (buffer.data() + at + sizeof event));
        at += sizeof event + event.len;
      }
    }
  }

 private:
  descriptor events_;
  std::map<int, std::string> folders_;
};

void discover(const std::string& sys, const std::string& proc) {
  agent::test::fake_clock clock;
  rapl_source rapl({.sys_root = sys, .proc_root = proc, .pause = [](duration) {}}, clock.source(), refuse);
  pmu_source pmu({.sys_root = sys, .proc_root = proc}, clock.source(), refuse);
  host_source host({.proc_root = proc, .sys_root = sys}, clock.source());
  board readings;
  const std::vector<source*> sources{&rapl, &pmu, &host};
  for (auto* s : sources) {
    (void)s->probe();
    (void)s->discover(readings);
    (void)s->read(readings);
  }
  (void)find_hwmon_chips(sys, false);
  (void)find_power_zones(sys);
  (void)find_thermal_zones(sys);
  (void)find_resctrl_groups(sys, proc, 64);
}

// The source os reads much more, which says nothing about the kind of machine.
bool need_not_be_kept(const std::string& file) {
  return file.ends_with("/topology/core_id")           // it only tells apart whose throttling it is
         || file.starts_with("sys/bus/pci/devices/");  // they are counted
}

}  // namespace

TEST_SUITE_BEGIN("agent/report/kept_files");

TEST_CASE("a report keeps every file that discovery opens") {
  const server s;
  const opened_files opened(s.path());
  discover(s / "sys", s / "proc");
  const auto names = opened.names();
  CHECK(names.contains("sys/devices/system/node/node1/cpulist"));
  CHECK(names.contains("sys/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj"));
  CHECK(names.contains("proc/meminfo"));
  const temp_folder again;
  s.report_to(again);
  for (const auto& name : names) {
    if (need_not_be_kept(name)) continue;
    CAPTURE(name);
    CHECK(fs::exists(again / name));
  }
}

// Before, memory and accelerators were 0, and the socket without DIMMs missed its memory's watts.
TEST_CASE("a machine made of a report has the memory and the accelerators of the real one") {
  const server s;
  const temp_folder again;
  s.report_to(again);
  const auto h = read_hardware(again / "proc", again / "sys");
  CHECK(h.memory_gib == 512);
  CHECK(h.accelerators == 2);
  CHECK(pci_classes(again / "sys") == pci_classes(s / "sys"));
  CHECK(packages_without_memory(again / "sys") == std::set<std::string>{"1"});
}

TEST_CASE("a report holds neither the exact memory nor the places of PCI devices") {
  const server s;
  const auto text = s.report();
  CHECK(text.find("527971944") == text.npos);
  CHECK(text.find("0000:17:00.0") == text.npos);
}

TEST_SUITE_END();

}  // namespace kept_files_test
