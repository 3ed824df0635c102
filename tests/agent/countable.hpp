#pragma once

#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/perf_event.hpp"

#include <algorithm>
#include <vector>

namespace binnacle::agent::test {

/// Whether the kernel lets this process count on every CPU that /sys lists. In a container /sys may list no
/// CPUs or others than there are, and counting on whole CPUs needs a privilege.
inline bool every_cpu_can_be_counted() {
  constexpr perf_encoding context_switches{.type = 1, .config = 3};
  const auto online = online_cpus("/sys").value_or(std::vector<unsigned>());
  return !online.empty() && std::ranges::all_of(online, [&](unsigned cpu) {
    return static_cast<bool>(open_perf_event({.event = context_switches, .cpu = cpu}));
  });
}

}  // namespace binnacle::agent::test
