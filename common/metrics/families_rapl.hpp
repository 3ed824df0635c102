#pragma once

#include "common/metrics/family.hpp"

/// RAPL through the kernel's powercap tree or its perf PMU. Included by families.cpp alone.
/// Source: Linux Documentation/power/powercap/powercap.rst.
namespace binnacle::metrics::tables {

inline constexpr std::string_view rapl_package[] = {"package"};
inline constexpr std::string_view rapl_zone_package[] = {"zone", "package"};
inline constexpr std::string_view rapl_package_constraint[] = {"package", "constraint"};

// A package's counter includes its cores and uncore, and psys includes the packages: a sum of all would count
// watts twice. DRAM has its own meter.
inline constexpr member rapl_node_watts[] = {{"rapl_power_watts"}, {"rapl_zone_power_watts", "zone", "dram"}};
inline constexpr member rapl_dram_watts[] = {{"rapl_zone_power_watts", "zone", "dram"}};
inline constexpr member rapl_node_joules[] = {{"rapl_energy_joules_total", "zone", "package"},
                                              {"rapl_energy_joules_total", "zone", "dram"}};
inline constexpr member rapl_long_term[] = {{"rapl_limit_watts", "constraint", "long_term"}};
inline constexpr member rapl_package_watts[] = {{"rapl_power_watts"}};
inline constexpr member rapl_package_tdp[] = {{"rapl_tdp_watts"}};

inline constexpr std::string_view rapl_energy_privilege =
    "root or CAP_DAC_READ_SEARCH (energy_uj is root-only since Linux 5.10), or CAP_PERFMON where the kernel "
    "has the perf PMU power and kernel.perf_event_paranoid is 2 or less";

inline constexpr family rapl[] = {
    {.name = "rapl_power_watts",
     .unit = "watts",
     .exponent = -1,
     .help = "Mean power of a package over the last read interval, from its energy counter.",
     .labels = rapl_package,
     .rule = node_rule::sum,
     .members = rapl_node_watts,
     .source = "rapl",
     .privilege = rapl_energy_privilege,
     .integral = {"rapl_energy_joules_total", "zone", "package"}},
    {.name = "rapl_zone_power_watts",
     .unit = "watts",
     .exponent = -1,
     .help = "Mean power of a zone (dram, core, uncore, psys) over the last read interval; psys of the "
             "first package has no package label.",
     .labels = rapl_zone_package,
     .rule = node_rule::sum,
     .members = rapl_dram_watts,
     .source = "rapl",
     .privilege = rapl_energy_privilege,
     .integral = {"rapl_energy_joules_total"}},
    {.name = "rapl_energy_joules_total",
     .unit = "joules",
     .type = kind::counter,
     .exponent = 0,
     .help = "Energy used since the agent first saw the zone (package, dram, core, uncore, psys), counter "
             "wraps undone; starts again at 0 after a time whose energy is not known, as a suspend.",
     .labels = rapl_zone_package,
     .rule = node_rule::sum,
     .members = rapl_node_joules,
     .source = "rapl",
     .privilege = rapl_energy_privilege},
    {.name = "rapl_tdp_watts",
     .unit = "watts",
     .exponent = -1,
     .help = "Thermal design power of a package: rapl-tdp, else the long-term constraint's max_power_uw.",
     .labels = rapl_package,
     .rule = node_rule::sum,
     .source = "rapl"},
    {.name = "rapl_limit_watts",
     .unit = "watts",
     .exponent = -1,
     .help = "Power limit in force for a package, by constraint (long_term, short_term, peak_power).",
     .labels = rapl_package_constraint,
     .rule = node_rule::sum,
     .members = rapl_long_term,
     .source = "rapl"},
    {.name = "rapl_headroom_ratio",
     .unit = "ratio",
     .exponent = -4,
     .help = "Share of a package's long-term limit that is free: (limit - power) / limit; negative above the "
             "limit.",
     .labels = rapl_package,
     .rule = node_rule::min,
     .source = "rapl",
     .privilege = rapl_energy_privilege,
     .plausible = {{-100, 1, 1}}},
    {.name = "rapl_tdp_utilization_ratio",
     .unit = "ratio",
     .exponent = -4,
     .help = "Power of a package divided by its thermal design power.",
     .labels = rapl_package,
     .rule = node_rule::ratio_of_sums,
     .members = rapl_package_watts,
     .denominator = rapl_package_tdp,
     .source = "rapl",
     .privilege = rapl_energy_privilege,
     .plausible = {{0, 100, 1}}},
};

}  // namespace binnacle::metrics::tables
