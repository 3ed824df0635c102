#pragma once

#include "agent/kernel/perf_event.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace binnacle::agent {

/// A place where an event is counted: a PMU and its CPUs. On most machines an event has one place. On a
/// hybrid machine it has one for each kind of core, and outside the cores one for each box of the PMU.
struct event_place {
  perf_encoding encoding;
  /// The perf type of the PMU, even if the encoding has another type. Events with the same number may share a
  /// group.
  std::uint32_t pmu = 0;
  /// Nothing means every CPU that is online.
  std::optional<std::vector<unsigned>> cpus;

  friend bool operator==(const event_place&, const event_place&) = default;
};
using event_places = std::vector<event_place>;

/// Events that are counted together. `event` is an index into the planned list.
struct planned_group {
  struct member {
    std::size_t event = 0;
    perf_encoding encoding;
  };
  std::vector<member> members;
  std::optional<std::vector<unsigned>> cpus;
  bool takes_turns = true;  ///< false: software events, which never need a hardware counter
};

/// Puts events into as few groups as fit on a PMU, in the order of the list. A hardware group has at most
/// `most` events that need a general counter (on Intel, cycles, instructions and reference cycles have
/// counters of their own). All software events share a group. With `most` 0 every hardware event has its own
/// group, which always gets its turn. Pure.
std::vector<planned_group> plan_groups(std::span<const event_places> events, unsigned most);

}  // namespace binnacle::agent
