#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/sensors.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

// The control type "arm-scmi" of the entry "arm-scmi:0:1". Empty for an entry that is a control type itself.
std::string control_type_of(const std::string& entry) {
  const auto colon = entry.find(':');
  return colon == entry.npos ? std::string() : entry.substr(0, colon);
}

bool shows_power(const fs::path& folder) {
  std::error_code bad;
  return fs::exists(folder / "power_uw", bad);
}

// Whether the zone is part of another one: "arm-scmi:0:1" is a part of "arm-scmi:0", if that is among the
// sorted entries.
bool is_part(const std::string& entry, const std::vector<std::string>& entries) {
  for (auto colon = entry.rfind(':'); colon != entry.npos && colon > 0; colon = entry.rfind(':', colon - 1)) {
    if (std::ranges::binary_search(entries, entry.substr(0, colon))) return true;
  }
  return false;
}

sensor_chip& chip_of(sensor_chips& chips, const fs::path& parent, const std::string& control_type) {
  const auto known = std::ranges::find(chips.all, control_type, &sensor_chip::name);
  if (known != chips.all.end()) return *known;
  return chips.all.emplace_back(
      sensor_chip{parent / control_type, control_type, sensor_chip::pace::slow, {}});
}

}  // namespace

sensor_chips find_power_zones(const std::string& sys_root) {
  const fs::path parent = sys_root + "/class/powercap";
  std::vector<std::string> entries;
  for (const auto& entry : names_in(parent.string())) {
    // RAPL's zones count energy, and the source rapl reads them.
    if (!control_type_of(entry).empty() && !entry.starts_with("intel-rapl") && shows_power(parent / entry))
      entries.push_back(entry);
  }

  sensor_chips chips;
  for (const auto& entry : entries) {
    auto& chip = chip_of(chips, parent, control_type_of(entry));
    if (chip.sensors.size() >= sensor_chips::most) {
      ++chips.left_out;
      continue;
    }
    // The firmware names the zones, and may give one name twice.
    auto zone = read_line((parent / entry / "name").string()).value_or("");
    const auto taken = [&](const sensor& other) { return other.labels.back().second == zone; };
    if (zone.empty()) {
      zone = entry;
    } else if (std::ranges::any_of(chip.sensors, taken)) {
      zone += " " + entry;
    }
    const bool part = is_part(entry, entries);
    chip.sensors.push_back({.family = part ? "os_powercap_part_power_watts" : "os_powercap_power_watts",
                            .labels = {{"chip", chip.name}, {"zone", std::move(zone)}},
                            .input = parent / entry / "power_uw",
                            .unit = 1e-6});
  }
  return chips;
}

}  // namespace binnacle::agent
