#pragma once

#include "common/error.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

/// A monitored group of the resctrl filesystem. Nothing stays open.
struct resctrl_group {
  struct domain {
    std::string id;      ///< "0" of mon_L3_00: an L3 cache
    std::string folder;  ///< its whole path
  };
  std::string name;      ///< "/" (everything that is in no other group), "/web", "/web/mon_groups/db"
  bool control = false;  ///< a control group: its numbers include those of its monitoring groups
  std::vector<domain> domains;

  bool operator==(const resctrl_group&) const = default;
};
inline bool operator==(const resctrl_group::domain& a, const resctrl_group::domain& b) {
  return a.folder == b.folder;
}

struct resctrl_tree {
  std::vector<resctrl_group> groups;  ///< the root, control groups by name, then monitoring groups by name
  std::size_t left_out = 0;           ///< groups beyond the bound
};

/// The groups below SYS/fs/resctrl, at most `most`. Mounts and writes nothing. Errors: unsupported (no such
/// kernel or CPU), not_found (not mounted), permission; the message says what to do. Blocks: reads folders.
/// Source: Linux Documentation/filesystems/resctrl.rst.
result<resctrl_tree> find_resctrl_groups(const std::string& sys_root, const std::string& proc_root,
                                         std::size_t most);

/// Why there are no groups, in parts for --probe.
struct resctrl_absence {
  errc code = errc::unsupported;
  std::string why;
  std::string remedy;
};
resctrl_absence why_no_resctrl(const std::string& sys_root, const std::string& proc_root);

}  // namespace binnacle::agent
