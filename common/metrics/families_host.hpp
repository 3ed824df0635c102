#pragma once

#include "common/metrics/family.hpp"

/// The node's best figures, made by the agent of what its other sources read. Included by catalog.cpp alone.
namespace binnacle::metrics::tables {

inline constexpr std::string_view host_origin[] = {"source"};

inline constexpr family host[] = {
    {.name = "host_power_watts",
     .unit = "watts",
     .exponent = -1,
     .help = "What the machine draws, by the best way there is: dcmi, else bmc (the system's power sensor or "
             "the sum of "
             "its supplies), psys, rapl (packages and dram). The label says which.",
     .labels = host_origin,
     .source = "host",
     .privilege = "that of the source"},
    {.name = "host_inlet_temperature_celsius",
     .unit = "celsius",
     .exponent = -1,
     .help = "Temperature of the air that comes in, the warmest inlet sensor: bmc, else hwmon, else "
             "thermal_zone (those named in inlet-sensors). The label says which.",
     .labels = host_origin,
     .source = "host",
     .privilege = "that of the source"},
};

}  // namespace binnacle::metrics::tables
