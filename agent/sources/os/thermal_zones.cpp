#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/sensors.hpp"
#include "common/system/os_error.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "thermal_zone";
// This type reads a register of the CPU. The other types ask firmware (ACPI) or a bus.
constexpr std::string_view quick_type = "x86_pkg_temp";

}  // namespace

result<sensor_chips> find_thermal_zones(const std::string& sys_root) {
  const auto parent = sys_root + "/class/thermal";
  std::error_code bad;
  fs::directory_iterator it(parent, bad);
  if (bad) return error{errc_of(bad.value()), parent + ": " + describe(bad.value())};
  sensor_chips zones;
  for (const fs::directory_iterator end; !bad && it != end; it.increment(bad)) {
    const auto folder = it->path().string();
    const auto name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;  // such as "cooling_device0"
    if (zones.all.size() >= sensor_chips::most) {
      ++zones.left_out;
      continue;
    }
    const auto type = read_line(folder + "/type").value_or("unknown");
    sensor_chip zone{
        folder, name, type == quick_type ? sensor_chip::pace::quick : sensor_chip::pace::slow, {}};
    zone.sensors.push_back({.family = "os_thermal_zone_temperature_celsius",
                            .labels = {{"zone", name.substr(prefix.size())}, {"type", type}},
                            .input = folder + "/temp",
                            .unit = 1e-3});
    zones.all.push_back(std::move(zone));
  }
  std::ranges::sort(zones.all, {}, &sensor_chip::name);
  return zones;
}

}  // namespace binnacle::agent
