#pragma once

#include "agent/kernel/perf_event.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// An event that every kernel knows by the same number, whatever the CPU, with a family of its own.
/// Source: linux/perf_event.h (an ABI), names as perf-list(1).
struct named_event {
  std::string_view name;        ///< "cache-misses"
  std::string_view other_name;  ///< perf's second name for the same, or empty
  std::string_view family;      ///< without _total and _per_second
  perf_encoding encoding;
  double scale = 1;  ///< a count times this is in the family's unit (clocks count nanoseconds)
};

std::span<const named_event> named_events() noexcept;

/// By either name, in any case; null for another one.
const named_event* find_named_event(std::string_view name) noexcept;

/// Events of a preset by name: "default" is what placement can use at little cost, "collectd" the 42 events
/// of collectd's intel_pmu plugin with its three switches on, "none" nothing. Empty for another name.
std::vector<std::string_view> preset_events(std::string_view preset);

}  // namespace binnacle::agent
