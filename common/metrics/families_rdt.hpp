#pragma once

#include "common/metrics/family.hpp"

/// Intel RDT and similar features of other CPUs, through the resctrl filesystem. Included by families.cpp
/// alone. Source: Linux Documentation/filesystems/resctrl.rst.
namespace binnacle::metrics::tables {

inline constexpr std::string_view rdt_group_kind_domain[] = {"group", "kind", "domain"};
inline constexpr std::string_view rdt_privilege = "resctrl mounted on the host (the agent mounts nothing)";

// The numbers of a control group include those of its monitoring groups: a sum of both would count bytes
// twice.
inline constexpr member rdt_control[] = {
    {"rdt_llc_occupancy_bytes", "kind", "control"},
    {"rdt_memory_bandwidth_bytes_total", "kind", "control"},
    {"rdt_memory_bandwidth_bytes_per_second", "kind", "control"},
    {"rdt_memory_bandwidth_local_bytes_total", "kind", "control"},
    {"rdt_memory_bandwidth_local_bytes_per_second", "kind", "control"},
};

inline constexpr family rdt[] = {
    {.name = rdt_control[0].family,
     .unit = "bytes",
     .help = "Last-level cache that a group holds in an L3 cache (domain); kind is control or monitoring.",
     .labels = rdt_group_kind_domain,
     .rule = node_rule::sum,
     .members = {&rdt_control[0], 1},
     .source = "rdt",
     .privilege = rdt_privilege},
    {.name = rdt_control[1].family,
     .unit = "bytes",
     .type = kind::counter,
     .help = "Bytes that a group moved between an L3 cache and any memory since the group was made.",
     .labels = rdt_group_kind_domain,
     .rule = node_rule::sum,
     .members = {&rdt_control[1], 1},
     .source = "rdt",
     .privilege = rdt_privilege},
    {.name = rdt_control[2].family,
     .unit = "bytes_per_second",
     .help = "Bytes per second that a group moved between an L3 cache and any memory since the last read.",
     .labels = rdt_group_kind_domain,
     .rule = node_rule::sum,
     .members = {&rdt_control[2], 1},
     .source = "rdt",
     .privilege = rdt_privilege,
     .integral = {rdt_control[1].family}},
    {.name = rdt_control[3].family,
     .unit = "bytes",
     .type = kind::counter,
     .help = "Bytes that a group moved between an L3 cache and the memory of its own socket.",
     .labels = rdt_group_kind_domain,
     .rule = node_rule::sum,
     .members = {&rdt_control[3], 1},
     .source = "rdt",
     .privilege = rdt_privilege},
    {.name = rdt_control[4].family,
     .unit = "bytes_per_second",
     .help = "Bytes per second that a group moved between an L3 cache and the memory of its own socket since "
             "the last read.",
     .labels = rdt_group_kind_domain,
     .rule = node_rule::sum,
     .members = {&rdt_control[4], 1},
     .source = "rdt",
     .privilege = rdt_privilege,
     .integral = {rdt_control[3].family}},
};

}  // namespace binnacle::metrics::tables
