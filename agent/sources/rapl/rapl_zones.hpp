#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// A RAPL zone of the powercap tree. Nothing stays open.
struct rapl_zone {
  struct constraint {
    unsigned index = 0;
    std::string name;  ///< "long_term", "short_term", "peak_power", or a name that a newer kernel gives
  };

  std::string folder;  ///< its whole path
  std::string name;    ///< "package-0", "package-1-die-0", "dram", "psys": as the kernel says or would say it
  std::string
      zone;  ///< label: "package", "dram", "core", "uncore", "psys", or another name as the kernel says it
  /// Label: "0", "1-die-0". Empty for zones above the packages. The kernel gives the psys of each package but
  /// the first one that package's number ("psys-1").
  std::string package;
  std::vector<constraint> constraints;

  bool is_package() const noexcept { return zone == "package"; }
};

/// "0" of the package "0-die-1".
std::string_view socket_of(std::string_view package);

/// Whether the sockets of this machine have one energy counter each, whichever of their dies reads it: those
/// of AMD and Hygon. Some kernels show it once for each die all the same: from 6.9 to about 6.12, and
/// older ones on the first EPYCs and Threadrippers. False if PROC/cpuinfo cannot be read. Blocks: reads that
/// file. Source: Linux drivers/powercap/intel_rapl_common.c and arch/x86/events/rapl.c, "Fix the energy-pkg
/// event for AMD CPUs".
bool has_one_counter_a_socket(const std::string& proc_root);

/// A zone that powercap does not show, under the name that it would have there.
rapl_zone zone_without_folder(std::string zone, std::string package);

struct rapl_tree {
  std::vector<rapl_zone> zones;
  std::vector<std::string> problems;  ///< one sentence for each zone that was left out
};

/// The zones of the control type intel-rapl below `sys_root` (AMD's have that name, too): packages first,
/// each followed by its parts. Behind them the zones that only intel-rapl-mmio shows, the same counters by
/// another door. Zone numbers are hexadecimal, may have holes and do not follow the sockets, so the zones'
/// names count. Dies that show their socket's counter (has_one_counter_a_socket()) give one package, with the
/// socket's name. Errors: unsupported (no such machine or driver), permission (masked); the message says what
/// to do. Blocks: reads folders and some small files; cpuinfo below `proc_root` where there are dies. Source:
/// Linux Documentation/power/powercap/powercap.rst,
/// drivers/thermal/intel/int340x_thermal/processor_thermal_rapl.c.
result<rapl_tree> find_rapl_zones(const std::string& sys_root, const std::string& proc_root);

/// Adds to `zones` those of `others`, another view of the same machine, that it does not show. Zones without
/// a folder are those of the perf PMU: it adds no part to a package of intel-rapl, which shows every part
/// that counts. Nothing is counted twice: where the two divide a socket differently (one into dies, the other
/// not), that socket stays as `zones` has it. Pure.
void add_missing(std::vector<rapl_zone>& zones, const std::vector<rapl_zone>& others);

/// Why no zone was found, in parts for --probe.
struct rapl_absence {
  errc code = errc::unsupported;
  std::string why;
  std::string remedy;
};
rapl_absence why_no_rapl(const std::string& sys_root);

}  // namespace binnacle::agent
