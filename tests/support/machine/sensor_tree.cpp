#include "tests/support/machine/sensor_tree.hpp"

#include "tests/support/machine/write_line.hpp"

#include <filesystem>

namespace binnacle::support {
namespace {

namespace fs = std::filesystem;

void write_zone(const fs::path& root, unsigned number, const std::string& type, const std::string& temp) {
  const auto folder = root / "class/thermal" / ("thermal_zone" + std::to_string(number));
  write_line(folder / "type", type);
  write_line(folder / "temp", temp);
}

void write_policy(const fs::path& root, unsigned number, const std::string& cpus, const std::string& governor,
                  unsigned khz) {
  const auto folder = root / "devices/system/cpu/cpufreq" / ("policy" + std::to_string(number));
  write_line(folder / "affected_cpus", cpus);
  write_line(folder / "scaling_governor", governor);
  write_line(folder / "scaling_cur_freq", std::to_string(khz));
}

// Sibling CPUs show the same count of their core, and all CPUs of a package show the package's count.
void write_throttles(const fs::path& root, unsigned cpu, unsigned package, unsigned core) {
  const auto folder = root / "devices/system/cpu" / ("cpu" + std::to_string(cpu));
  write_line(folder / "topology/physical_package_id", std::to_string(package));
  write_line(folder / "topology/core_id", std::to_string(core));
  write_line(folder / "thermal_throttle/core_throttle_count", std::to_string(2 + core));
  write_line(folder / "thermal_throttle/package_throttle_count", std::to_string(10 + package));
  write_line(folder / "thermal_throttle/package_throttle_total_time_ms", std::to_string(5000 + package));
}

}  // namespace

void write_chip(const std::string& root, unsigned number, const std::string& driver,
                const std::string& device, const std::map<std::string, std::string>& files) {
  const auto folder = fs::path(root) / "class/hwmon" / ("hwmon" + std::to_string(number));
  write_line(folder / "name", driver);
  for (const auto& [name, text] : files) write_line(folder / name, text);
  if (device.empty()) return;
  const auto target = fs::path(root) / "devices" / device;
  fs::create_directories(target);
  fs::create_directory_symlink(fs::relative(target, folder), folder / "device");
}

namespace sensor_trees {

void xeon(const std::string& root) {
  for (const unsigned socket : {0u, 1u}) {
    const auto n = std::to_string(socket);
    write_chip(root, 2 - socket, "coretemp", "platform/coretemp." + n,
               {{"temp1_label", "Package id " + n},
                {"temp1_input", socket == 0 ? "61000" : "64000"},
                {"temp1_crit", "95000"},
                {"temp1_max", "85000"},
                {"temp2_label", "Core 0"},
                {"temp2_input", "60000"},
                {"temp2_crit", "95000"},
                {"temp3_label", "Core 1"},
                {"temp3_input", "59000"}});
  }
  write_chip(root, 0, "nvme", "pci0000:00/0000:00:1d.0/nvme/nvme0",
             {{"temp1_label", "Composite"}, {"temp1_input", "38850"}, {"temp1_crit", "84850"}});
  fs::create_directories(fs::path(root) / "devices/pci0000:00/ata1/0:0:0:0/block/sda");
  write_chip(root, 3, "drivetemp", "pci0000:00/ata1/0:0:0:0",
             {{"temp1_input", "31000"}, {"temp1_crit", "60000"}});
  write_chip(root, 4, "jc42", "i2c-0/0-0018", {{"temp1_input", "35250"}, {"temp1_crit", "85000"}});
  write_chip(root, 5, "nct6779", "platform/nct6775.656",
             {{"fan1_input", "1240"},
              {"fan2_input", "0"},
              {"fan2_label", "CHA_FAN"},
              {"in0_input", "1024"},
              {"temp1_label", "SYSTIN"},
              {"temp1_input", "29500"},
              {"temp2_label", "AUXTIN"},
              {"temp2_input", "-62000"},
              {"temp2_fault", "1"},
              {"power1_average", "75400000"},
              {"curr1_input", "6250"},
              {"humidity1_input", "45300"}});
  write_chip(root, 6, "acpitz", "virtual/thermal/thermal_zone0", {{"temp1_input", "27800"}});
  write_zone(root, 0, "acpitz", "27800");
  write_zone(root, 1, "x86_pkg_temp", "61000");
  write_line(fs::path(root) / "class/thermal/cooling_device0/type", "Processor");
  for (const unsigned cpu : {0u, 1u, 2u, 3u}) {
    write_policy(root, cpu, std::to_string(cpu), "performance", 2'000'000 + 500'000 * cpu);
    write_throttles(root, cpu, cpu % 2, 0);  // CPUs 0 and 2 are siblings on one core
  }
}

void epyc(const std::string& root) {
  write_chip(root, 0, "k10temp", "pci0000:00/0000:00:18.3",
             {{"temp1_label", "Tctl"},
              {"temp1_input", "48125"},
              {"temp3_label", "Tccd1"},
              {"temp3_input", "45250"}});
  for (const unsigned n : {0u, 1u}) {
    const auto name = std::to_string(n);
    write_chip(root, 1 + n, "nvme", "pci0000:00/nvme/nvme" + name,
               {{"temp1_label", "Composite"}, {"temp1_input", n == 0 ? "41850" : "52850"}});
  }
  write_policy(root, 0, "0 1", "schedutil", 3'400'000);
  write_policy(root, 2, "2", "schedutil", 1'500'000);
  write_policy(root, 3, "", "schedutil", 1'500'000);  // its CPU is offline
}

void altra(const std::string& root) {
  write_chip(root, 0, "smpro_hwmon", "platform/smpro-hwmon.3.auto",
             {{"temp1_label", "temp1 SoC"},
              {"temp1_input", "52000"},
              {"temp2_label", "temp2 SoC VRD"},
              {"temp2_input", "61000"},
              {"temp2_crit", "105000"},
              {"in0_label", "vout0 CORE VRD"},
              {"in0_input", "830"},
              {"curr1_label", "iout1 CORE VRD"},
              {"curr1_input", "91000"},
              {"power1_label", "power1 CORE VRD"},
              {"power1_input", "75530000"},
              {"power2_label", "power2 SoC"},
              {"power2_input", "31250000"}});
  write_chip(root, 1, "apm_xgene", "platform/APMC0D29:00",
             {{"temp1_label", "SoC Temperature"},
              {"temp1_input", "51000"},
              {"temp1_critical_alarm", "0"},
              {"power1_label", "CPU power"},
              {"power1_input", "75500000"},
              {"power2_label", "IO power"},
              {"power2_input", "31200000"}});
  write_zone(root, 0, "acpitz", "44000");
}

void arm_scmi(const std::string& root) {
  const auto zone = [&](const std::string& number, const std::string& name, const std::string& power) {
    const auto folder = fs::path(root) / "class/powercap" / ("arm-scmi" + number);
    write_line(folder / "name", name);
    write_line(folder / "enabled", "1");
    write_line(folder / "power_uw", power);
    write_line(folder / "max_power_range_uw", "4294967295");
    write_line(folder / "constraint_0_name", "SCMI power-cap");
    write_line(folder / "constraint_0_power_limit_uw", "250000000");
  };
  write_line(fs::path(root) / "class/powercap/arm-scmi/enabled", "1");
  zone(":0", "SOC", "182400000");
  zone(":0:0", "CLUSTER", "64100000");
  zone(":0:1", "CLUSTER", "58300000");
  zone(":0:2", "IO",
       "");  // the driver refuses a zone that the firmware does not measure; here there is nothing to read
  write_chip(root, 0, "scmi_sensors", "firmware:scmi/scmi_dev.2",
             {{"temp1_label", "pmic"},
              {"temp1_input", "36000"},
              {"power1_label", "soc"},
              {"power1_input", "182000000"}});
}

}  // namespace sensor_trees
}  // namespace binnacle::support
