#include "agent/sources/pmu/event_places.hpp"

#include <algorithm>
#include <linux/perf_event.h>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_members = 32;  // in a group of software events; bounds what one read gives

// On hybrid machines the upper half of a generic hardware event's config holds the PMU's type.
bool has_own_counter(const perf_encoding& e) {
  if (e.type != PERF_TYPE_HARDWARE) return false;
  const auto id = e.config & 0xffff'ffff;
  return id == PERF_COUNT_HW_CPU_CYCLES || id == PERF_COUNT_HW_INSTRUCTIONS ||
         id == PERF_COUNT_HW_REF_CPU_CYCLES;
}

// The group of a PMU to which events are being added.
struct filling {
  std::uint32_t pmu;
  std::size_t group;  // its index in the result
  unsigned general = 0;
};

}  // namespace

std::vector<planned_group> plan_groups(std::span<const event_places> events, unsigned most) {
  std::vector<planned_group> groups;
  std::vector<filling> last;
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (const auto& place : events[i]) {
      const bool software = place.pmu == PERF_TYPE_SOFTWARE;
      const bool general = !software && !has_own_counter(place.encoding);
      auto at = std::find_if(last.begin(), last.end(), [&](const filling& f) {
        return f.pmu == place.pmu && groups[f.group].cpus == place.cpus;
      });
      if (at == last.end()) {
        at = last.insert(last.end(), {place.pmu, groups.size()});
        groups.push_back({{}, place.cpus, !software});
      } else if (groups[at->group].members.size() >= most_members || (!software && most == 0) ||
                 (general && at->general >= most)) {
        *at = {place.pmu, groups.size()};
        groups.push_back({{}, place.cpus, !software});
      }
      groups[at->group].members.push_back({i, place.encoding});
      if (general) ++at->general;
    }
  }
  return groups;
}

}  // namespace binnacle::agent
