#pragma once

#include "agent/kernel/perf_event.hpp"
#include "agent/sources/rapl/powercap_files.hpp"
#include "agent/sources/rapl/rapl_zones.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

/// An energy counter of the kernel's perf PMU `power`: the same registers as powercap's zones, by another
/// door that no container runtime masks and that needs CAP_PERFMON instead of root.
struct power_event {
  std::string zone;     ///< as rapl_zone: "package", "core", "dram", "uncore", "psys"
  std::string package;  ///< as rapl_zone: "0", "1-die-0"; empty for psys
  unsigned cpu = 0;     ///< through which it is read
  perf_encoding encoding;
  double joules = 0;  ///< of one count
};

/// What that PMU has below `sys_root`, packages first; empty when it is not there. Packages and dies are
/// those of the CPUs in its cpumask, named as powercap names them; psys, which stands for the whole machine,
/// is taken once. Blocks: a few small files. Source: arch/x86/events/rapl.c.
std::vector<power_event> find_power_events(const std::string& sys_root);

/// The zones that these events stand for, as the tree would have them; no folder, no constraints.
std::vector<rapl_zone> zones_of(const std::vector<power_event>& events);
/// The event of a zone; null where there is none.
const power_event* find_event(const std::vector<power_event>& events, const rapl_zone& zone);

/// One of them, counting.
class power_counter {
 public:
  /// Never fails: what the kernel refused is in error_number().
  power_counter(const power_event& event, const perf_opener& open);

  int error_number() const noexcept { return errno_; }
  /// Energy since it was opened, in µJ.
  powercap_number energy_uj();
  /// The energy in µJ after which energy_uj() starts again at 0: that of 2^64 counts.
  std::uint64_t range_uj() const noexcept;

 private:
  double joules_;
  perf_group counter_;
  int errno_;
  std::vector<std::uint64_t> buffer_;
};

}  // namespace binnacle::agent
