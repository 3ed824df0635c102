#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::support {

/// A resctrl filesystem as mounted at ROOT/fs/resctrl of a two-socket Xeon with CMT and MBM. It is written
/// after Linux Documentation/filesystems/resctrl.rst, not copied from a machine.
class resctrl_tree_writer {
 public:
  /// `root` is the /sys; `domains` are the L3 caches. The root group exists from the start.
  resctrl_tree_writer(std::string root, std::vector<unsigned> domains);

  /// Makes a group. "web" is a control group, "web/mon_groups/db" or "mon_groups/batch" a monitoring group.
  void make_group(const std::string& name);
  void remove_group(const std::string& name);
  /// Sets a number or word of a group ("" is the root group). `event` is "llc_occupancy", "mbm_total_bytes"…
  void set(const std::string& group, unsigned domain, const std::string& event, const std::string& text);
  void remove_event(const std::string& event);

 private:
  std::string folder(const std::string& group, unsigned domain) const;

  std::string root_;
  std::vector<unsigned> domains_;
};

}  // namespace binnacle::support
