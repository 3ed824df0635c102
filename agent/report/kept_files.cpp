#include "agent/report/kept_files.hpp"

#include "agent/kernel/slow_reader.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/os_error.hpp"
#include "common/text/glob.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 1024;  // of one folder
constexpr std::size_t most_text = 4096;     // of one file: sysfs gives a page

bool is_energy(std::string_view file) { return file == "energy_uj" || matches_glob("energy*_input", file); }

patient_reader::answer read_now(const std::string& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return {{}, describe(errno)};
  std::array<char, most_text> text;
  const auto n = ::read(file.get(), text.data(), text.size());
  if (n < 0) return {{}, describe(errno)};
  return {std::string(trimmed({text.data(), static_cast<std::size_t>(n)})), {}};
}

// The names in the folder that the glob fits, sorted.
std::vector<std::string> fitting_names(const fs::path& folder, std::string_view glob) {
  std::vector<std::string> names;
  std::error_code bad;
  for (fs::directory_iterator it(folder, bad), end; !bad && it != end && names.size() < most_entries;
       it.increment(bad)) {
    auto name = it->path().filename().string();
    if (matches_glob(glob, name)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

/// Fills one tree.
class gatherer {
 public:
  gatherer(fs::path root, const std::function<std::string(std::string_view)>& clean, patient_reader& reader)
      : root_(std::move(root)), clean_(clean), reader_(reader) {}

  /// Adds to `into` what the list keeps of `folder`. False if there is no such folder.
  bool gather(const fs::path& folder, std::string_view folders, const std::vector<std::string_view>& files,
              YAML::Node into) {
    std::error_code bad;
    if (!fs::is_directory(folder, bad)) return false;
    if (folders.empty()) {
      for (const auto& file : files) gather_files(folder, "", file, into);
      return true;
    }
    const auto slash = std::min(folders.find('/'), folders.size());
    const auto rest = folders.substr(std::min(slash + 1, folders.size()));
    bool any = false;
    for (const auto& name : fitting_names(folder, folders.substr(0, slash))) {
      YAML::Node child = into[name] ? YAML::Node(into[name]) : YAML::Node(YAML::NodeType::Map);
      if (!child.IsMap() || !gather(folder / name, rest, files, child)) continue;
      into[name] = child;
      any = true;
    }
    return any;
  }

 private:
  // A part of `glob` before a slash may be a link: "device/block/*".
  void gather_files(const fs::path& folder, const std::string& before, std::string_view glob,
                    const YAML::Node& into) {
    const auto slash = glob.find('/');
    for (const auto& name : fitting_names(folder, glob.substr(0, std::min(slash, glob.size())))) {
      if (slash == glob.npos) {
        gather_file(folder / name, before + name, into);
      } else {
        gather_files(folder / name, before + name + "/", glob.substr(slash + 1), into);
      }
    }
  }

  void gather_file(const fs::path& path, const std::string& key, YAML::Node into) {
    std::error_code bad;
    if (fs::is_directory(path, bad)) {
      into[key] = fs::is_symlink(path, bad) ? link_to(path) : YAML::Node(YAML::NodeType::Map);
      return;
    }
    if (!fs::exists(path, bad) && fs::is_symlink(path, bad)) {
      into[key] = refused("leads nowhere");
      return;
    }
    if (!fs::is_regular_file(path, bad)) return;
    auto [text, refusal] = reader_.read(path);
    into[key] = refusal.empty() ? YAML::Node(cleaned(text)) : refused(refusal);
    if (struct ::stat about{}; is_energy(key) && ::stat(path.c_str(), &about) == 0)
      into[key + ".mode"] = fmt::format("{:04o}", about.st_mode & 07777U);
  }

  YAML::Node link_to(const fs::path& path) const {
    std::error_code bad;
    const auto target = fs::relative(fs::canonical(path, bad), fs::canonical(root_, bad), bad).string();
    if (bad || target.starts_with("..")) return refused("leads out of its root");
    YAML::Node link(clean_(target));
    link.SetTag("!link");
    return link;
  }

  static YAML::Node refused(const std::string& why) {
    YAML::Node node(why);
    node.SetTag("!refused");
    return node;
  }

  // Cleans each line alone, because a line end does no harm in YAML.
  std::string cleaned(std::string_view text) const {
    std::string all;
    for (;;) {
      const auto end = text.find('\n');
      all += clean_(text.substr(0, end));
      if (end == text.npos) return all;
      all += '\n';
      text.remove_prefix(end + 1);
    }
  }

  fs::path root_;
  const std::function<std::string(std::string_view)>& clean_;
  patient_reader& reader_;
};

}  // namespace

const std::vector<kept_section>& kept_of_sys() {
  static const std::vector<std::string_view> zone{"name",
                                                  "energy_uj",
                                                  "max_energy_range_uj",
                                                  "power_uw",
                                                  "max_power_range_uw",
                                                  "enabled",
                                                  "constraint_*_name",
                                                  "constraint_*_power_limit_uw",
                                                  "constraint_*_time_window_us",
                                                  "constraint_*_max_power_uw"};
  static const std::vector<kept_section> sections{
      {"devices/virtual/powercap", {{"*", {"enabled"}}, {"*/*:*", zone}, {"*/*:*/*:*", zone}}, 10'000},
      {"class/powercap", {{"", {"*"}}}, 3'000},
      {"bus/event_source/devices",
       {{"power", {"type", "cpumask"}},
        {"power/format", {"*"}},
        {"power/events", {"*"}},
        {"*", {"type", "cpumask", "cpus"}},
        {"*/format", {"*"}},
        {"*/events", {"*"}},
        {"*/caps", {"pmu_name"}}},
       16'000},
      {"class/hwmon",
       {{"*",
         {"name", "device", "device/block/*", "*_label", "*_input", "*_average", "power*_average_interval",
          "*_crit", "*_fault"}}},
       10'000},
      {"class/thermal", {{"thermal_zone*", {"type", "temp"}}}, 2'000},
      {"class/ipmi", {{"*", {}}}, 200},
      {"firmware/dmi/entries/38-0", {{"", {}}}, 100},  // the table says that there is a BMC
      {"class/dmi/id",
       {{"",
         {"sys_vendor", "product_name", "board_vendor", "board_name", "bios_vendor", "bios_version",
          "chassis_type"}}},
       600},
      {"devices/system/clocksource/clocksource0", {{"", {"available_clocksource"}}}, 200},
      {"fs/cgroup",
       {{"", {"cgroup.controllers"}}, {"unified", {"cgroup.controllers"}}, {"perf_event", {}}},
       400},
      {"fs/resctrl",
       {{"info/*", {"mon_features", "num_rmids", "num_closids"}},
        {"mon_data/mon_L3_*", {"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"}}},
       2'000},
      {"devices/system/cpu/cpufreq", {{"policy0", {"scaling_driver", "scaling_governor"}}}, 200},
      {"module",
       {{"intel_rapl_*", {}},
        {"ipmi_*", {}},
        {"amd_energy", {}},
        {"acpi_power_meter", {}},
        {"scmi_*", {}},
        {"coretemp", {}},
        {"k10temp", {}},
        {"drivetemp", {}}},
       600},
      {"devices/system/node", {{"", {"online", "has_memory"}}, {"node*", {"cpulist"}}}, 1'500},
      {"devices/system/cpu",
       {{"", {"online"}},
        {"cpu0/thermal_throttle", {"*"}},
        {"cpu*/topology", {"physical_package_id", "die_id"}}},
       6'000},
  };
  return sections;
}

const std::vector<kept_section>& kept_of_proc() {
  static const std::vector<kept_section> sections{
      {"sys/kernel", {{"", {"perf_event_paranoid", "nmi_watchdog", "arch"}}}, 100},
  };
  return sections;
}

struct patient_reader::parts {
  std::unique_ptr<slow_reader> reader = std::make_unique<slow_reader>();
  unsigned silent = 0;
};

patient_reader::patient_reader() : parts_(std::make_unique<parts>()) {}
patient_reader::~patient_reader() = default;

patient_reader::answer patient_reader::read(const std::string& path) {
  constexpr unsigned most_silent = 3;
  constexpr auto patience = std::chrono::seconds(5);
  if (parts_->silent >= most_silent) return {{}, "not read, since others before it did not answer"};
  // The thread may outlive this call, so it owns what it writes to.
  auto got = std::make_shared<answer>();
  parts_->reader->run([path, got] { *got = read_now(path); });
  if (parts_->reader->wait(patience)) return *got;
  ++parts_->silent;
  // A read that hangs keeps its thread until the process ends; the next file gets another thread.
  parts_->reader = std::make_unique<slow_reader>();
  return {{}, "does not answer"};
}

YAML::Node read_kept(const std::string& root, const std::vector<kept_section>& sections,
                     const std::function<std::string(std::string_view)>& clean, patient_reader& reader) {
  gatherer all(root, clean, reader);
  YAML::Node tree(YAML::NodeType::Map);
  for (const auto& section : sections) {
    YAML::Node found(YAML::NodeType::Map);
    bool any = false;
    for (const auto& what : section.what) {
      any = all.gather(fs::path(root) / section.folder, what.folders, what.files, found) || any;
    }
    if (any) tree[std::string(section.folder)] = found;
  }
  return tree;
}

void read_energy_again(YAML::Node tree, const std::string& root, patient_reader& reader) {
  for (auto member : tree) {
    const auto name = member.first.Scalar();
    auto value = member.second;
    if (value.IsMap()) {
      read_energy_again(value, root + "/" + name, reader);
    } else if (value.IsScalar() && is_energy(name) && value.Tag() != "!refused") {
      const auto now = reader.read(root + "/" + name);
      YAML::Node both(YAML::NodeType::Sequence);
      both.SetStyle(YAML::EmitterStyle::Flow);
      both.push_back(value.Scalar());
      both.push_back(now.refusal.empty() ? now.text : now.refusal);
      tree[name] = both;
    }
  }
}

}  // namespace binnacle::agent
