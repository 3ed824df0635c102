#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/sensors.hpp"
#include "common/system/os_error.hpp"
#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

// Drivers that read registers of the CPU or its root complex. No bus is between, so a read cannot hang.
constexpr std::array<std::string_view, 3> cpu_drivers{"coretemp", "k10temp", "zenpower"};
constexpr std::array<std::string_view, 2> drive_drivers{"nvme", "drivetemp"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

struct quantity {
  std::string_view prefix, suffix;  // of the file's name: "temp1_input"
  const char* family;
  double unit;
};
constexpr std::array<quantity, 7> quantities{{
    {"temp", "_input", "os_hwmon_temperature_celsius", 1e-3},
    {"fan", "_input", "os_hwmon_fan_speed_rpm", 1},
    {"in", "_input", "os_hwmon_voltage_volts", 1e-3},
    {"curr", "_input", "os_hwmon_current_amperes", 1e-3},
    {"power", "_input", "os_hwmon_power_watts", 1e-6},
    {"power", "_average", "os_hwmon_power_watts", 1e-6},
    {"humidity", "_input", "os_hwmon_humidity_ratio", 1e-5},
}};

struct input_file {
  const quantity* what = nullptr;
  std::string stem;  // "temp1"
  std::uint64_t number = 0;
};

// The quantity and number in a file's name: "temp12_input" is number 12. Nothing for names such as
// "temp1_max", "name" or "power".
std::optional<input_file> input_of(const std::string& file) {
  for (const auto& q : quantities) {
    if (!file.starts_with(q.prefix) || !file.ends_with(q.suffix)) continue;
    const auto stem = file.substr(0, file.size() - q.suffix.size());
    if (const auto number = parse_unsigned(stem.substr(q.prefix.size())))
      return input_file{&q, stem, *number};
  }
  return std::nullopt;
}

std::string device_of(const std::string& folder) {
  std::error_code bad;
  const auto target = fs::read_symlink(folder + "/device", bad);
  return bad ? std::string() : target.filename().string();
}

// The name of a SCSI device's disk: "sda". If there is no disk, the device's own name.
std::string disk_of(const std::string& folder, const std::string& device) {
  std::error_code bad;
  fs::directory_iterator it(folder + "/device/block", bad);
  return bad || it == fs::directory_iterator() ? device : it->path().filename().string();
}

// A chip's name from its driver and device. Chip numbers are not used: they depend on the order in which
// drivers were loaded.
std::string name_of(const std::string& driver, const std::string& device) {
  if (device.empty()) return driver;
  return device.starts_with(driver) ? device : driver + "-" + device;
}

std::vector<input_file> inputs_in(const std::string& folder) {
  std::vector<input_file> found;
  for (const auto& name : names_in(folder)) {
    if (auto one = input_of(name)) found.push_back(std::move(*one));
  }
  std::ranges::sort(found, [](const input_file& a, const input_file& b) {
    return a.what != b.what ? a.what < b.what : a.number < b.number;
  });
  // If a power is measured as a present value, its mean is no sensor of its own.
  std::erase_if(found, [&](const input_file& one) {
    return one.what->suffix == "_average" && there(folder + "/" + one.stem + "_input");
  });
  return found;
}

// Adds the chip's sensors. Returns how many are left out.
std::size_t add_sensors(sensor_chip& chip, bool cpu, bool every_core) {
  std::size_t left_out = 0;
  const bool drive = chip.how == sensor_chip::pace::drive;
  std::vector<std::string> taken;
  bool has_package = false;
  for (const auto& one : inputs_in(chip.folder)) {
    if (chip.sensors.size() >= sensor_chips::most) {
      ++left_out;
      continue;
    }
    const auto stem = chip.folder + "/" + one.stem;
    auto label = read_line(stem + "_label").value_or("");
    // Sensors with the same label get their numbers as labels.
    if (label.empty()) {
      label = one.stem;
    } else if (std::ranges::find(taken, label) != taken.end()) {
      label += " " + one.stem;
    }
    taken.push_back(label);
    const bool temperature = one.what == &quantities.front();
    if (cpu && temperature) {
      has_package = has_package || label.starts_with("Package");
      if (has_package && label.starts_with("Core ") && !every_core) continue;
    }
    sensor s;
    s.family = !temperature ? one.what->family
               : cpu        ? "os_cpu_temperature_celsius"
               : drive      ? "os_disk_temperature_celsius"
                            : one.what->family;
    s.labels = {{temperature && drive ? "disk" : "chip", chip.name}, {"sensor", std::move(label)}};
    s.input = stem + std::string(one.what->suffix);
    s.unit = one.what->unit;
    // Some cards have both files, and only the mean can be read.
    if (one.what->suffix == "_input" && there(stem + "_average")) s.mean = stem + "_average";
    if (temperature && there(stem + "_crit")) s.critical = stem + "_crit";
    if (there(stem + "_fault")) s.fault = stem + "_fault";
    chip.sensors.push_back(std::move(s));
  }
  return left_out;
}

}  // namespace

result<sensor_chips> find_hwmon_chips(const std::string& sys_root, bool every_core) {
  const auto parent = sys_root + "/class/hwmon";
  std::error_code bad;
  std::vector<std::string> folders;
  fs::directory_iterator it(parent, bad);
  if (bad) return error{errc_of(bad.value()), parent + ": " + describe(bad.value())};
  for (const fs::directory_iterator end; !bad && it != end; it.increment(bad)) folders.push_back(it->path());
  std::ranges::sort(folders);

  sensor_chips chips;
  if (folders.size() > sensor_chips::most) {
    chips.left_out = folders.size() - sensor_chips::most;
    folders.resize(sensor_chips::most);
  }
  for (const auto& folder : folders) {
    const auto driver = read_line(folder + "/name").value_or("");
    auto device = device_of(folder);
    if (driver.empty() || device.starts_with("thermal_zone")) continue;
    const bool cpu = is_one_of(cpu_drivers, driver);
    sensor_chip chip{folder, {}, cpu ? sensor_chip::pace::quick : sensor_chip::pace::slow, {}};
    if (is_one_of(drive_drivers, driver)) {
      chip.how = sensor_chip::pace::drive;
      device = disk_of(folder, device);
      chip.name = device.empty() ? driver : device;
    } else {
      chip.name = name_of(driver, device);
    }
    chip.name = clean_utf8(chip.name);  // as the board does, so that no two chips are one there
    if (std::ranges::any_of(chips.all, [&](const sensor_chip& other) { return other.name == chip.name; }))
      chip.name += "-" + fs::path(folder).filename().string();
    chips.left_out += add_sensors(chip, cpu, every_core);
    if (!chip.sensors.empty()) chips.all.push_back(std::move(chip));
  }
  return chips;
}

}  // namespace binnacle::agent
