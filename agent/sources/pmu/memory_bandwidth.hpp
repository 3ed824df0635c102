#pragma once

#include "agent/kernel/pmu_device.hpp"
#include "agent/sources/pmu/event_places.hpp"

#include <span>
#include <string>
#include <vector>

namespace binnacle::agent {

/// The events of the memory controllers for one direction.
struct memory_flow {
  std::string direction;  ///< "read", "write"
  double bytes = 0;       ///< bytes that one count stands for
  event_places places;    ///< every channel of every socket
};

/// Finds the events that count reads and writes of the machine's memory, where its memory controllers are
/// PMUs. Intel: the kernel's own event names of uncore_imc (cas_count_read on servers, data_reads on clients,
/// the two halves of a channel on Granite Rapids) with their .scale and .unit, if these say that a count is 1
/// to 4096 bytes; free-running counters are used only if there is nothing else. AMD (from Zen 4): amd_umc has
/// no names in sysfs, so its CAS commands are named by number, with 64 bytes each. Empty if there is no such
/// PMU. Blocks: a few small files for each. Source: arch/x86/events/intel/uncore_snb.c and uncore_snbep.c;
/// AMD PPR, UMC performance monitors (tools/perf/pmu-events/arch/x86/amdzen4/memory-controller.json).
std::vector<memory_flow> find_memory_flows(std::span<const pmu_device> devices);

}  // namespace binnacle::agent
