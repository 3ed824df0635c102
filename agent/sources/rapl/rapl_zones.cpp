#include "agent/sources/rapl/rapl_zones.hpp"

#include "agent/kernel/cpu_topology.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "common/text/read_number.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_zones = 1024;
constexpr unsigned most_constraints = 16;
constexpr unsigned deepest_zone = 3;

// The number "1f" of the entry "intel-rapl:1f" below "intel-rapl". Nothing for other entries ("device",
// "power", "subsystem").
std::optional<unsigned> index_below(std::string_view entry, std::string_view parent) {
  if (entry.size() < parent.size() + 2 || !entry.starts_with(parent) || entry[parent.size()] != ':')
    return std::nullopt;
  return read_number<unsigned>(entry.substr(parent.size() + 1), 16);
}

// The folders of the zones below `parent`, in the order of their numbers.
std::vector<std::string> children(const std::string& parent) {
  const auto name = fs::path(parent).filename().string();
  std::vector<std::pair<unsigned, std::string>> found;
  for (const auto& entry : names_in(parent)) {
    if (const auto index = index_below(entry, name)) found.emplace_back(*index, parent + "/" + entry);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> folders;
  folders.reserve(found.size());
  for (auto& f : found) folders.push_back(std::move(f.second));
  return folders;
}

std::vector<rapl_zone::constraint> constraints_of(const std::string& folder) {
  std::vector<rapl_zone::constraint> found;
  for (unsigned i = 0; i < most_constraints; ++i) {
    const auto name = read_line(folder + "/constraint_" + std::to_string(i) + "_name");
    if (name && !name->empty()) found.push_back({i, *name});
  }
  return found;
}

bool known(const rapl_tree& tree, const rapl_zone& z) {
  return std::any_of(tree.zones.begin(), tree.zones.end(), [&](const rapl_zone& other) {
    return other.zone == z.zone && other.package == z.package;
  });
}

void collect(const std::string& folder, const std::string& package, unsigned depth, rapl_tree& out) {
  if (out.zones.size() >= most_zones) return;
  const auto name = read_line(folder + "/name");
  if (!name || name->empty()) {
    out.problems.push_back(folder + "/name cannot be read, so it is unknown what this zone measures");
    return;
  }
  rapl_zone z;
  z.folder = folder;
  z.name = *name;
  z.zone = *name;
  z.package = package;
  constexpr std::string_view top = "package-", psys_of = "psys-";
  if (depth == 0 && name->starts_with(top) && name->size() > top.size()) {
    z.zone = "package";
    z.package = name->substr(top.size());
  } else if (depth == 0 && name->starts_with(psys_of) && name->size() > psys_of.size()) {
    z.zone = "psys";
    z.package = name->substr(psys_of.size());
  }
  z.constraints = constraints_of(folder);
  const auto below = z.package;
  if (known(out, z)) {
    out.problems.push_back(folder + " is a second zone " + z.name + ": left out");
  } else {
    out.zones.push_back(std::move(z));
  }
  if (depth + 1 >= deepest_zone) return;
  for (const auto& child : children(folder)) collect(child, below, depth + 1, out);
}

// The zones of one control type. On a real machine the two folders are the same; a container may see only one
// of them.
rapl_tree zones_of_type(const std::string& sys_root, const char* type) {
  rapl_tree tree;
  for (const auto* powercap : {"/class/powercap/", "/devices/virtual/powercap/"}) {
    tree = {};
    for (const auto& folder : children(sys_root + powercap + type)) collect(folder, "", 0, tree);
    if (!tree.zones.empty()) break;
  }
  return tree;
}

bool is_of_die(const rapl_zone& z) { return socket_of(z.package).size() < z.package.size(); }

// Of the dies of a socket, keeps the first one and its parts, under the socket's name.
std::vector<rapl_zone> one_die_a_socket(std::vector<rapl_zone> zones) {
  std::vector<rapl_zone> kept;
  std::map<std::string, std::string> first_dies;  // by socket
  for (auto& z : zones) {
    if (is_of_die(z)) {
      const std::string socket(socket_of(z.package));
      if (first_dies.try_emplace(socket, z.package).first->second != z.package) continue;
      z.package = socket;
      if (z.is_package()) z.name = "package-" + socket;
    }
    kept.push_back(std::move(z));
  }
  return kept;
}

// Whether the zone is of intel-rapl, which shows every part of a package whose counter is not 0
// (rapl_check_domain()). MMIO does not.
bool by_intel_rapl(const rapl_zone& z) { return z.folder.find("/intel-rapl/") != std::string::npos; }

// Whether these zones have this one, or divide its socket differently. The platform has one counter that
// moves, at whichever package. Where intel-rapl counts, a part that only the perf PMU shows has a counter of
// 0: the PMU shows psys of recent servers also where the BIOS has switched it off (intel_rapl_spr_msrs).
bool shows(std::span<const rapl_zone> zones, const rapl_zone& z) {
  bool same_socket = false, same_package = false;
  for (const auto& known : zones) {
    if (known.zone == z.zone && (known.package == z.package || z.zone == "psys")) return true;
    if (z.folder.empty() && by_intel_rapl(known) && (z.zone == "psys" || known.package == z.package))
      return true;
    if (z.package.empty() || known.package.empty()) continue;
    same_socket = same_socket || socket_of(known.package) == socket_of(z.package);
    same_package = same_package || known.package == z.package;
  }
  return same_socket && !same_package;
}

// A control type of powercap that has zones and does not belong to RAPL. Empty if there is none.
std::string other_control_type(const std::string& sys_root) {
  std::string other;
  for (const auto& entry : names_in(sys_root + "/class/powercap")) {
    if (entry.starts_with("intel-rapl")) return {};
    if (const auto colon = entry.find(':'); colon != entry.npos) other = entry.substr(0, colon);
  }
  return other;
}

}  // namespace

std::string_view socket_of(std::string_view package) { return package.substr(0, package.find("-die-")); }

bool has_one_counter_a_socket(const std::string& proc_root) {
  std::vector<char> buffer;
  const auto text = kernel_file(proc_root + "/cpuinfo").read(buffer);
  if (!text) return false;
  const auto vendor = value_of_first_cpu(*text, "vendor_id");
  return vendor == "AuthenticAMD" || vendor == "HygonGenuine";
}

rapl_zone zone_without_folder(std::string zone, std::string package) {
  rapl_zone z;
  z.zone = std::move(zone);
  z.package = std::move(package);
  z.name = z.is_package()                           ? "package-" + z.package
           : z.zone == "psys" && !z.package.empty() ? "psys-" + z.package
                                                    : z.zone;
  return z;
}

rapl_absence why_no_rapl(const std::string& sys_root) {
  std::error_code bad;
  const auto powercap = sys_root + "/devices/virtual/powercap";
  (void)fs::status(powercap, bad);
  if (bad == std::errc::permission_denied) {
    return {errc::permission, "no permission to look into " + powercap,
            "run the agent as root or grant it CAP_DAC_READ_SEARCH"};
  }
  if (fs::is_directory(powercap, bad) && fs::is_empty(powercap, bad)) {
    return {errc::permission, powercap + " is empty: the container runtime masks it",
            "mount the host's /sys (read-only) at /host/sys and give --sys-root /host/sys"};
  }
  if (const auto other = other_control_type(sys_root); !other.empty()) {
    return {
        errc::unsupported,
        "this machine has no RAPL: its powercap zones are those of " + other + ", which the source os reads",
        "take rapl out of sources"};
  }
  if (fs::is_directory(powercap, bad) || fs::is_directory(sys_root + "/class/powercap", bad)) {
    return {errc::unsupported, "the kernel has powercap but no RAPL zones below " + powercap,
            "load the driver (modprobe intel_rapl_msr), or take rapl out of sources"};
  }
  return {errc::unsupported,
          "this machine has no RAPL, there is no " + powercap +
              " (a virtual machine, or a kernel without CONFIG_POWERCAP)",
          "run on the bare machine, or take rapl out of sources"};
}

result<rapl_tree> find_rapl_zones(const std::string& sys_root, const std::string& proc_root) {
  auto tree = zones_of_type(sys_root, "intel-rapl");
  const auto by_mmio = zones_of_type(sys_root, "intel-rapl-mmio");
  add_missing(tree.zones, by_mmio.zones);
  tree.problems.insert(tree.problems.end(), by_mmio.problems.begin(), by_mmio.problems.end());
  if (std::ranges::any_of(tree.zones, is_of_die) && has_one_counter_a_socket(proc_root))
    tree.zones = one_die_a_socket(std::move(tree.zones));
  if (!tree.zones.empty()) return tree;
  if (!tree.problems.empty()) return error{errc::io, tree.problems.front()};
  const auto none = why_no_rapl(sys_root);
  return error{none.code, none.why + ": " + none.remedy};
}

void add_missing(std::vector<rapl_zone>& zones, const std::vector<rapl_zone>& others) {
  const auto first = zones.size();
  for (const auto& z : others) {
    if (!shows(std::span(zones.data(), first), z)) zones.push_back(z);
  }
}

}  // namespace binnacle::agent
