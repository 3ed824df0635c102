#include "agent/sources/rdt/resctrl_tree.hpp"

#include "agent/kernel/cpu_topology.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_domains = 256;

std::vector<std::string> folders_in(const std::string& parent) {
  std::vector<std::string> names;
  std::error_code bad;
  for (fs::directory_iterator it(parent, bad), end; !bad && it != end; it.increment(bad)) {
    std::error_code unknown;
    if (it->is_directory(unknown)) names.push_back(it->path().filename());
  }
  std::ranges::sort(names);
  return names;
}

// The caches of a group. In newer kernels other kinds of folders stand beside them, and parts of a cache
// below them.
std::vector<resctrl_group::domain> domains_of(const std::string& group) {
  constexpr std::string_view prefix = "mon_L3_";
  std::vector<resctrl_group::domain> found;
  for (const auto& name : folders_in(group + "/mon_data")) {
    if (!name.starts_with(prefix)) continue;
    const auto id = parse_unsigned(name.substr(prefix.size()));
    if (!id || found.size() >= most_domains) continue;
    found.push_back({std::to_string(*id), group + "/mon_data/" + name});
  }
  return found;
}

// Whether the CPU can count what groups use. Nothing if cpuinfo has no line with flags (other architectures).
// Source: arch/x86/include/asm/cpufeatures.h.
std::optional<bool> cpu_monitors(const std::string& proc_root) {
  std::vector<char> buffer;
  const auto text = kernel_file(proc_root + "/cpuinfo").read(buffer);
  if (!text) return std::nullopt;
  for (const auto& [name, value] : first_cpu(*text)) {
    if (name != "flags") continue;
    const auto flags = " " + std::string(value) + " ";
    return flags.find(" cqm_occup_llc ") != flags.npos || flags.find(" cqm_mbm_") != flags.npos;
  }
  return std::nullopt;
}

}  // namespace

resctrl_absence why_no_resctrl(const std::string& sys_root, const std::string& proc_root) {
  const auto root = sys_root + "/fs/resctrl";
  const auto monitors = cpu_monitors(proc_root);
  constexpr const char* other_machine = "nothing on this machine: take rdt out of sources";
  if (monitors == false) {
    return {errc::unsupported, "this CPU cannot monitor cache or memory bandwidth (no cqm flags in cpuinfo)",
            other_machine};
  }
  std::error_code bad;
  const bool there = fs::is_directory(root, bad);
  if (bad == std::errc::permission_denied)
    return {errc::permission, "no permission to look into " + root, "run the agent as root"};
  if (!there) {
    return {errc::unsupported,
            "there is no " + root + " (a kernel without CONFIG_X86_CPU_RESCTRL, or a CPU without RDT)",
            other_machine};
  }
  if (!fs::exists(root + "/info", bad)) {
    return {errc::not_found, root + " is not mounted",
            "mount -t resctrl resctrl /sys/fs/resctrl (on the host; the agent mounts nothing)"};
  }
  return {errc::unsupported, root + " monitors nothing (no mon_data with mon_L3 domains in it)",
          "check the kernel's command line for rdt=!cmt,!mbmtotal,!mbmlocal; else take rdt out of sources"};
}

result<resctrl_tree> find_resctrl_groups(const std::string& sys_root, const std::string& proc_root,
                                         std::size_t most) {
  const auto root = sys_root + "/fs/resctrl";
  resctrl_tree tree;
  const auto add = [&](const std::string& folder, std::string name, bool control) {
    auto domains = domains_of(folder);
    if (domains.empty()) return;
    if (tree.groups.size() >= most) {
      ++tree.left_out;
      return;
    }
    tree.groups.push_back({std::move(name), control, std::move(domains)});
  };
  add(root, "/", true);
  std::vector<std::string> control{""};
  for (const auto& name : folders_in(root)) {
    if (name == "info" || name == "mon_data" || name == "mon_groups") continue;
    add(root + "/" + name, "/" + name, true);
    control.push_back("/" + name);
  }
  for (const auto& parent : control) {
    const auto groups = parent + "/mon_groups";
    for (const auto& name : folders_in(root + groups))
      add(root + groups + "/" + name, groups + "/" + name, false);
  }
  if (!tree.groups.empty()) return tree;
  const auto none = why_no_resctrl(sys_root, proc_root);
  return error{none.code, none.why + ": " + none.remedy};
}

}  // namespace binnacle::agent
