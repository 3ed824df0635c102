#pragma once

#include "common/metrics/family.hpp"

/// The best values for the node as a whole. The agent makes them from what its other sources read. Included
/// by families.cpp alone.
namespace binnacle::metrics::tables {

inline constexpr std::string_view host_origin[] = {"source"};
inline constexpr std::string_view host_hardware[] = {"cpu", "sockets", "memory_gib", "accelerators"};
inline constexpr std::string_view host_doubt[] = {"source", "reason"};

inline constexpr family host[] = {
    {.name = "host_power_watts",
     .unit = "watts",
     .exponent = -1,
     .help = "Power of the machine, from the best source: dcmi, else bmc (the system's power sensor or "
             "the sum of its supplies), supplies (that sum, if the system's sensor is not used), psys, rapl "
             "(packages and dram), arm-scmi, hwmon (the processors, those named in power-sensors). The label "
             "says which. If that source has no value any more, the metric is absent, unless another source "
             "measures the same. After the start it is absent, too, while the agent looks for a source that "
             "measures more (power-wait).",
     .labels = host_origin,
     .source = "host",
     .privilege = "that of the source"},
    {.name = "host_hardware_info",
     .unit = "",
     .help = "Always 1; the labels say what hardware the machine has. Aggregators compare host_power_watts "
             "of similar machines.",
     .labels = host_hardware,
     .source = "host"},
    {.name = "host_power_set_aside",
     .unit = "",
     .help =
         "1 while a source of host_power_watts is not believed, with the reason: zero (0 W or less although "
         "the machine is on, or a number that bmc or os already withholds as implausible), wrong_unit (far "
         "fewer or more watts than processors draw), below_parts (less than a part of it draws: psys, "
         "packages and memory, on Arm the processors; or what is inside its zones), below_other (less than "
         "another meter of the same thing says), above_others (far more than two such meters that agree), "
         "stands_still (about the same number while the power of "
         "those parts changes), several (psys counters of several packages move).",
     .labels = host_doubt,
     .rule = node_rule::max,
     .source = "host"},
    {.name = "host_inlet_temperature_celsius",
     .unit = "celsius",
     .exponent = -1,
     .help = "Temperature of the incoming air, from the warmest inlet sensor: bmc, else hwmon, else "
             "thermal_zone (those named in inlet-sensors). The label says which.",
     .labels = host_origin,
     .source = "host",
     .privilege = "that of the source",
     .plausible = {{-40, 100, 50}}},
};

}  // namespace binnacle::metrics::tables
