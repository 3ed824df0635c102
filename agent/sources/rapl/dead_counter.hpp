#pragma once

#include "agent/sources/rapl/rapl_zones.hpp"

#include <fmt/format.h>

#include <string>

/// What the running agent and --probe tell people about a zone whose counter does not move.
namespace binnacle::agent {

/// "package-0", "package-0 dram", "psys".
inline std::string full_name(const rapl_zone& z) {
  return z.package.empty() || z.is_package() ? z.name : fmt::format("package-{} {}", z.package, z.name);
}

inline constexpr const char* why_counters_are_dead =
    "this counter never counts (in a virtual machine, or because the firmware does not measure it)";
inline constexpr const char* dead_counter_remedy =
    "newer firmware may make it count; in a virtual machine it never does, only on the bare machine; the "
    "other zones count without it";
inline constexpr const char* reload_remedy = "reload the driver: modprobe -r and modprobe intel_rapl_msr";

}  // namespace binnacle::agent
