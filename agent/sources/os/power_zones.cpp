#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/sensors.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
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

// The nearest of the sorted entries of which this one is a part: "arm-scmi:0" for "arm-scmi:0:1". Empty if
// there is none.
std::string whole_of(const std::string& entry, const std::vector<std::string>& entries) {
  for (auto colon = entry.rfind(':'); colon != entry.npos && colon > 0; colon = entry.rfind(':', colon - 1)) {
    auto whole = entry.substr(0, colon);
    if (std::ranges::binary_search(entries, whole)) return whole;
  }
  return {};
}

// Whether the parts of a zone without a meter say all that it would say. `mute`: the entries without a meter.
bool is_said_by_parts(const std::string& entry, const std::vector<std::string>& entries,
                      const std::set<std::string>& mute) {
  bool any = false;
  for (const auto& part : entries) {
    if (whole_of(part, entries) != entry) continue;
    if (mute.contains(part) && !is_said_by_parts(part, entries, mute)) return false;
    any = true;
  }
  return any;
}

sensor_chip& chip_of(sensor_chips& chips, const fs::path& parent, const std::string& control_type) {
  const auto known = std::ranges::find(chips.all, control_type, &sensor_chip::name);
  if (known != chips.all.end()) return *known;
  return chips.all.emplace_back(
      sensor_chip{parent / control_type, control_type, sensor_chip::pace::slow, {}});
}

}  // namespace

sensor_chips find_power_zones(const std::string& sys_root, const std::set<std::string>& without_meter) {
  const fs::path parent = sys_root + "/class/powercap";
  std::vector<std::string> entries;
  for (const auto& entry : names_in(parent.string())) {
    // RAPL's zones count energy, and the source rapl reads them.
    if (!control_type_of(entry).empty() && !entry.starts_with("intel-rapl") && shows_power(parent / entry))
      entries.push_back(entry);
  }

  const auto input_of = [&](const std::string& entry) { return (parent / entry / "power_uw").string(); };
  std::set<std::string> mute, said_by_parts;
  for (const auto& entry : entries) {
    if (without_meter.contains(input_of(entry))) mute.insert(entry);
  }
  for (const auto& entry : mute) {
    if (is_said_by_parts(entry, entries, mute)) said_by_parts.insert(entry);
  }
  const auto counts = [&](const std::string& entry) {
    if (said_by_parts.contains(entry)) return false;
    auto whole = whole_of(entry, entries);
    while (said_by_parts.contains(whole)) whole = whole_of(whole, entries);
    return whole.empty();
  };

  sensor_chips chips;
  for (const auto& entry : entries) {
    auto& chip = chip_of(chips, parent, control_type_of(entry));
    if (chip.sensors.size() >= sensor_chips::most) {
      ++chips.left_out;
      continue;
    }
    // The firmware names the zones, and may give one name twice.
    auto zone = read_line((parent / entry / "name").string()).value_or("");
    const auto taken = [&](const sensor& other) { return metrics::label_of(other.labels, "zone") == zone; };
    if (zone.empty()) {
      zone = entry;
    } else if (std::ranges::any_of(chip.sensors, taken)) {
      zone += " " + entry;
    }
    metrics::label_set labels{{"chip", chip.name}, {"zone", std::move(zone)}};
    const bool is_part = !counts(entry);
    const auto around = std::ranges::find(chip.sensors, input_of(whole_of(entry, entries)), &sensor::input);
    if (is_part && around != chip.sensors.end())
      labels.emplace_back("inside", metrics::label_of(around->labels, "zone"));
    chip.sensors.push_back({.family = std::string(is_part ? power_of_part : power_of_zone),
                            .labels = std::move(labels),
                            .input = input_of(entry),
                            .unit = 1e-6});
  }
  return chips;
}

}  // namespace binnacle::agent
