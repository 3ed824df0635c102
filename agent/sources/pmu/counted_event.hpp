#pragma once

#include "agent/sources/pmu/event_finder.hpp"
#include "agent/sources/pmu/event_places.hpp"
#include "agent/sources/pmu/named_events.hpp"
#include "common/metrics/catalog.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// An event that the pmu source counts, and the series it becomes.
struct counted_event {
  std::string name;   ///< as in the preset or the configuration
  std::string total;  ///< family of the counter
  std::string rate;   ///< family of its rate; empty: none
  metrics::label_set labels;
  double scale = 1;    ///< a count times this is in the families' unit
  bool named = false;  ///< one that every kernel knows, with families of its own: may be had for each CPU
  bool asked = false;  ///< the configuration names it, so that its absence is worth a word
  event_places places;

  /// Software events need no counter of the hardware.
  bool software() const noexcept;
};

struct event_wishes {
  event_preset preset = event_preset::lean;
  std::vector<std::string> events;  ///< more of them, in the forms of event_finder; may be split at commas
};

struct event_list {
  std::vector<counted_event> events;
  std::vector<std::string> problems;  ///< a sentence for each event that could not be found
};

/// The events of the preset, memory bandwidth where it can be counted (not with the preset none), and those
/// the configuration adds; each once.
event_list list_events(const event_wishes& wanted, const event_finder& finder);

}  // namespace binnacle::agent
