#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::agent {

/// Where a CPU sits, by the kernel's numbers. A number is nothing if the kernel does not say it ("-1", or no
/// file).
struct cpu_seat {
  unsigned cpu = 0;
  std::optional<std::string> package, die, core;
};

/// The CPUs of the machine, online or not, ascending. Errors: not_found, permission. Blocks: reads a folder.
result<std::vector<unsigned>> find_cpus(const std::string& sys_root);

/// How many CPUs are online: as many as the list `online` names, or as there are folders of CPUs with a
/// topology, whichever is more. What hides a part of the machine from a container may shorten the list, and a
/// list that cannot be read names none. A CPU that is offline, or that a guest may still get, has no
/// topology. Blocks: reads a folder and looks into that of each CPU. Source: Linux drivers/base/topology.c.
std::size_t count_cpus_online(const std::string& sys_root);

/// Reads SYS/devices/system/cpu/cpuN/topology. Blocks: three small files. Source: Linux
/// Documentation/ABI/stable/sysfs-devices-system-cpu.
cpu_seat seat_of(const std::string& sys_root, unsigned cpu);

/// The packages whose NUMA nodes have no memory: a socket without DIMMs. None if the kernel does not say
/// which nodes have memory. Blocks: a few small files a node. Source: Linux
/// Documentation/ABI/stable/sysfs-devices-node.
std::set<std::string> packages_without_memory(const std::string& sys_root);

/// The first CPU's part of /proc/cpuinfo, with what stands above it: names and values in their order, as
/// views into `cpuinfo`. Pure. Source: Linux Documentation/arch/x86/cpuinfo.rst; show_cpuinfo() of each
/// architecture.
std::vector<std::pair<std::string_view, std::string_view>> first_cpu(std::string_view cpuinfo);

/// What that part says under `name`; empty if it says nothing.
std::string_view value_of_first_cpu(std::string_view cpuinfo, std::string_view name);

}  // namespace binnacle::agent
