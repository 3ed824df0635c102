#include "tests/support/machine/powercap_tree.hpp"

#include "tests/support/machine/write_line.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace binnacle::support {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t dram_range_uj = 65'712'999'613;  // energy unit 15.3 µJ

void write_zone(const fs::path& folder, const zone_spec& z) {
  fs::create_directories(folder);
  write_line(folder / "name", z.name);
  write_line(folder / "energy_uj", std::to_string(z.energy_uj));
  write_line(folder / "max_energy_range_uj", std::to_string(z.range_uj));
  write_line(folder / "enabled", "1");
  for (std::size_t i = 0; i < z.constraints.size(); ++i) {
    const auto& c = z.constraints[i];
    const auto prefix = folder / fmt::format("constraint_{}_", i);
    write_line(prefix.string() + "name", c.name);
    write_line(prefix.string() + "power_limit_uw", std::to_string(c.power_limit_uw));
    write_line(prefix.string() + "time_window_us", std::to_string(c.time_window_us));
    if (c.max_power_uw) write_line(prefix.string() + "max_power_uw", std::to_string(*c.max_power_uw));
  }
}

void write_zones(const fs::path& parent, const std::vector<zone_spec>& zones, std::vector<fs::path>& all) {
  unsigned next = 0;
  for (const auto& z : zones) {
    const auto number = z.index.value_or(next);
    next = number + 1;
    const auto folder = parent / fmt::format("{}:{:x}", parent.filename().string(), number);
    write_zone(folder, z);
    all.push_back(folder);
    write_zones(folder, z.parts, all);
  }
}

zone_spec package(std::string name, std::uint64_t watts) {
  return {.name = std::move(name),
          .energy_uj = 1'000'000'000,
          .constraints = {{"long_term", watts * 1'000'000, 999'424, watts * 1'000'000},
                          {"short_term", watts * 1'200'000, 1'952, watts * 2'000'000}}};
}

zone_spec part(std::string name) {
  return {.name = std::move(name), .energy_uj = 500'000'000, .constraints = {{"long_term", 0, 976, {}}}};
}

zone_spec dram() {
  auto d = part("dram");
  d.range_uj = dram_range_uj;
  d.constraints[0].max_power_uw = 41'250'000;
  return d;
}

zone_spec psys() {
  return {.name = "psys",
          .energy_uj = 2'000'000'000,
          .constraints = {{"long_term", 0, 976, {}}, {"short_term", 0, 976, {}}}};
}

}  // namespace

void write_powercap_tree(const std::string& root, const std::vector<zone_spec>& zones,
                         const std::string& control_type) {
  const auto base = fs::path(root) / "devices/virtual/powercap" / control_type;
  fs::create_directories(base);
  write_line(base / "enabled", "1");
  std::vector<fs::path> all{base};
  write_zones(base, zones, all);
  const auto links = fs::path(root) / "class/powercap";
  fs::create_directories(links);
  for (const auto& folder : all) {
    fs::remove(links / folder.filename());
    fs::create_directory_symlink(fs::relative(folder, links), links / folder.filename());
  }
}

void write_masked_powercap(const std::string& root) {
  fs::create_directories(fs::path(root) / "devices/virtual/powercap");
  const auto links = fs::path(root) / "class/powercap";
  fs::create_directories(links);
  for (const auto* name : {"intel-rapl", "intel-rapl:0"}) {
    fs::create_directory_symlink(fs::path("../../devices/virtual/powercap") / name, links / name);
  }
}

void restrict_energy(const std::string& root) {
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() == "energy_uj" && entry.is_regular_file())
      fs::permissions(entry.path(), fs::perms::owner_read);
  }
}

std::string zone_folder(const std::vector<unsigned>& numbers) {
  std::string folder = "devices/virtual/powercap/intel-rapl";
  std::string name = "intel-rapl";
  for (const auto n : numbers) {
    name += fmt::format(":{:x}", n);
    folder += "/" + name;
  }
  return folder;
}

namespace machines {

std::vector<zone_spec> xeon_two_sockets() {
  std::vector<zone_spec> zones{package("package-0", 205), package("package-1", 205), psys()};
  for (auto* p : {&zones[0], &zones[1]}) p->parts = {part("core"), dram()};
  return zones;
}

std::vector<zone_spec> xeon_dies() {
  std::vector<zone_spec> zones;
  for (const auto* name : {"package-0-die-0", "package-0-die-1", "package-1-die-0", "package-1-die-1"}) {
    zones.push_back(package(name, 350));
    zones.back().parts = {dram()};
  }
  return zones;
}

std::vector<zone_spec> client() {
  auto p = package("package-0", 28);
  p.constraints[1].power_limit_uw = 64'000'000;
  p.constraints[1].max_power_uw.reset();  // on such parts, reading it gives ENODATA
  p.constraints.push_back({"peak_power", 121'000'000, 0, {}});
  p.parts = {part("core"), part("uncore")};
  return {p, psys()};
}

std::vector<zone_spec> epyc() {
  std::vector<zone_spec> zones;
  for (const auto* name : {"package-0", "package-1"}) {
    zones.push_back({.name = name,
                     .energy_uj = 30'000'000,
                     .range_uj = 65'532'610'987,
                     .parts = {{.name = "core", .range_uj = 65'532'610'987}}});
  }
  return zones;
}

std::vector<zone_spec> sixteen_packages() {
  std::vector<zone_spec> zones;
  // The numbers are not in the order of the sockets, as after hotplug.
  for (unsigned n = 0; n < 16; ++n) {
    zones.push_back(package(fmt::format("package-{}", 15 - n), 150));
    zones.back().index = n < 3 ? n : n + 1;
  }
  return zones;
}

}  // namespace machines

std::vector<zone_spec> zones_of(machine_kind kind) {
  switch (kind) {
    case machine_kind::xeon_two_sockets: return machines::xeon_two_sockets();
    case machine_kind::xeon_dies: return machines::xeon_dies();
    case machine_kind::client: return machines::client();
    case machine_kind::epyc: return machines::epyc();
    case machine_kind::sixteen_packages: break;
  }
  return machines::sixteen_packages();
}

}  // namespace binnacle::support
