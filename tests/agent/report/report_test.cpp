#include "agent/report/report.hpp"

#include "agent/sources/rapl/rapl_zones.hpp"
#include "tests/support/data.hpp"
#include "tests/support/full_pipe.hpp"
#include "tests/support/machine/machine.hpp"
#include "tests/support/machine/pmu_tree.hpp"
#include "tests/support/machine/powercap_tree.hpp"
#include "tests/support/machine/sensor_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace report_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace std::chrono_literals;

namespace {

/// A machine's /sys, /proc, /dev and /etc, and the report of it. No perf counter can be opened.
struct bench : temp_folder {
  std::vector<source_findings> probe;
  std::vector<std::string> names{"node7"};

  bench() {
    for (const auto* part : {"sys", "proc", "dev", "etc"}) std::filesystem::create_directories(*this / part);
  }
  std::string text() const {
    report_options o;
    o.sys_root = *this / "sys";
    o.proc_root = *this / "proc";
    o.dev_root = *this / "dev";
    o.etc_root = *this / "etc";
    o.open = [](const perf_request&) {
      errno = EACCES;
      return descriptor();
    };
    o.between_readings = 1ms;
    o.probe = probe;
    o.names = names;
    return make_report(o);
  }
  YAML::Node report() const { return YAML::Load(text()); }
};

}  // namespace

TEST_SUITE_BEGIN("agent/report");

TEST_CASE("a machine without anything has a report, which says so") {
  const bench b;
  const auto r = b.report();
  CHECK(r["report"].as<int>() == report_version);
  CHECK(r["machine"]["cgroups"].Scalar() == "none");
  CHECK(r["machine"]["distribution"].Scalar() == "unknown");
  CHECK(r["cpu"].size() == 0);
  CHECK(r["sys"].size() == 0);
  CHECK_FALSE(r["joules by perf"]);
}

TEST_CASE("a report says which CPU it is, and of the flags those that sensors hang on") {
  const bench b;
  b.write("proc/cpuinfo",
          "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nflags\t\t: fpu "
          "hypervisor sse "
          "arch_perfmon\npower management:\n\nprocessor\t: 1\nvendor_id\t: Another\n");
  b.write("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  b.write("sys/fs/cgroup/unified/cgroup.controllers", "");
  b.write("dev/ipmi0", "");
  const auto r = b.report();
  CHECK(r["cpu"]["vendor_id"].Scalar() == "GenuineIntel");
  CHECK(r["cpu"]["model"].Scalar() == "207");
  CHECK(r["cpu"]["flags"].Scalar() == "hypervisor arch_perfmon");
  CHECK(r["machine"]["distribution"].Scalar() == "Debian GNU/Linux 12 (bookworm)");
  CHECK(r["machine"]["cgroups"].Scalar() == "hybrid");
  CHECK(r["machine"]["bmc devices"]["ipmi0"].IsScalar());
}

TEST_CASE("a pipe in the place of os-release is not read") {
  const bench b;
  const full_pipe release(b / "etc/os-release", "PRETTY_NAME=Pipe\n");
  CHECK(b.report()["machine"]["distribution"].Scalar() == "unknown");
}

TEST_CASE("two readings of an energy counter show whether it moves, and its mode who may read it") {
  const bench b;
  write_powercap_tree(b / "sys", machines::xeon_two_sockets());
  restrict_energy(b / "sys");
  const auto zone = b.report()["sys"]["devices/virtual/powercap"]["intel-rapl"]["intel-rapl:0"];
  CHECK(zone["energy_uj"].IsSequence());
  CHECK(zone["energy_uj"][0].Scalar() == "1000000000");
  CHECK(zone["energy_uj"][1].Scalar() == "1000000000");
  CHECK(zone["energy_uj.mode"].Scalar() == "0400");
}

TEST_CASE("a counter of the perf PMU that may not be opened says why") {
  const bench b;
  write_pmu_tree(b / "sys", pmus::xeon());
  b.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  const auto psys = b.report()["joules by perf"]["psys"];
  CHECK(psys.Tag() == "!refused");
  CHECK(psys.Scalar().find("perf_event_paranoid is 2") != std::string::npos);
}

// Plants a secret in everything that a report may contain, and puts files beside them that it must not open.
TEST_CASE("a report holds no serial number, address, name of the machine, and no command line") {
  bench b;
  write_chip(b / "sys", 0, "hid_34_88_5d_01_02_03_battery", "0005:054C:09CC.0001",
             {{"temp1_input", "30000"}, {"temp1_label", "node7 inlet"}});
  b.write("sys/class/dmi/id/product_name", "PowerEdge R740 of node7");
  b.write("sys/class/dmi/id/product_serial", "SECRET1");
  b.write("sys/class/dmi/id/product_uuid", "SECRET2");
  b.write("sys/class/dmi/id/chassis_asset_tag", "SECRET3");
  b.write("sys/class/net/eth0/address", "34:88:5d:0a:0b:0c");
  b.write("sys/class/hwmon/hwmon0/serial", "SECRET4");
  b.write("sys/bus/event_source/devices/power/type", "10.1.2.3");
  b.write("proc/cmdline", "root=SECRET5");
  b.write("proc/cpuinfo",
          "model name\t: A CPU of node7\nserial\t\t: SECRET6\nprocessor 0: version = FF,  identification = "
          "SECRET7\n");
  b.write("proc/sys/kernel/hostname", "node7");
  b.probe = {{"rapl", {{finding::grade::broken, "node7", "10.0.0.1 does not answer", "ask node7.example"}}}};
  b.names = {"node7", "node7.example"};
  const auto text = b.text();
  for (const auto* secret : {"SECRET", "node7", "34_88_5d_01", "34:88", "10.1.2.3", "10.0.0.1"}) {
    CAPTURE(secret);
    CHECK(text.find(secret) == text.npos);
  }
  CHECK(text.find("PowerEdge R740 of (name)") != text.npos);
  CHECK(text.find("(name) inlet") != text.npos);
}

TEST_CASE("a link that leads out of /sys is not followed into the report") {
  const bench b;
  b.write("secret/file", "SECRET");
  std::filesystem::create_directories(b / "sys/class/hwmon/hwmon0");
  std::filesystem::create_directory_symlink(b / "secret", b / "sys/class/hwmon/hwmon0/device");
  const auto device = b.report()["sys"]["class/hwmon"]["hwmon0"]["device"];
  CHECK(device.Tag() == "!refused");
}

TEST_CASE("the report of the largest server fits an issue, and says what it left out") {
  bench b;
  std::vector<zone_spec> zones;
  for (unsigned n = 0; n < 32; ++n) {
    auto zone = machines::xeon_two_sockets()[0];
    zone.name = fmt::format("package-{}", n);
    zones.push_back(zone);
  }
  write_powercap_tree(b / "sys", zones);
  pmu_machine m = pmus::xeon();
  m.online = "0-255";
  m.seats.assign(256, {});
  for (unsigned n = 0; n < 100; ++n) {
    auto box = m.pmus[1];
    box.name = fmt::format("uncore_box_{}", n);
    for (auto& [name, terms] : box.events) terms += fmt::format(",x={}", n);  // none like another
    m.pmus.push_back(box);
  }
  write_pmu_tree(b / "sys", m);
  for (unsigned n = 0; n < 40; ++n) {
    std::map<std::string, std::string> files;
    for (unsigned k = 1; k <= 30; ++k) {
      files[fmt::format("temp{}_input", k)] = std::to_string(20000 + n * 100 + k);
      files[fmt::format("temp{}_label", k)] = fmt::format("Sensor \"{}\" of chip {}", k, n);
    }
    write_chip(b / "sys", n, "nct6779", fmt::format("nct6775.{}", n), files);
  }
  for (const auto* source : {"rapl", "os", "pmu", "rdt", "bmc"}) {
    b.probe.push_back({source, std::vector<finding>(100, {finding::grade::broken, std::string(2000, 'a'),
                                                          std::string(2000, 'b'), std::string(2000, 'c')})});
  }
  const auto text = b.text();
  CHECK(text.size() <= report_bytes);
  CHECK(text.find("left-out: ") != text.npos);
  // The cut report still describes a machine.
  b.write("report.yaml", text);
  const temp_folder again;
  machine(b / "report.yaml").write(again.path());
  CHECK(find_rapl_zones(again / "sys", again / "proc")->zones.size() > 2);
}

TEST_CASE("a report is a machine for the next test: written again it finds the same") {
  for (const auto* name : {"intel-server", "amd-server", "amd-server-dies", "client-hybrid"}) {
    CAPTURE(name);
    bench b;
    machine(fmt::format("{}/machines/{}.yaml", data_folder(), name)).write(b.path());
    b.write("report.yaml", b.text());
    const temp_folder again;
    machine(b / "report.yaml").write(again.path());
    const auto first = find_rapl_zones(b / "sys", b / "proc"),
               second = find_rapl_zones(again / "sys", again / "proc");
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    REQUIRE(first->zones.size() == second->zones.size());
    for (std::size_t i = 0; i < first->zones.size(); ++i)
      CHECK(first->zones[i].name == second->zones[i].name);
    const auto without_head = [](const std::string& text) { return text.substr(text.find("\nsys:")); };
    bench c;
    machine(b / "report.yaml").write(c.path());
    CHECK(without_head(c.text()) == without_head(b.text()));
  }
}

TEST_SUITE_END();

}  // namespace report_test
