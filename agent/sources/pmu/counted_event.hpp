#pragma once

#include "agent/sources/pmu/event_finder.hpp"
#include "agent/sources/pmu/event_places.hpp"
#include "agent/sources/pmu/named_events.hpp"
#include "common/metrics/families.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// An event that the pmu source counts, and the families of its series.
struct counted_event {
  std::string name;   ///< as in the preset or the configuration
  std::string total;  ///< family of the counter
  std::string rate;   ///< family of its rate; empty: none
  metrics::label_set labels;
  double scale = 1;    ///< a count times this is the value in the families' unit
  bool named = false;  ///< known to every kernel, with families of its own; it can have a series for each CPU
  bool asked = false;  ///< the configuration names it, so its absence is reported
  event_places places;

  /// Whether it is a software event, which needs no hardware counter.
  bool software() const noexcept;
};

struct event_wishes {
  event_preset preset = event_preset::lean;
  std::vector<std::string> events;  ///< more events, in the forms of event_finder; may be split at commas
};

struct event_list {
  std::vector<counted_event> events;
  std::vector<std::string> problems;  ///< one sentence for each event that was not found
};

/// The events to count: those of the preset, memory bandwidth where it can be counted (not with the preset
/// `none`), and those that the configuration adds. Each event is listed once.
event_list list_events(const event_wishes& wanted, const event_finder& finder);

}  // namespace binnacle::agent
