#pragma once

#include "common/absence.hpp"
#include "common/metrics/families.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// What agent and aggregator send to each other, as plain structs. Their Cap'n Proto form (telemetry.capnp)
/// is used only inside common/wire; the README.md there describes the format on one page.
namespace binnacle::wire {

/// A set of series that one read refreshes together: a source, or one part of a source with its own period.
struct group_info {
  std::string source;  ///< "rapl", "os", "textfile"…
  std::string name;    ///< within the source: "", a sensor or a file
  std::uint32_t period_ms = 1000;
  std::uint32_t stale_after_ms = 10'000;
};

struct series_info {
  std::string family;  ///< empty: the series at this index could not be read and is left out
  metrics::label_set labels;
  std::int8_t exponent = 0;
  metrics::kind type = metrics::kind::gauge;
  std::uint16_t group = 0;  ///< index into catalog.groups
  std::string help;         ///< only for foreign families
};

/// The node's series; batches name them by their index here. Sent after the welcome and whenever the series
/// change.
struct catalog {
  std::uint32_t version = 0;
  std::vector<group_info> groups;
  std::vector<series_info> series;
};

struct group_read {
  std::uint16_t group = 0;
  std::int64_t read_at_ns = 0;  ///< agent's CLOCK_BOOTTIME when the last *successful* read returned
};
struct series_value {
  std::uint32_t series = 0;
  std::int64_t mantissa = 0;
};
struct series_absence {
  std::uint32_t series = 0;
  absence reason = absence::missing;
};

/// What was read since the last batch. `values` holds only the series that changed (all of them if `full`). A
/// series in neither list keeps its value, and its age follows the read time of its group.
struct batch {
  std::uint64_t sequence = 0;
  std::uint32_t catalog_version = 0;
  std::int64_t sent_at_ns = 0;  ///< agent's CLOCK_BOOTTIME
  bool full = false;
  std::vector<group_read> reads;
  std::vector<series_value> values;  ///< ascending by series
  std::vector<series_absence>
      absences;  ///< ascending by series; those that became absent (all absent ones when `full`)
};

/// The health of a source in words, for `binnacle status`. Sent when it changes.
struct source_status {
  std::string source;
  bool ok = true;
  std::string message;  ///< one sentence with the remedy when not ok
};

struct hello {
  std::uint16_t protocol_major = 1, protocol_minor = 0;
  std::string agent_version;
  std::string cluster;  ///< "" by default
  std::string node;
  std::string boot_id;        ///< /proc/sys/kernel/random/boot_id
  std::string credential;     ///< projected token; empty when the client certificate speaks for the node
  std::uint64_t process = 0;  ///< drawn at the agent's start, equal on all its links; 0: older than 1.4
};
struct welcome {
  std::uint16_t protocol_major = 1, protocol_minor = 0;
  std::string replica_id;
  std::uint16_t replicas = 1;
  std::uint32_t reauthenticate_after_s = 0;  ///< 0 = never
};
struct refused {
  std::string reason;
  std::uint32_t retry_after_ms = 0;
};
/// The families that policies watch, and how often they are wanted. Replaces the previous interest.
struct interest {
  struct wish {
    std::string family;
    std::uint32_t period_ms = 1000;
    friend bool operator==(const wish&, const wish&) = default;
  };
  std::vector<wish> wishes;
  friend bool operator==(const interest&, const interest&) = default;
};
/// Says that the session ends, and why. The sender closes the connection after it.
struct goodbye {
  std::string reason;
};

/// What the two clocks show (CLOCK_BOOTTIME). The aggregator asks with its own time; the agent answers with
/// both times.
struct clock_reading {
  std::int64_t aggregator_us = 0;
  std::int64_t agent_us = 0;  ///< when the question arrived; 0 in the question
};

using message = std::variant<hello, welcome, refused, catalog, batch, std::vector<source_status>, interest,
                             goodbye, clock_reading>;

}  // namespace binnacle::wire
