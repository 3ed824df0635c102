#include "agent/sources/pmu/named_events.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <linux/perf_event.h>

namespace binnacle::agent {
namespace {

constexpr perf_encoding hardware(std::uint64_t id) { return {.type = PERF_TYPE_HARDWARE, .config = id}; }
constexpr perf_encoding software(std::uint64_t id) { return {.type = PERF_TYPE_SOFTWARE, .config = id}; }

// Source: perf_event_open(2), PERF_TYPE_HW_CACHE.
constexpr perf_encoding cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
  return {.type = PERF_TYPE_HW_CACHE, .config = which | operation << 8 | result << 16};
}
constexpr auto read = PERF_COUNT_HW_CACHE_OP_READ;
constexpr auto write = PERF_COUNT_HW_CACHE_OP_WRITE;
constexpr auto prefetch = PERF_COUNT_HW_CACHE_OP_PREFETCH;
constexpr auto access = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
constexpr auto miss = PERF_COUNT_HW_CACHE_RESULT_MISS;
constexpr auto l1d = PERF_COUNT_HW_CACHE_L1D;
constexpr auto l1i = PERF_COUNT_HW_CACHE_L1I;
constexpr auto llc = PERF_COUNT_HW_CACHE_LL;
constexpr auto dtlb = PERF_COUNT_HW_CACHE_DTLB;
constexpr auto itlb = PERF_COUNT_HW_CACHE_ITLB;
constexpr auto bpu = PERF_COUNT_HW_CACHE_BPU;

constexpr named_event events[] = {
    {"cycles", "cpu-cycles", "pmu_cycles", hardware(PERF_COUNT_HW_CPU_CYCLES)},
    {"instructions", "", "pmu_instructions", hardware(PERF_COUNT_HW_INSTRUCTIONS)},
    {"cache-references", "", "pmu_cache_references", hardware(PERF_COUNT_HW_CACHE_REFERENCES)},
    {"cache-misses", "", "pmu_cache_misses", hardware(PERF_COUNT_HW_CACHE_MISSES)},
    {"branches", "branch-instructions", "pmu_branches", hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS)},
    {"branch-misses", "", "pmu_branch_misses", hardware(PERF_COUNT_HW_BRANCH_MISSES)},
    {"bus-cycles", "", "pmu_bus_cycles", hardware(PERF_COUNT_HW_BUS_CYCLES)},
    {"ref-cycles", "", "pmu_ref_cycles", hardware(PERF_COUNT_HW_REF_CPU_CYCLES)},
    {"stalled-cycles-frontend", "idle-cycles-frontend", "pmu_stalled_cycles_frontend",
     hardware(PERF_COUNT_HW_STALLED_CYCLES_FRONTEND)},
    {"stalled-cycles-backend", "idle-cycles-backend", "pmu_stalled_cycles_backend",
     hardware(PERF_COUNT_HW_STALLED_CYCLES_BACKEND)},

    {"L1-dcache-loads", "", "pmu_l1_dcache_loads", cache(l1d, read, access)},
    {"L1-dcache-load-misses", "", "pmu_l1_dcache_load_misses", cache(l1d, read, miss)},
    {"L1-dcache-stores", "", "pmu_l1_dcache_stores", cache(l1d, write, access)},
    {"L1-dcache-store-misses", "", "pmu_l1_dcache_store_misses", cache(l1d, write, miss)},
    {"L1-dcache-prefetches", "", "pmu_l1_dcache_prefetches", cache(l1d, prefetch, access)},
    {"L1-dcache-prefetch-misses", "", "pmu_l1_dcache_prefetch_misses", cache(l1d, prefetch, miss)},
    {"L1-icache-loads", "", "pmu_l1_icache_loads", cache(l1i, read, access)},
    {"L1-icache-load-misses", "", "pmu_l1_icache_load_misses", cache(l1i, read, miss)},
    {"L1-icache-prefetches", "", "pmu_l1_icache_prefetches", cache(l1i, prefetch, access)},
    {"L1-icache-prefetch-misses", "", "pmu_l1_icache_prefetch_misses", cache(l1i, prefetch, miss)},
    {"LLC-loads", "", "pmu_llc_loads", cache(llc, read, access)},
    {"LLC-load-misses", "", "pmu_llc_load_misses", cache(llc, read, miss)},
    {"LLC-stores", "", "pmu_llc_stores", cache(llc, write, access)},
    {"LLC-store-misses", "", "pmu_llc_store_misses", cache(llc, write, miss)},
    {"LLC-prefetches", "", "pmu_llc_prefetches", cache(llc, prefetch, access)},
    {"LLC-prefetch-misses", "", "pmu_llc_prefetch_misses", cache(llc, prefetch, miss)},
    {"dTLB-loads", "", "pmu_dtlb_loads", cache(dtlb, read, access)},
    {"dTLB-load-misses", "", "pmu_dtlb_load_misses", cache(dtlb, read, miss)},
    {"dTLB-stores", "", "pmu_dtlb_stores", cache(dtlb, write, access)},
    {"dTLB-store-misses", "", "pmu_dtlb_store_misses", cache(dtlb, write, miss)},
    {"dTLB-prefetches", "", "pmu_dtlb_prefetches", cache(dtlb, prefetch, access)},
    {"dTLB-prefetch-misses", "", "pmu_dtlb_prefetch_misses", cache(dtlb, prefetch, miss)},
    {"iTLB-loads", "", "pmu_itlb_loads", cache(itlb, read, access)},
    {"iTLB-load-misses", "", "pmu_itlb_load_misses", cache(itlb, read, miss)},
    {"branch-loads", "", "pmu_branch_loads", cache(bpu, read, access)},
    {"branch-load-misses", "", "pmu_branch_load_misses", cache(bpu, read, miss)},

    {"cpu-clock", "", "pmu_cpu_clock_seconds", software(PERF_COUNT_SW_CPU_CLOCK), 1e-9},
    {"task-clock", "", "pmu_task_clock_seconds", software(PERF_COUNT_SW_TASK_CLOCK), 1e-9},
    {"context-switches", "cs", "pmu_context_switches", software(PERF_COUNT_SW_CONTEXT_SWITCHES)},
    {"cpu-migrations", "migrations", "pmu_cpu_migrations", software(PERF_COUNT_SW_CPU_MIGRATIONS)},
    {"page-faults", "faults", "pmu_page_faults", software(PERF_COUNT_SW_PAGE_FAULTS)},
    {"minor-faults", "", "pmu_minor_faults", software(PERF_COUNT_SW_PAGE_FAULTS_MIN)},
    {"major-faults", "", "pmu_major_faults", software(PERF_COUNT_SW_PAGE_FAULTS_MAJ)},
    {"alignment-faults", "", "pmu_alignment_faults", software(PERF_COUNT_SW_ALIGNMENT_FAULTS)},
    {"emulation-faults", "", "pmu_emulation_faults", software(PERF_COUNT_SW_EMULATION_FAULTS)},
};

// Events for which collectd's plugin has no switch. node_exporter's perf collector reads them.
constexpr std::array<std::string_view, 3> not_in_collectd{"ref-cycles", "stalled-cycles-frontend",
                                                          "stalled-cycles-backend"};

// On Intel, cycles and instructions have counters of their own. Three more events still fit beside the
// kernel's NMI watchdog, so no group has to take turns.
constexpr std::array<std::string_view, 9> default_preset{
    "cycles",           "instructions",   "cache-references", "cache-misses", "branch-misses",
    "context-switches", "cpu-migrations", "page-faults",      "major-faults"};

bool same(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return lowered(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::span<const named_event> named_events() noexcept { return events; }

const named_event* find_named_event(std::string_view name) noexcept {
  if (name.empty()) return nullptr;
  const auto* it = std::ranges::find_if(
      events, [&](const named_event& e) { return same(e.name, name) || same(e.other_name, name); });
  return it == std::ranges::end(events) ? nullptr : it;
}

std::vector<std::string_view> preset_events(event_preset preset) {
  if (preset == event_preset::lean) return {default_preset.begin(), default_preset.end()};
  std::vector<std::string_view> names;
  if (preset != event_preset::collectd) return names;
  for (const auto& e : events) {
    if (std::ranges::find(not_in_collectd, e.name) == not_in_collectd.end()) names.push_back(e.name);
  }
  return names;
}

}  // namespace binnacle::agent
