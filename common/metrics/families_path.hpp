#pragma once

#include "common/metrics/family.hpp"

/// The network path to named peers, by active probes. Included by families.cpp alone.
namespace binnacle::metrics::tables {

inline constexpr std::string_view path_peer[] = {"peer"};
inline constexpr std::string_view path_privilege =
    "TCP: none. icmp: peers: a group in net.ipv4.ping_group_range, or CAP_NET_RAW";

inline constexpr family path[] = {
    {.name = "path_up",
     .unit = "",
     .help = "1 if any probe of the window (10 s) was answered, otherwise 0.",
     .labels = path_peer,
     .rule = node_rule::min,
     .source = "path",
     .privilege = path_privilege},
    {.name = "path_round_trip_seconds",
     .unit = "seconds",
     .exponent = -6,
     .help = "Mean round trip of the probes of the window that were answered.",
     .labels = path_peer,
     .rule = node_rule::max,
     .source = "path",
     .privilege = path_privilege},
    {.name = "path_jitter_seconds",
     .unit = "seconds",
     .exponent = -6,
     .help = "Mean difference in round trip between one answered probe and the next, over the window.",
     .labels = path_peer,
     .rule = node_rule::max,
     .source = "path",
     .privilege = path_privilege},
    {.name = "path_loss_ratio",
     .unit = "ratio",
     .exponent = -4,
     .help = "Share of the probes of the window that were not answered in time, 0 to 1.",
     .labels = path_peer,
     .rule = node_rule::max,
     .source = "path",
     .privilege = path_privilege},
};

}  // namespace binnacle::metrics::tables
