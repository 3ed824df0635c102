#pragma once

#include "agent/kernel/pmu_device.hpp"
#include "agent/sources/pmu/event_places.hpp"

#include <span>
#include <string>
#include <vector>

namespace binnacle::agent {

/// What the memory controllers count of one direction.
struct memory_flow {
  std::string direction;  ///< "read", "write"
  double bytes = 0;       ///< of one count
  event_places places;    ///< every channel of every socket
};

/// Reads and writes of the machine's memory, as far as its memory controllers are PMUs. Intel: the kernel's
/// own event names of uncore_imc (servers' cas_count_read, clients' data_reads, Granite Rapids' two halves of
/// a channel) with their .scale and .unit; the free-running counters only where there is nothing else. AMD
/// (Zen 4 on): amd_umc has no names in sysfs, so its CAS commands by number, 64 bytes each. Empty when there
/// is no such PMU. Blocks: a few small files for each. Source: arch/x86/events/intel/uncore_snb.c and
/// uncore_snbep.c; AMD PPR, UMC performance monitors
/// (tools/perf/pmu-events/arch/x86/amdzen4/memory-controller.json).
std::vector<memory_flow> find_memory_flows(std::span<const pmu_device> devices);

}  // namespace binnacle::agent
