#include "tests/support/machine/machine.hpp"

#include "agent/kernel/cpu_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace binnacle::support {
namespace {

namespace fs = std::filesystem;

constexpr int known_version = 1;

// Entries of a folder's map that are remarks and not files.
bool is_remark(const std::string& name) { return name == "as" || name == "left-out"; }

// The path of `name` below `folder`. Reports come from strangers, so a name that leads out of the folder is
// refused.
fs::path below(const fs::path& folder, const std::string& name) {
  const fs::path relative(name);
  if (name.empty() || relative.is_absolute())
    throw std::runtime_error("\"" + name + "\" is not a file's name");
  for (const auto& part : relative) {
    if (part == "..") throw std::runtime_error("\"" + name + "\" leads out of its folder");
  }
  return folder / relative;
}

// A copy of `base` with `changes` applied to it.
YAML::Node merged(const YAML::Node& base, const YAML::Node& changes) {
  if (!base.IsMap() || !changes.IsMap()) return YAML::Clone(changes);
  auto whole = YAML::Clone(base);
  for (const auto& member : changes) {
    const auto name = member.first.Scalar();
    if (name == "as") continue;
    whole[name] = whole[name] ? merged(whole[name], member.second) : YAML::Clone(member.second);
  }
  return whole;
}

// The folder `name` of `parent`. If it has an `as`, it begins with the content of that folder.
YAML::Node folder_of(const YAML::Node& parent, const YAML::Node& folder) {
  const auto as = folder["as"];
  if (!as) return folder;
  const auto base = parent[as.Scalar()];
  if (!base || !base.IsMap() || base["as"])
    throw std::runtime_error("\"as: " + as.Scalar() + "\" names no folder beside it that is whole");
  return merged(base, folder);
}

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text << '\n';
}

void write_link(const fs::path& at, const fs::path& target) {
  fs::create_directories(target);
  fs::create_directories(at.parent_path());
  fs::create_directory_symlink(fs::relative(target, at.parent_path()), at);
}

void write_folder(const fs::path& root, const fs::path& folder, const YAML::Node& what) {
  fs::create_directories(folder);
  for (const auto& member : what) {
    const auto name = member.first.Scalar();
    const auto& value = member.second;
    if (is_remark(name) || name.ends_with(".mode")) continue;
    const auto at = below(folder, name);
    if (value.IsMap()) {
      write_folder(root, at, folder_of(what, value));
    } else if (value.IsSequence()) {
      put(at, value[0].Scalar());
    } else if (value.Tag() == "!link") {
      write_link(at, below(root, value.Scalar()));
    } else if (value.Tag() == "!refused") {
      fs::create_directories(at);  // a folder in place of a file cannot be read, even by root
    } else {
      put(at, value.Scalar());
    }
    if (const auto mode = what[name + ".mode"])
      fs::permissions(at, static_cast<fs::perms>(std::stoul(mode.Scalar(), nullptr, 8)));
  }
}

void advance_folder(const fs::path& folder, const YAML::Node& what, unsigned seconds) {
  for (const auto& member : what) {
    const auto at = below(folder, member.first.Scalar());
    if (member.second.IsMap()) advance_folder(at, folder_of(what, member.second), seconds);
    if (!member.second.IsSequence()) continue;
    const auto first = member.second[0].as<std::uint64_t>(), second = member.second[1].as<std::uint64_t>();
    // Written in place, so that a program that holds the file open sees the change. The mode may forbid even
    // the owner to write.
    const auto mode = fs::status(at).permissions();
    fs::permissions(at, mode | fs::perms::owner_write);
    std::ofstream(at, std::ios::binary) << first + seconds * (second - first) << '\n';
    fs::permissions(at, mode);
  }
}

// Makes /proc/cpuinfo: "processor : 0" and the lines of one CPU, for each CPU that is online.
std::string cpuinfo_of(const YAML::Node& cpu, const std::string& online) {
  std::string text;
  for (const unsigned number : agent::parse_cpu_list(online).value_or(std::vector<unsigned>{0})) {
    text += fmt::format("processor\t: {}\n", number);
    for (const auto& line : cpu) text += fmt::format("{}\t: {}\n", line.first.Scalar(), line.second.Scalar());
    text += '\n';
  }
  return text;
}

// A report says how much memory there is, and not how much of it is free.
std::string meminfo_of(std::uint64_t gib) {
  return fmt::format("MemTotal: {0} kB\nMemFree: {0} kB\nMemAvailable: {0} kB", gib << 20);
}

// The places of the devices are invented, because a report only counts the devices.
void write_pci(const fs::path& sys, const YAML::Node& classes) {
  constexpr unsigned most_of_class = 1024, slots_of_bus = 32;
  unsigned place = 0;
  for (const auto& of_class : classes) {
    for (auto left = std::min(of_class.second.as<unsigned>(), most_of_class); left > 0; --left, ++place) {
      const auto device = fmt::format("0000:{:02x}:{:02x}.0", place / slots_of_bus, place % slots_of_bus);
      put(sys / "bus/pci/devices" / device / "class", of_class.first.Scalar() + "00");
    }
  }
}

}  // namespace

machine::machine(const std::string& file) : file_(file) {
  try {
    whole_ = YAML::LoadFile(file);
    if (!whole_.IsMap() || !whole_["provenance"]) throw std::runtime_error("says no provenance");
    if (whole_["report"].as<int>(0) != known_version)
      throw std::runtime_error(fmt::format("is no report of version {}", known_version));
  } catch (const std::exception& e) {
    throw std::runtime_error(file + ": " + e.what());
  }
}

void machine::write(const std::string& root) const {
  try {
    for (const auto* part : {"sys", "proc"}) {
      fs::create_directories(fs::path(root) / part);
      if (const auto tree = whole_[part]) write_folder(fs::path(root) / part, fs::path(root) / part, tree);
    }
    if (const auto gib = whole_["memory gib"])
      put(fs::path(root) / "proc/meminfo", meminfo_of(gib.as<std::uint64_t>()));
    if (const auto classes = whole_["pci classes"]) write_pci(fs::path(root) / "sys", classes);
    std::string online = "0";
    std::getline(std::ifstream(root + "/sys/devices/system/cpu/online"), online);
    if (const auto cpu = whole_["cpu"]) put(fs::path(root) / "proc/cpuinfo", cpuinfo_of(cpu, online));
  } catch (const std::exception& e) {
    throw std::runtime_error(file_ + ": " + e.what());
  }
}

void machine::advance(const std::string& root, unsigned seconds) const {
  if (const auto tree = whole_["sys"]) advance_folder(fs::path(root) / "sys", tree, seconds);
}

std::optional<double> machine::joules_by_perf(std::string_view zone) const {
  const auto readings = whole_["joules by perf"];
  const auto both = readings ? readings[std::string(zone)] : YAML::Node();
  if (!both || !both.IsSequence() || both.size() != 2) return std::nullopt;
  return both[1].as<double>() - both[0].as<double>();
}

}  // namespace binnacle::support
