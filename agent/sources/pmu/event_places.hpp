#pragma once

#include "agent/kernel/perf_event.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace binnacle::agent {

/// One of the places where an event is counted: a PMU and its CPUs. An event has one on most machines; one
/// for each kind of core on hybrid ones, and one for each box of a PMU outside the cores.
struct event_place {
  perf_encoding encoding;
  /// Events of the same number may share a group: the perf type of the PMU, whichever type the encoding has.
  std::uint32_t pmu = 0;
  /// Nothing: every CPU that is online.
  std::optional<std::vector<unsigned>> cpus;

  friend bool operator==(const event_place&, const event_place&) = default;
};
using event_places = std::vector<event_place>;

/// Events to be counted together. `event` is an index into the list that was planned.
struct planned_group {
  struct member {
    std::size_t event = 0;
    perf_encoding encoding;
  };
  std::vector<member> members;
  std::optional<std::vector<unsigned>> cpus;
  bool takes_turns = true;  ///< false: software, which never needs a counter of the hardware
};

/// Puts events into as few groups as fit on a PMU: `most` events that need a general counter each (cycles,
/// instructions and reference cycles have their own on Intel), software events all in one. `most` 0 gives
/// every hardware event a group of its own, which always gets its turn. In order of the list. Pure.
std::vector<planned_group> plan_groups(std::span<const event_places> events, unsigned most);

}  // namespace binnacle::agent
