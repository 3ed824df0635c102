// What the os source reads from hardware: chips, zones, frequencies, throttling.
#include "agent/sources/os/number_files.hpp"
#include "agent/sources/os/os.hpp"
#include "agent/sources/os/sensors.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/sensor_tree.hpp"
#include "tests/support/machine/write_line.hpp"
#include "tests/support/no_file_capabilities.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <string>

namespace os_sensors_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::entry_of;
using agent::test::fake_clock;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// A machine whose /sys has sensors and whose /proc has only the load and, with single CPUs, their time; and
/// the os source that reads it.
struct machine {
  explicit machine(void (*tree)(const std::string&), bool per_cpu = false) {
    tree(root / "sys");
    root.write("proc/loadavg", "0.50 0.40 0.30 2/90 123\n");
    if (per_cpu)
      root.write("proc/stat",
                 "cpu  10 0 0 30 0 0 0 0 0 0\ncpu0 10 0 0 10 0 0 0 0 0 0\ncpu3 0 0 0 20 0 0 0 0 0 0\n");
    o.proc = root / "proc";
    o.sys = root / "sys";
    o.time = clock.source();
    o.per_cpu = per_cpu;
    o.slow = slow;
    os.emplace(o);
    REQUIRE(os->discover(out));
    read();
  }
  // Reads as the loop does, but waits for the slow reader.
  void read() {
    REQUIRE(os->read(out));
    REQUIRE(slow->wait(10s));
  }
  // The first reading may only collect what an earlier one had begun, before the files changed.
  void later(duration by) {
    REQUIRE(slow->wait(10s));  // or a reading that has begun would take so long
    clock.now += by;
    read();
    read();
    REQUIRE(os->read(out));
  }
  std::string cpu(const std::string& chip, const std::string& sensor) {
    return shown(out, "os_cpu_temperature_celsius", {{"chip", chip}, {"sensor", sensor}});
  }
  std::string disk(const std::string& name, const std::string& sensor) {
    return shown(out, "os_disk_temperature_celsius", {{"disk", name}, {"sensor", sensor}});
  }
  std::string of(const std::string& family, const std::string& chip, const std::string& sensor) {
    return shown(out, family, {{"chip", chip}, {"sensor", sensor}});
  }
  const board::group_entry& group(const std::string& name) const {
    const auto at = std::ranges::find(out.groups(), name, [](const auto& g) { return g.info.name; });
    REQUIRE(at != out.groups().end());
    return *at;
  }
  void set(const std::string& file, const std::string& text) { root.write("sys/" + file, text + "\n"); }

  temp_folder root;
  fake_clock clock;
  board out;
  os_options o;
  std::shared_ptr<slow_reader> slow = std::make_shared<slow_reader>();
  std::optional<os_source> os;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/os/sensors");

TEST_CASE("a Xeon's sensors: packages at once, what is behind a bus one tick later") {
  machine m(sensor_trees::xeon);
  CHECK(m.cpu("coretemp.0", "Package id 0") == "61.0");
  CHECK(m.cpu("coretemp.1", "Package id 1") == "64.0");
  CHECK(m.cpu("coretemp.0", "Core 0") == "no such series");
  CHECK(m.of("os_temperature_margin_celsius", "coretemp.1", "Package id 1") == "31.0");
  CHECK(shown(m.out, "os_thermal_zone_temperature_celsius", {{"zone", "1"}, {"type", "x86_pkg_temp"}}) ==
        "61.0");
  CHECK(m.disk("nvme0", "Composite") == "not_read_yet");

  m.later(1s);
  CHECK(m.disk("nvme0", "Composite") == "38.9");
  CHECK(m.disk("sda", "temp1") == "31.0");
  CHECK(m.of("os_hwmon_temperature_celsius", "jc42-0-0018", "temp1") == "35.2");
  CHECK(m.of("os_hwmon_fan_speed_rpm", "nct6779-nct6775.656", "fan1") == "1240");
  CHECK(m.of("os_hwmon_fan_speed_rpm", "nct6779-nct6775.656", "CHA_FAN") == "0");
  CHECK(m.of("os_hwmon_voltage_volts", "nct6779-nct6775.656", "in0") == "1.024");
  CHECK(m.of("os_hwmon_current_amperes", "nct6779-nct6775.656", "curr1") == "6.250");
  CHECK(m.of("os_hwmon_power_watts", "nct6779-nct6775.656", "power1") == "75.4");
  CHECK(m.of("os_hwmon_humidity_ratio", "nct6779-nct6775.656", "humidity1") == "0.4530");
  CHECK(m.of("os_temperature_margin_celsius", "sda", "temp1") == "29.0");
  CHECK(shown(m.out, "os_thermal_zone_temperature_celsius", {{"zone", "0"}, {"type", "acpitz"}}) == "27.8");
  CHECK(m.os->limitation().empty());
}

TEST_CASE("two chips whose names differ only in bytes that are not UTF-8 have two names") {
  temp_folder root;
  root.write("class/hwmon/hwmon0/name", "fan\xff\n");
  root.write("class/hwmon/hwmon0/fan1_input", "900\n");
  root.write("class/hwmon/hwmon1/name", "fan\xfe\n");
  root.write("class/hwmon/hwmon1/fan1_input", "800\n");
  const auto found = find_hwmon_chips(root.path(), false);
  REQUIRE(found.has_value());
  REQUIRE(found->all.size() == 2);
  CHECK(found->all[0].name == "fan?");
  CHECK(found->all[1].name == "fan?-hwmon1");
}

TEST_CASE("a sensor that says it is faulty has no value") {
  machine m(sensor_trees::xeon);
  m.later(1s);
  CHECK(m.of("os_hwmon_temperature_celsius", "nct6779-nct6775.656", "AUXTIN") == "no_data");
  m.set("class/hwmon/hwmon5/temp2_fault", "0");
  m.later(10s);
  CHECK(m.of("os_hwmon_temperature_celsius", "nct6779-nct6775.656", "AUXTIN") == "-62.0");
}

TEST_CASE("a zone's double in hwmon is not read again") {
  machine m(sensor_trees::xeon);
  std::string chips;
  for (const auto& e : m.out.series()) {
    for (const auto& [label, value] : e.info.labels) chips += label == "chip" ? value + " " : "";
  }
  CHECK(chips.find("coretemp.0") != chips.npos);
  CHECK(chips.find("acpitz") == chips.npos);
}

TEST_CASE("an Ampere Altra's sensors: temperature and power of its regulators, by either driver") {
  machine m(sensor_trees::altra);
  m.later(1s);
  const std::string chip = "smpro_hwmon-smpro-hwmon.3.auto";
  CHECK(m.of("os_hwmon_power_watts", chip, "power1 CORE VRD") == "75.5");
  CHECK(m.of("os_hwmon_power_watts", chip, "power2 SoC") == "31.2");
  CHECK(m.of("os_hwmon_temperature_celsius", chip, "temp1 SoC") == "52.0");
  CHECK(m.of("os_temperature_margin_celsius", chip, "temp2 SoC VRD") == "44.0");
  CHECK(m.of("os_hwmon_voltage_volts", chip, "vout0 CORE VRD") == "0.830");
  CHECK(m.of("os_hwmon_current_amperes", chip, "iout1 CORE VRD") == "91.000");
  CHECK(m.of("os_hwmon_power_watts", "apm_xgene-APMC0D29:00", "CPU power") == "75.5");
  CHECK(m.of("os_hwmon_power_watts", "apm_xgene-APMC0D29:00", "IO power") == "31.2");
  CHECK(m.os->limitation().empty());
}

TEST_CASE(
    "an Arm server's power zones are read beside its chips, and one that is not measured has no value") {
  machine m(sensor_trees::arm_scmi);
  m.later(1s);
  const auto watts = [&](const std::string& zone) {
    return shown(m.out, "os_powercap_part_power_watts",
                 {{"chip", "arm-scmi"}, {"zone", zone}, {"inside", "SOC"}});
  };
  CHECK(shown(m.out, "os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", "SOC"}}) == "182.4");
  CHECK(watts("CLUSTER") == "64.1");
  CHECK(watts("CLUSTER arm-scmi:0:1") == "58.3");  // the firmware gave one name twice
  CHECK(watts("IO") == "malformed");
  CHECK(m.of("os_hwmon_power_watts", "scmi_sensors-scmi_dev.2", "soc") == "182.0");
  CHECK(m.group("arm-scmi").info.stale_after_ms > 0);
}

// Before, it was 2147.5 W.
TEST_CASE("a power zone that says the largest signed number has none") {
  machine m(sensor_trees::arm_scmi);
  const auto watts = [&] {
    return shown(m.out, "os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", "SOC"}});
  };
  m.set("class/powercap/arm-scmi:0/power_uw", "2147483647");
  m.later(10s);
  CHECK(watts() == "no_data");
  m.set("class/powercap/arm-scmi:0/power_uw", "2147483646");
  m.later(10s);
  CHECK(watts() == "2147.5");
  CHECK(m.os->limitation().empty());
}

TEST_CASE("power zones are read where the kernel has no hwmon, and RAPL's are left to the source rapl") {
  machine m([](const std::string& root) {
    sensor_trees::arm_scmi(root);
    std::filesystem::remove_all(root + "/class/hwmon");
    std::filesystem::create_directories(root + "/class/powercap/intel-rapl:0/power_uw");
  });
  m.later(1s);
  CHECK(shown(m.out, "os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", "SOC"}}) == "182.4");
  CHECK(find_power_zones(m.root / "sys").all.size() == 1);
}

// Before, up to five minutes passed, in which one socket's watts were those of the processors.
TEST_CASE("a power zone that comes late, or comes back under another number, is read within seconds") {
  machine m([](const std::string&) {});
  const auto watts = [&](const std::string& zone) {
    return shown(m.out, "os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", zone}});
  };
  const auto put = [&](const std::string& entry, const std::string& zone, const std::string& power) {
    m.set("class/powercap/" + entry + "/name", zone);
    m.set("class/powercap/" + entry + "/power_uw", power);
  };
  put("arm-scmi:0", "SOC0", "80000000");
  m.later(1s);
  CHECK(watts("SOC0") == "80.0");
  m.later(5s);
  put("arm-scmi:1", "SOC1", "90000000");
  m.later(5s);
  CHECK(watts("SOC1") == "90.0");
  CHECK(watts("SOC0") == "80.0");
  m.root.remove("sys/class/powercap/arm-scmi:1");
  m.later(5s);
  CHECK(watts("SOC1") == "no such series");
  std::filesystem::create_directories(m.root / "sys/class/powercap/arm-scmi:2");  // its files come later
  m.later(5s);
  put("arm-scmi:2", "SOC1", "91000000");
  m.later(5s);
  CHECK(watts("SOC1") == "91.0");
  CHECK(m.os->limitation().empty());
}

// Before, what was left of a chip hid for minutes that one of its sensors had gone.
TEST_CASE("a sensor that goes makes the agent look again, though its neighbours go on") {
  // The kernel gives ENODEV for a file that is open. In a test's folder only a file that never opened can go.
  machine m([](const std::string& root) {
    sensor_trees::arm_scmi(root);
    const auto file = root + "/class/powercap/arm-scmi:0:1/power_uw";
    std::filesystem::remove(file);
    std::filesystem::create_directories(file);
  });
  const auto watts = [&](const std::string& zone) {
    return shown(m.out, "os_powercap_part_power_watts",
                 {{"chip", "arm-scmi"}, {"zone", zone}, {"inside", "SOC"}});
  };
  m.later(1s);
  CHECK(watts("CLUSTER arm-scmi:0:1") == "malformed");
  m.root.remove("sys/class/powercap/arm-scmi:0:1/power_uw");
  m.later(10s);
  m.later(1s);
  CHECK(watts("CLUSTER arm-scmi:0:1") == "no such series");
  CHECK(watts("CLUSTER") == "64.1");
}

namespace {

// A zone around others that the firmware does not measure; here there is nothing to read in its file.
void chassis(const std::string& root, const char* memory) {
  const auto zone = [&root](const std::string& entry, const char* name, const char* power) {
    write_line(root + "/class/powercap/" + entry + "/name", name);
    write_line(root + "/class/powercap/" + entry + "/power_uw", power);
  };
  zone("arm-scmi:0", "CHASSIS", "");
  zone("arm-scmi:0:0", "SOC0", "80000000");
  zone("arm-scmi:0:1", "DDR", memory);
}

std::string counted(const machine& m, const std::string& zone) {
  return shown(m.out, "os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", zone}});
}

std::string not_counted(const machine& m, const std::string& zone) {
  metrics::label_set labels{{"chip", "arm-scmi"}, {"zone", zone}};
  if (zone != "CHASSIS") labels.emplace_back("inside", "CHASSIS");
  return shown(m.out, "os_powercap_part_power_watts", labels);
}

}  // namespace

// Before, the zone's missing value hid those of its parts, and host_power_watts was absent.
TEST_CASE("the parts of a power zone without a meter stand for it") {
  machine m([](const std::string& root) { chassis(root, "75000000"); });
  m.later(1s);
  CHECK(counted(m, "CHASSIS") == "no such series");
  CHECK(not_counted(m, "CHASSIS") == "malformed");
  CHECK(counted(m, "SOC0") == "80.0");
  CHECK(counted(m, "DDR") == "75.0");
  CHECK(not_counted(m, "DDR") == "no such series");
  CHECK(m.os->limitation().empty());
  for (const auto& f : m.os->probe()) CHECK(!agent::test::holds(f.why, "os_powercap_power_watts"));
  // If it has a meter after all, it counts, and goes on to do so without a value.
  m.set("class/powercap/arm-scmi:0/power_uw", "160000000");
  m.later(30s);
  m.later(10s);
  CHECK(counted(m, "CHASSIS") == "160.0");
  CHECK(not_counted(m, "DDR") == "75.0");
  m.set("class/powercap/arm-scmi:0/power_uw", "");
  m.later(30s);
  m.later(10s);
  CHECK(counted(m, "CHASSIS") == "malformed");
  CHECK(counted(m, "DDR") == "no such series");
}

TEST_CASE("the parts of a power zone without a meter do not stand for it if one of them has none") {
  machine m([](const std::string& root) { chassis(root, ""); });
  m.later(1s);
  m.later(10s);
  CHECK(counted(m, "CHASSIS") == "malformed");
  CHECK(not_counted(m, "SOC0") == "80.0");
  CHECK(m.os->limitation().starts_with("arm-scmi CHASSIS has no meter (Invalid argument)"));
  CHECK(agent::test::holds(m.os->limitation(), "host_power_watts does not use arm-scmi"));
  m.set("class/powercap/arm-scmi:0:1/power_uw", "75000000");
  m.later(30s);
  m.later(10s);
  CHECK(counted(m, "CHASSIS") == "no such series");
  CHECK(counted(m, "SOC0") == "80.0");
  CHECK(counted(m, "DDR") == "75.0");
  CHECK(m.os->limitation().empty());
}

TEST_CASE("an EPYC's sensors") {
  machine m(sensor_trees::epyc);
  m.later(1s);
  CHECK(m.cpu("k10temp-0000:00:18.3", "Tctl") == "48.1");
  CHECK(m.cpu("k10temp-0000:00:18.3", "Tccd1") == "45.2");
  CHECK(m.disk("nvme1", "Composite") == "52.9");
  CHECK(shown(m.out, "os_cpu_package_throttles_total", {{"package", "0"}}) == "no such series");
  // The mean of two CPUs at 3.4 GHz and one at 1.5 GHz. The fourth CPU is offline.
  CHECK(shown(m.out, "os_cpu_frequency_hertz") == "2767000000");
  CHECK(shown(m.out, "os_cpu_governor_cpus", {{"governor", "schedutil"}}) == "3");
  CHECK(m.os->limitation().empty());
}

TEST_CASE("each sensor has its own rhythm, and its age is that of its own read") {
  machine m(sensor_trees::xeon);
  m.later(1s);
  m.set("class/hwmon/hwmon2/temp1_input", "70000");
  m.set("class/hwmon/hwmon4/temp1_input", "50000");
  m.set("class/hwmon/hwmon0/temp1_input", "55000");
  m.later(1s);
  CHECK(m.cpu("coretemp.0", "Package id 0") == "70.0");
  CHECK(m.of("os_hwmon_temperature_celsius", "jc42-0-0018", "temp1") == "35.2");
  m.later(9s);
  CHECK(m.of("os_hwmon_temperature_celsius", "jc42-0-0018", "temp1") == "50.0");
  CHECK(m.disk("nvme0", "Composite") == "38.9");
  CHECK(m.clock.now - m.group("nvme0").read_at == 11s);
  CHECK(m.group("nvme0").info.stale_after_ms == 180'000);
  CHECK(m.group("coretemp.0").read_at == m.clock.now);
  m.later(50s);
  CHECK(m.disk("nvme0", "Composite") == "55.0");
}

TEST_CASE("a chip that does not answer makes its own sensors absent, and is named") {
  auto reader = std::make_shared<slow_reader>(slow_reader::options{.patience = 5s, .most_threads = 1});
  std::promise<void> begun, release;
  machine m(sensor_trees::epyc);
  m.later(1s);
  CHECK(m.disk("nvme0", "Composite") == "41.9");
  m.o.slow = reader;
  os_source os(m.o);
  board out;
  // The reader's only thread is stuck, as a dead drive would hold it.
  reader->run([&] {
    begun.set_value();
    release.get_future().wait();
  });
  begun.get_future().wait();
  REQUIRE(os.discover(out));
  REQUIRE(os.read(out));
  m.clock.now += 4s;
  REQUIRE(os.read(out));
  CHECK(os.limitation().empty());
  m.clock.now += 2s;
  REQUIRE(os.read(out));
  const metrics::label_set nvme0{{"disk", "nvme0"}, {"sensor", "Composite"}};
  CHECK(shown(out, "os_disk_temperature_celsius", nvme0) == "timeout");
  CHECK(shown(out, "os_cpu_frequency_hertz") == "timeout");
  CHECK(os.limitation().find("does not answer") != std::string::npos);
  CHECK(shown(out, "os_load1") == "0.50");
  CHECK(shown(out, "os_cpu_temperature_celsius", {{"chip", "k10temp-0000:00:18.3"}, {"sensor", "Tctl"}}) ==
        "48.1");
  release.set_value();
  REQUIRE(reader->wait(10s));
  REQUIRE(os.read(out));
  CHECK(shown(out, "os_disk_temperature_celsius", nvme0) == "41.9");
  CHECK(os.limitation().empty());
}

TEST_CASE("drives come and go") {
  machine m(sensor_trees::epyc);
  // The drive was found, and is gone before the first read. (The kernel gives ENODEV for files that are open;
  // a test's folder cannot.)
  m.os.emplace(m.o);
  REQUIRE(m.os->discover(m.out));
  m.root.remove("sys/class/hwmon/hwmon2/temp1_input");
  m.read();
  REQUIRE(m.os->read(m.out));
  CHECK(m.disk("nvme0", "Composite") == "41.9");
  CHECK(m.os->limitation().find("hwmon2 has gone") != std::string::npos);
  CHECK(m.disk("nvme1", "Composite") == "missing");
  REQUIRE(m.os->discover(m.out));
  CHECK(m.disk("nvme1", "Composite") == "no such series");
  write_chip(m.root / "sys", 7, "nvme", "pci0000:00/nvme/nvme4", {{"temp1_input", "20000"}});
  m.later(1s);
  CHECK(m.disk("nvme4", "temp1") == "20.0");
  CHECK(m.os->limitation().empty());
}

TEST_CASE("a drive that is swapped brings its own critical limit") {
  temp_folder root;
  fake_clock clock;
  root.write("crit", "70000\n");
  number_files files({{root / "input"}, {root / "crit", true}}, nullptr, clock.source());
  REQUIRE(files.poll(0s));
  CHECK(files.numbers()[0].reason == absence::missing);
  CHECK(files.numbers()[1].value == 70'000);
  root.write("crit", "85000\n");
  REQUIRE(files.poll(0s));
  CHECK(files.numbers()[1].value == 70'000);  // a constant: it is not read again
  root.write("input", "41000\n");
  REQUIRE(files.poll(0s));
  CHECK(files.numbers()[0].value == 41'000);
  CHECK(files.numbers()[1].value == 85'000);
}

TEST_CASE("a sensor that cannot be read is absent with its reason, its neighbours go on") {
  machine m(sensor_trees::xeon);
  SUBCASE("no number") {
    m.set("class/hwmon/hwmon5/fan1_input", "fast");
    m.later(1s);
    m.later(10s);
    CHECK(m.of("os_hwmon_fan_speed_rpm", "nct6779-nct6775.656", "fan1") == "malformed");
  }
  SUBCASE("not for this user") {
    std::filesystem::permissions(m.root / "sys/class/hwmon/hwmon5/fan1_input", std::filesystem::perms::none);
    const no_file_capabilities as_anybody;
    auto reader = std::make_shared<slow_reader>();  // its thread starts without these capabilities, too
    m.o.slow = m.slow = reader;
    m.os.emplace(m.o);
    REQUIRE(m.os->discover(m.out));
    m.read();
    m.later(1s);
    CHECK(m.of("os_hwmon_fan_speed_rpm", "nct6779-nct6775.656", "fan1") == "permission");
  }
  CHECK(m.of("os_hwmon_fan_speed_rpm", "nct6779-nct6775.656", "CHA_FAN") == "0");
}

TEST_CASE("a power whose present value cannot be read gives its mean, and only then") {
  machine m([](const std::string& root) {
    write_chip(root, 0, "amdgpu", "pci0000:00/0000:03:00.0",
               {{"power1_label", "PPT"}, {"power1_input", ""}, {"power1_average", "310000000"}});
  });
  const auto watts = [&] {
    m.later(30s);
    return m.of("os_hwmon_power_watts", "amdgpu-0000:03:00.0", "PPT");
  };
  CHECK(watts() == "310.0");
  m.set("class/hwmon/hwmon0/power1_input", "295000000");
  CHECK(watts() == "295.0");
  m.set("class/hwmon/hwmon0/power1_input", "0");  // the card sleeps
  CHECK(watts() == "0.0");
  m.set("class/hwmon/hwmon0/power1_average", "");
  m.set("class/hwmon/hwmon0/power1_input", "");
  CHECK(watts() != "0.0");
}

TEST_CASE("a sensor of power that says less than 0 W is implausible, a temperature may be below 0") {
  machine m([](const std::string& root) {
    write_chip(root, 0, "ina3221", "i2c-1/1-0040",
               {{"power1_label", "CPU power"}, {"power1_input", "-200000000"}, {"temp1_input", "-5000"}});
    write_line(root + "/class/powercap/arm-scmi:0/power_uw", "-1000000");
    write_line(root + "/class/powercap/arm-scmi:0/name", "SOC");
  });
  const std::string chip = "ina3221-1-0040";
  m.later(30s);
  CHECK(m.of("os_hwmon_power_watts", chip, "CPU power") == "implausible");
  CHECK(m.of("os_hwmon_temperature_celsius", chip, "temp1") == "-5.0");
  CHECK(shown(m.out, "os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", "SOC"}}) == "implausible");
  CHECK(agent::test::holds(m.os->limitation(), chip + " CPU power says less than 0 W"));
  CHECK(agent::test::holds(m.os->limitation(), "such as a battery's"));
  CHECK(agent::test::holds(m.os->limitation(), "(and 1 problem more)"));  // that of arm-scmi
  m.set("class/hwmon/hwmon0/power1_input", "75000000");
  m.set("class/powercap/arm-scmi:0/power_uw", "-1");  // shown as 0
  m.later(30s);
  CHECK(m.of("os_hwmon_power_watts", chip, "CPU power") == "75.0");
  CHECK(shown(m.out, "os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", "SOC"}}) == "0.0");
  CHECK(m.os->limitation().empty());
}

// Before, a node whose sensor of the air is dead had the coolest of all.
TEST_CASE("a temperature that incoming air cannot have is implausible, another sensor may say it") {
  machine m([](const std::string& root) {
    write_chip(root, 0, "lm75", "i2c-1/1-0048",
               {{"temp1_label", "Inlet"}, {"temp1_input", "27000"}, {"temp2_input", "27000"}});
  });
  const std::string chip = "lm75-1-0048";
  const auto inlet = [&] { return m.of("os_hwmon_temperature_celsius", chip, "Inlet"); };
  m.later(30s);
  CHECK(inlet() == "27.0");
  for (const char* dead : {"-64000", "-128000", "127000", "255000", "-273150", "100100"}) {
    CAPTURE(dead);
    m.set("class/hwmon/hwmon0/temp1_input", dead);
    m.set("class/hwmon/hwmon0/temp2_input", dead);
    m.later(30s);
    CHECK(inlet() == "implausible");
    CHECK(m.of("os_hwmon_temperature_celsius", chip, "temp2") != "implausible");
    CHECK(m.os->limitation().starts_with(chip + " Inlet says a temperature that incoming air cannot have"));
  }
  for (const char* air : {"-40000", "100000", "0"}) {
    CAPTURE(air);
    m.set("class/hwmon/hwmon0/temp1_input", air);
    m.later(30s);
    CHECK(inlet() != "implausible");
    CHECK(m.os->limitation().empty());
  }
}

TEST_CASE("two sensors of one label and two chips of one name are told apart") {
  temp_folder sys;
  write_chip(sys.path(), 0, "bmp", "",
             {{"temp1_label", "x"}, {"temp2_label", "x"}, {"temp1_input", "1"}, {"temp2_input", "2"}});
  write_chip(sys.path(), 1, "bmp", "", {{"temp1_input", "1"}});
  write_chip(sys.path(), 2, "empty", "", {});
  const auto chips = find_hwmon_chips(sys.path(), false).value().all;
  REQUIRE(chips.size() == 2);
  CHECK(chips[0].name == "bmp");
  CHECK(chips[1].name == "bmp-hwmon1");
  CHECK(chips[0].sensors[0].labels.back().second == "x");
  CHECK(chips[0].sensors[1].labels.back().second == "x temp2");
}

TEST_CASE("chips and sensors beyond the bound are counted and told") {
  machine m(sensor_trees::xeon);
  CHECK(m.os->limitation().empty());
  std::map<std::string, std::string> many;
  for (int i = 1; i <= 258; ++i) many["fan" + std::to_string(i) + "_input"] = "100";
  write_chip(m.root / "sys", 90, "many", "", many);
  m.os.emplace(m.o);
  REQUIRE(m.os->discover(m.out));
  m.read();
  CHECK(m.os->limitation().find("2 chips or sensors are left out") != std::string::npos);
}

TEST_CASE("frequency is the least, the mean and the most over the CPUs online") {
  machine m(sensor_trees::xeon);
  CHECK(shown(m.out, "os_cpu_frequency_hertz") == "not_read_yet");
  m.later(1s);
  CHECK(shown(m.out, "os_cpu_frequency_min_hertz") == "2000000000");
  CHECK(shown(m.out, "os_cpu_frequency_hertz") == "2750000000");
  CHECK(shown(m.out, "os_cpu_frequency_max_hertz") == "3500000000");
  CHECK(shown(m.out, "os_cpu_governor_cpus", {{"governor", "performance"}}) == "4");
  // Governors are read only at discoveries, and are as old as the last one.
  const auto governors = [&] {
    const auto* e = entry_of(m.out, "os_cpu_governor_cpus", {{"governor", "performance"}});
    REQUIRE(e != nullptr);
    return m.out.groups()[e->info.group];
  };
  const auto looked = m.clock.now - 1s;
  CHECK(governors().read_at == looked);
  m.later(1min);
  CHECK(governors().read_at == looked);
  REQUIRE(m.os->discover(m.out));
  CHECK(governors().read_at == m.clock.now);
  CHECK(std::chrono::milliseconds(governors().info.period_ms) == regular_look);
  // A CPU goes offline between a discovery and the next read.
  m.os.emplace(m.o);
  REQUIRE(m.os->discover(m.out));
  m.root.remove("sys/devices/system/cpu/cpufreq/policy3");
  m.read();
  REQUIRE(m.os->read(m.out));
  CHECK(shown(m.out, "os_cpu_frequency_max_hertz") == "3000000000");
  REQUIRE(m.os->discover(m.out));
  m.later(10s);
  CHECK(shown(m.out, "os_cpu_governor_cpus", {{"governor", "performance"}}) == "3");
  m.root.remove("sys/devices/system/cpu/cpufreq");
  REQUIRE(m.os->discover(m.out));
  CHECK(shown(m.out, "os_cpu_frequency_hertz") == "no such series");
}

TEST_CASE("a policy of more CPUs than a short line holds counts them all") {
  machine m(sensor_trees::xeon);
  std::string cpus;
  for (int i = 1000; i < 1300; ++i) cpus += std::to_string(i) + " ";
  cpus.pop_back();
  m.set("devices/system/cpu/cpufreq/policy3/affected_cpus", cpus);
  m.os.emplace(m.o);
  REQUIRE(m.os->discover(m.out));
  CHECK(shown(m.out, "os_cpu_governor_cpus", {{"governor", "performance"}}) == "303");
}

TEST_CASE("throttling is counted once for each package and core") {
  machine m(sensor_trees::xeon);
  const metrics::label_set package{{"package", "1"}};
  CHECK(shown(m.out, "os_cpu_package_throttles_total", package) == "11");
  CHECK(shown(m.out, "os_cpu_package_throttled_seconds_total", package) == "5.001");
  CHECK(shown(m.out, "os_cpu_package_throttles_per_second", package) == "not_read_yet");
  CHECK(shown(m.out, "os_cpu_core_throttles_total", package) == "2");  // two siblings, one core
  m.set("devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "15");
  m.set("devices/system/cpu/cpu1/thermal_throttle/package_throttle_total_time_ms", "5501");
  m.clock.now += 1s;
  m.read();
  CHECK(shown(m.out, "os_cpu_package_throttles_per_second", package) == "4.00");
  CHECK(shown(m.out, "os_cpu_package_throttled_ratio", package) == "0.5000");
}

// Before, the ratio was 0 while a package was throttled, and 60 in the second after.
TEST_CASE("while a throttling goes on its share of time is not known, and never more than all of it") {
  machine m(sensor_trees::xeon);
  const auto counted = [&m](const char* file, const char* number) {
    m.set(std::string("devices/system/cpu/cpu1/thermal_throttle/package_throttle_") + file, number);
  };
  const auto ratio_after = [&m](duration time) {
    m.clock.now += time;
    m.read();
    return shown(m.out, "os_cpu_package_throttled_ratio", {{"package", "1"}});
  };
  CHECK(ratio_after(1s) == "0.0000");
  counted("count", "12");
  CHECK(ratio_after(1s) == "no_data");
  CHECK(ratio_after(1s) == "no_data");
  CHECK(shown(m.out, "os_cpu_package_throttles_per_second", {{"package", "1"}}) == "0.00");
  SUBCASE("it ends") {
    counted("total_time_ms", "65001");
    CHECK(ratio_after(1s) == "1.0000");
    CHECK(ratio_after(1s) == "0.0000");
  }
  SUBCASE("it ends, and the next one begins at once") {
    counted("count", "13");
    counted("total_time_ms", "5101");
    CHECK(ratio_after(1s) == "0.1000");
    CHECK(ratio_after(1s) == "no_data");
  }
  SUBCASE("it was too short to add any time") {
    CHECK(ratio_after(58s) == "no_data");
    CHECK(ratio_after(1s) == "0.0000");
  }
}

TEST_CASE("throttle counters that a container runtime masks are named with the remedy") {
  machine m(sensor_trees::xeon);
  for (const char cpu : {'0', '1', '2', '3'}) {
    const auto folder = std::string("sys/devices/system/cpu/cpu") + cpu + "/thermal_throttle";
    m.root.remove(folder);
    std::filesystem::create_directories(m.root / folder);
  }
  const auto found = m.os->probe();
  const auto it = std::ranges::find_if(
      found, [](const finding& f) { return f.what.find("throttling") != std::string::npos; });
  REQUIRE(it != found.end());
  CHECK(it->how == finding::grade::broken);
  CHECK(it->why.find("the container runtime masks it") != std::string::npos);
  CHECK(it->remedy.find("--sys-root /host/sys") != std::string::npos);
}

TEST_CASE("single CPUs and cores are there when they are asked for") {
  machine m(sensor_trees::xeon, true);
  CHECK(m.cpu("coretemp.0", "Core 1") == "59.0");
  CHECK(shown(m.out, "os_per_cpu_seconds_total", {{"cpu", "3"}, {"mode", "idle"}}) == "0.20");
  CHECK(shown(m.out, "os_per_cpu_utilization_ratio", {{"cpu", "0"}}) == "not_read_yet");
  m.root.write("proc/stat", "cpu  40 0 0 40 0 0 0 0 0 0\ncpu0 40 0 0 20 0 0 0 0 0 0\n");
  m.later(1s);
  CHECK(shown(m.out, "os_per_cpu_utilization_ratio", {{"cpu", "0"}}) == "0.7500");
  CHECK(shown(m.out, "os_per_cpu_utilization_ratio", {{"cpu", "3"}}) == "no such series");  // offline
  CHECK(shown(m.out, "os_per_cpu_frequency_hertz", {{"cpu", "2"}}) == "3000000000");
  m.later(10s);
  CHECK(shown(m.out, "os_per_cpu_utilization_ratio", {{"cpu", "0"}}) == "stands_still");
  m.root.write("proc/stat", "");
  m.later(1s);
  CHECK(shown(m.out, "os_per_cpu_utilization_ratio", {{"cpu", "0"}}) == "malformed");
}

TEST_CASE("every series of sensors is one of METRICS.md, with its labels in order") {
  machine m(sensor_trees::xeon, true);
  CHECK(m.out.live_series() > 50);
  agent::test::check_families(m.out);
}

TEST_CASE("the probe says once what is not there") {
  machine m(sensor_trees::xeon);
  std::filesystem::remove_all(m.root / "sys/class/thermal");
  std::filesystem::create_directory(m.root / "sys/class/thermal");
  const auto found = m.os->probe();
  const auto it = std::ranges::find_if(
      found, [](const finding& f) { return f.what.find("thermal zones") != std::string::npos; });
  REQUIRE(it != found.end());
  CHECK(it->how == finding::grade::absent);
  CHECK(it->why.ends_with("/class/thermal: none there"));
  CHECK(it->why.find("thermal zones") == std::string::npos);
}

TEST_CASE("the probe lists the chips") {
  machine m(sensor_trees::xeon);
  const auto found = m.os->probe();
  const auto it = std::ranges::find_if(
      found, [](const finding& f) { return f.what.find("sensor chips") != std::string::npos; });
  REQUIRE(it != found.end());
  CHECK(it->how == finding::grade::works);
  CHECK(it->what.find("coretemp.0 (1 sensor") != std::string::npos);
  CHECK(it->what.find("nvme0 (1 sensor") != std::string::npos);
}

TEST_CASE("the probe names the sensors of a chip that have no value") {
  machine m(sensor_trees::xeon);
  m.set("class/hwmon/hwmon5/fan1_input", "no number");
  const auto found = m.os->probe();
  const auto it = std::ranges::find_if(found, [](const finding& f) { return f.what.ends_with(" series"); });
  REQUIRE(it != found.end());
  CAPTURE(it->why);
  CHECK(it->how == finding::grade::limited);
  CHECK(it->why.find("os_hwmon_fan_speed_rpm nct6779-nct6775.656 fan1 (malformed)") != std::string::npos);
  CHECK(it->why.find("AUXTIN (no_data)") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace os_sensors_test
