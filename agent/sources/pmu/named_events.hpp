#pragma once

#include "agent/kernel/perf_event.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// An event that every kernel knows by the same number, on any CPU. It has a family of its own. Source:
/// linux/perf_event.h (an ABI), names as perf-list(1).
struct named_event {
  std::string_view name;        ///< "cache-misses"
  std::string_view other_name;  ///< perf's second name for the same, or empty
  std::string_view family;      ///< without _total and _per_second
  perf_encoding encoding;
  double scale = 1;  ///< a count times this is in the family's unit (clocks count nanoseconds)
};

std::span<const named_event> named_events() noexcept;

/// Finds the event by either name, in upper or lower case. Null if there is none.
const named_event* find_named_event(std::string_view name) noexcept;

/// A set of events for the setting pmu-preset: "default" is what placement can use at little cost, "collectd"
/// is the 42 events of collectd's intel_pmu plugin with its three switches on, "none" is no events.
enum class event_preset : std::uint8_t { lean, collectd, none };
std::vector<std::string_view> preset_events(event_preset preset);

}  // namespace binnacle::agent
