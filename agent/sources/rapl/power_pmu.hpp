#pragma once

#include "agent/kernel/perf_event.hpp"
#include "agent/sources/rapl/powercap_files.hpp"
#include "agent/sources/rapl/rapl_zones.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

/// An energy counter of the kernel's perf PMU `power`. It reads the same registers as powercap's zones. No
/// container runtime masks it, and it needs CAP_PERFMON instead of root.
struct power_event {
  std::string zone;     ///< as rapl_zone: "package", "core", "dram", "uncore", "psys"
  std::string package;  ///< as rapl_zone: "0", "1-die-0"; empty for the first package's psys
  unsigned cpu = 0;     ///< the CPU through which it is read
  perf_encoding encoding;
  double joules = 0;  ///< joules of one count
};

/// What that PMU gives.
struct power_pmu {
  std::vector<power_event> events;    ///< packages first
  std::vector<std::string> problems;  ///< why an event or a CPU is refused
};

/// Looks at the PMU below `sys_root`; empty if there is none. There is a package or die for each CPU in its
/// cpumask, named as in powercap; but one package for each socket of which all dies have the same counter
/// (has_one_counter_a_socket(), by cpuinfo below `proc_root`). An event that does not say how many joules a
/// count is, is refused. The kernel shows the memory's event for every package if one has memory; here a
/// package without memory has none. Blocks: a few small files. Source: arch/x86/events/rapl.c.
power_pmu find_power_pmu(const std::string& sys_root, const std::string& proc_root);

/// The zones that these events measure, as find_rapl_zones() would give them, but without folder and
/// constraints. psys stands for the whole machine and is listed once, as that of the first package.
std::vector<rapl_zone> zones_of(const std::vector<power_event>& events);
/// The event of a zone; null where there is none.
const power_event* find_event(const std::vector<power_event>& events, const rapl_zone& zone);

/// An open event that counts.
class power_counter {
 public:
  /// Never fails. If the kernel refused, error_number() says why.
  power_counter(const power_event& event, const perf_opener& open);

  int error_number() const noexcept { return errno_; }
  /// Energy since it was opened, in µJ.
  powercap_number energy_uj();
  /// energy_uj() starts again at 0 after this energy, which is 2^64 counts. Units: µJ.
  std::uint64_t range_uj() const noexcept;

 private:
  double joules_;
  perf_group counter_;
  int errno_;
  std::vector<std::uint64_t> buffer_;
};

}  // namespace binnacle::agent
