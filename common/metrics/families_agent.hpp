#pragma once

#include "common/metrics/family.hpp"

/// What the agent says about itself. Included by catalog.cpp alone.
namespace binnacle::metrics::tables {

inline constexpr std::string_view agent_version[] = {"version"};
inline constexpr std::string_view agent_source[] = {"source"};
inline constexpr std::string_view agent_source_event[] = {"source", "event"};
inline constexpr std::string_view agent_aggregator[] = {"aggregator"};
inline constexpr std::string_view agent_reason[] = {"reason"};

inline constexpr family agent[] = {
    {.name = "binnacle_agent_info",
     .unit = "",
     .help = "Always 1; the label says the agent's version.",
     .labels = agent_version,
     .source = "agent"},
    {.name = "binnacle_agent_source_up",
     .unit = "",
     .help = "1 if the last read of a source succeeded, otherwise 0.",
     .labels = agent_source,
     .rule = node_rule::min,
     .source = "agent"},
    {.name = "binnacle_agent_source_read_seconds",
     .unit = "seconds",
     .exponent = -6,
     .help = "How long the last read of a source took.",
     .labels = agent_source,
     .rule = node_rule::max,
     .source = "agent"},
    {.name = "binnacle_agent_source_period_seconds",
     .unit = "seconds",
     .exponent = -3,
     .help = "Time between two reads of a source: its own, or shorter while a policy watches it.",
     .labels = agent_source,
     .rule = node_rule::max,
     .source = "agent"},
    {.name = "binnacle_agent_source_events_total",
     .unit = "",
     .type = kind::counter,
     .help = "What happened to a source that its values do not show, by event (bmc: helper_starts, "
             "helper_failures, helper_hung, helper_broke, helper_ended, bmc_refused).",
     .labels = agent_source_event,
     .rule = node_rule::sum,
     .source = "agent"},
    {.name = "binnacle_agent_missed_ticks_total",
     .unit = "",
     .type = kind::counter,
     .help = "Reads of a source left out because the one before was still running or the agent was not "
             "scheduled.",
     .labels = agent_source,
     .rule = node_rule::sum,
     .source = "agent"},
    {.name = "binnacle_agent_series", .unit = "", .help = "Series the agent announces.", .source = "agent"},
    {.name = "binnacle_agent_refused_series_total",
     .unit = "",
     .type = kind::counter,
     .help = "Series the agent would not take (too many, malformed, a name of ours), by reason.",
     .labels = agent_reason,
     .rule = node_rule::sum,
     .source = "agent"},
    {.name = "binnacle_agent_connected",
     .unit = "",
     .help = "1 if the link to an aggregator replica is up, otherwise 0.",
     .labels = agent_aggregator,
     .rule = node_rule::sum,
     .source = "agent"},
    {.name = "binnacle_agent_reconnects_total",
     .unit = "",
     .type = kind::counter,
     .help = "Links lost or refused and dialled again.",
     .source = "agent"},
    {.name = "binnacle_agent_batches_total",
     .unit = "",
     .type = kind::counter,
     .help = "Batches sent to an aggregator replica.",
     .labels = agent_aggregator,
     .rule = node_rule::sum,
     .source = "agent"},
    {.name = "binnacle_agent_conflated_values_total",
     .unit = "",
     .type = kind::counter,
     .help = "Values replaced by newer ones before the socket could take them.",
     .source = "agent"},
    {.name = "binnacle_agent_cpu_seconds_total",
     .unit = "seconds",
     .type = kind::counter,
     .exponent = -3,
     .help = "CPU time the agent has used.",
     .source = "agent"},
    {.name = "binnacle_agent_resident_bytes",
     .unit = "bytes",
     .help = "Memory the agent holds (RSS).",
     .source = "agent"},
};

}  // namespace binnacle::metrics::tables
