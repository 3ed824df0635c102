#pragma once

#include "agent/kernel/perf_event.hpp"
#include "agent/sources/rapl/power_pmu.hpp"
#include "agent/sources/rapl/rapl_zones.hpp"

#include <fmt/format.h>

#include <string>

/// What the running agent and --probe tell people about a zone that gives no energy.
namespace binnacle::agent {

/// "package-0", "package-0 dram", "psys", "psys-1".
inline std::string full_name(const rapl_zone& z) {
  const bool at_top = z.package.empty() || z.is_package() || z.zone == "psys";
  return at_top ? z.name : fmt::format("package-{} {}", z.package, z.name);
}

inline constexpr const char* why_counters_are_dead =
    "this counter never counts (in a virtual machine, or because the firmware does not measure it)";
inline constexpr const char* dead_counter_remedy =
    "newer firmware may make it count; in a virtual machine it never does, only on the bare machine; the "
    "other zones count without it";
inline constexpr const char* why_energy_is_closed =
    "energy_uj is readable by root only since Linux 5.10 (CVE-2020-8694)";
inline std::string closed_energy_remedy(const power_pmu& by_perf, const std::string& proc_root) {
  std::string remedy = "run the agent as root or grant it CAP_DAC_READ_SEARCH";
  if (!by_perf.events.empty() && perfmon_suffices(proc_root))
    remedy += ", or CAP_PERFMON: the perf PMU power has the same counters";
  return remedy;
}
inline constexpr const char* reload_remedy = "reload the driver: modprobe -r and modprobe intel_rapl_msr";

}  // namespace binnacle::agent
