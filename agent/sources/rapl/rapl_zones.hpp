#pragma once

#include "common/error.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

/// One RAPL zone of the powercap tree, as found; nothing is kept open.
struct rapl_zone {
  struct constraint {
    unsigned index = 0;
    std::string name;  ///< "long_term", "short_term", "peak_power", or whatever a newer kernel says
  };

  std::string folder;  ///< whole path
  std::string name;    ///< as the kernel: "package-0", "package-1-die-0", "dram", "psys"
  std::string
      zone;  ///< label: "package", "dram", "core", "uncore", "psys", or another name as the kernel says it
  std::string package;  ///< label: "0", "1-die-0"; empty for zones above the packages (psys)
  std::vector<constraint> constraints;

  bool is_package() const noexcept { return zone == "package"; }
};

struct rapl_tree {
  std::vector<rapl_zone> zones;
  std::vector<std::string> problems;  ///< one sentence for each zone that had to be left out
};

/// The zones of control type intel-rapl below `sys_root` (AMD's come under that name too), packages first and
/// each followed by its parts. Zone numbers are hexadecimal, may have holes and are in no order of sockets:
/// names decide. intel-rapl-mmio is the same counters by another door, so it is looked at only where
/// intel-rapl has no zone. Errors: unsupported (no such machine or driver), permission (masked); the message
/// says what to do. Blocks: reads folders and some small files. Source: Linux
/// Documentation/power/powercap/powercap.rst.
result<rapl_tree> find_rapl_zones(const std::string& sys_root);

/// Why no zone was found, in parts: for --probe.
struct rapl_absence {
  errc code = errc::unsupported;
  std::string why;
  std::string remedy;
};
rapl_absence why_no_rapl(const std::string& sys_root);

}  // namespace binnacle::agent
