#pragma once

#include "agent/kernel/pmu_device.hpp"
#include "agent/sources/pmu/event_places.hpp"
#include "common/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Finds out what an event's name means on this machine, and where the event is counted.
///
///   instructions, LLC-load-misses        perf's names for what every CPU has
///   r01c2                                a number for the cores' PMU, from the maker's manual
///   cpu/event=0xc2,umask=0x01/           terms of a PMU's format in sysfs
///   uncore_imc/cas_count_read/           an event that the kernel names; all boxes of that PMU
///   INST_RETIRED:ANY_P, skx::L2_RQSTS:MISS, perf::…   libpfm4's names
///   mem-loads                            an event of the cores that the kernel names
class event_finder {
 public:
  explicit event_finder(std::vector<pmu_device> devices) : devices_(std::move(devices)) {}

  /// Errors: not_found with the most similar names, invalid_input, unsupported; one sentence with the remedy.
  /// Blocks: a few small files, and libpfm4's tables for the last two forms.
  result<event_places> find(std::string_view name) const;

  const std::vector<pmu_device>& devices() const noexcept { return devices_; }

 private:
  event_places on_cores(perf_encoding encoding) const;
  result<event_places> in_terms(std::string_view pmu, std::string_view terms) const;
  result<event_places> by_library(const std::string& name) const;
  std::vector<const pmu_device*> cores() const;

  std::vector<pmu_device> devices_;
};

/// At most `most` of `names` that are similar to `name`, the most similar first. Similar names contain
/// `name`, or differ from it by insertions, removals and replacements of at most a third of its letters.
/// Pure.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& names,
                                       std::size_t most);

}  // namespace binnacle::agent
