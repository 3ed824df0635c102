#pragma once

#include "common/metrics/families.hpp"

#include <array>
#include <cstddef>
#include <iterator>

/// Old names of the PMU's counts. Included by alias_table.cpp alone; see aliases.hpp for the rest.
namespace binnacle::metrics::tables {

struct old_pmu_name {
  std::string_view name, family;
};

// collectd's intel_pmu has one name, with the event in the label `type`. A policy has no selector, so each
// event also has a name of its own: the name with the type appended, as in other flat names.
inline constexpr old_pmu_name collectd_events[] = {
    {"collectd_intel_pmu_counter_total_cpu_cycles", "pmu_cycles_total"},
    {"collectd_intel_pmu_counter_total_instructions", "pmu_instructions_total"},
    {"collectd_intel_pmu_counter_total_cache_references", "pmu_cache_references_total"},
    {"collectd_intel_pmu_counter_total_cache_misses", "pmu_cache_misses_total"},
    {"collectd_intel_pmu_counter_total_branches", "pmu_branches_total"},
    {"collectd_intel_pmu_counter_total_branch_misses", "pmu_branch_misses_total"},
    {"collectd_intel_pmu_counter_total_bus_cycles", "pmu_bus_cycles_total"},
    {"collectd_intel_pmu_counter_total_l1_dcache_loads", "pmu_l1_dcache_loads_total"},
    {"collectd_intel_pmu_counter_total_l1_dcache_load_misses", "pmu_l1_dcache_load_misses_total"},
    {"collectd_intel_pmu_counter_total_l1_dcache_stores", "pmu_l1_dcache_stores_total"},
    {"collectd_intel_pmu_counter_total_l1_dcache_store_misses", "pmu_l1_dcache_store_misses_total"},
    {"collectd_intel_pmu_counter_total_l1_dcache_prefetches", "pmu_l1_dcache_prefetches_total"},
    {"collectd_intel_pmu_counter_total_l1_dcache_prefetch_misses", "pmu_l1_dcache_prefetch_misses_total"},
    {"collectd_intel_pmu_counter_total_llc_loads", "pmu_llc_loads_total"},
    {"collectd_intel_pmu_counter_total_llc_load_misses", "pmu_llc_load_misses_total"},
    {"collectd_intel_pmu_counter_total_llc_stores", "pmu_llc_stores_total"},
    {"collectd_intel_pmu_counter_total_llc_store_misses", "pmu_llc_store_misses_total"},
    {"collectd_intel_pmu_counter_total_llc_prefetches", "pmu_llc_prefetches_total"},
    {"collectd_intel_pmu_counter_total_llc_prefetch_misses", "pmu_llc_prefetch_misses_total"},
    {"collectd_intel_pmu_counter_total_dtlb_loads", "pmu_dtlb_loads_total"},
    {"collectd_intel_pmu_counter_total_dtlb_load_misses", "pmu_dtlb_load_misses_total"},
    {"collectd_intel_pmu_counter_total_dtlb_stores", "pmu_dtlb_stores_total"},
    {"collectd_intel_pmu_counter_total_dtlb_store_misses", "pmu_dtlb_store_misses_total"},
    {"collectd_intel_pmu_counter_total_dtlb_prefetches", "pmu_dtlb_prefetches_total"},
    {"collectd_intel_pmu_counter_total_dtlb_prefetch_misses", "pmu_dtlb_prefetch_misses_total"},
    {"collectd_intel_pmu_counter_total_l1_icache_loads", "pmu_l1_icache_loads_total"},
    {"collectd_intel_pmu_counter_total_l1_icache_load_misses", "pmu_l1_icache_load_misses_total"},
    {"collectd_intel_pmu_counter_total_l1_icache_prefetches", "pmu_l1_icache_prefetches_total"},
    {"collectd_intel_pmu_counter_total_l1_icache_prefetch_misses", "pmu_l1_icache_prefetch_misses_total"},
    {"collectd_intel_pmu_counter_total_itlb_loads", "pmu_itlb_loads_total"},
    {"collectd_intel_pmu_counter_total_itlb_load_misses", "pmu_itlb_load_misses_total"},
    {"collectd_intel_pmu_counter_total_branch_loads", "pmu_branch_loads_total"},
    {"collectd_intel_pmu_counter_total_branch_load_misses", "pmu_branch_load_misses_total"},
    {"collectd_intel_pmu_counter_total_context_switches", "pmu_context_switches_total"},
    {"collectd_intel_pmu_counter_total_cpu_migrations", "pmu_cpu_migrations_total"},
    {"collectd_intel_pmu_counter_total_page_faults", "pmu_page_faults_total"},
    {"collectd_intel_pmu_counter_total_minor_faults", "pmu_minor_faults_total"},
    {"collectd_intel_pmu_counter_total_major_faults", "pmu_major_faults_total"},
    {"collectd_intel_pmu_counter_total_alignment_faults", "pmu_alignment_faults_total"},
    {"collectd_intel_pmu_counter_total_emulation_faults", "pmu_emulation_faults_total"},
};

// node_exporter's perf collector gives the number of all accesses under the name of hits. Source:
// github.com/hodgesds/perf-utils, cache_profiler.go: PERF_COUNT_HW_CACHE_RESULT_ACCESS.
inline constexpr old_pmu_name node_exporter_events[] = {
    {"node_perf_cpucycles_total", "pmu_cycles_total"},
    {"node_perf_instructions_total", "pmu_instructions_total"},
    {"node_perf_branch_instructions_total", "pmu_branches_total"},
    {"node_perf_branch_misses_total", "pmu_branch_misses_total"},
    {"node_perf_cache_refs_total", "pmu_cache_references_total"},
    {"node_perf_cache_misses_total", "pmu_cache_misses_total"},
    {"node_perf_ref_cpucycles_total", "pmu_ref_cycles_total"},
    {"node_perf_stalled_cycles_backend_total", "pmu_stalled_cycles_backend_total"},
    {"node_perf_stalled_cycles_frontend_total", "pmu_stalled_cycles_frontend_total"},
    {"node_perf_page_faults_total", "pmu_page_faults_total"},
    {"node_perf_context_switches_total", "pmu_context_switches_total"},
    {"node_perf_cpu_migrations_total", "pmu_cpu_migrations_total"},
    {"node_perf_minor_faults_total", "pmu_minor_faults_total"},
    {"node_perf_major_faults_total", "pmu_major_faults_total"},
    {"node_perf_cache_l1d_read_hits_total", "pmu_l1_dcache_loads_total"},
    {"node_perf_cache_l1d_read_misses_total", "pmu_l1_dcache_load_misses_total"},
    {"node_perf_cache_l1d_write_hits_total", "pmu_l1_dcache_stores_total"},
    {"node_perf_cache_l1_instr_read_misses_total", "pmu_l1_icache_load_misses_total"},
    {"node_perf_cache_tlb_instr_read_hits_total", "pmu_itlb_loads_total"},
    {"node_perf_cache_tlb_instr_read_misses_total", "pmu_itlb_load_misses_total"},
    {"node_perf_cache_ll_read_hits_total", "pmu_llc_loads_total"},
    {"node_perf_cache_ll_read_misses_total", "pmu_llc_load_misses_total"},
    {"node_perf_cache_ll_write_hits_total", "pmu_llc_stores_total"},
    {"node_perf_cache_ll_write_misses_total", "pmu_llc_store_misses_total"},
    {"node_perf_cache_bpu_read_hits_total", "pmu_branch_loads_total"},
    {"node_perf_cache_bpu_read_misses_total", "pmu_branch_load_misses_total"},
};

inline constexpr alias other_pmu_names[] = {
    {.name = "collectd_intel_pmu_counter_total",
     .family = "pmu_instructions_total",
     .note = "collectd intel_pmu; its series type=\"instructions\""},
    {.name = "collectd_intel_pmu_counter_total_cpu_clock",
     .family = "pmu_cpu_clock_seconds_total",
     .scale = 1e9,
     .note = "collectd intel_pmu; nanoseconds"},
    {.name = "collectd_intel_pmu_counter_total_task_clock",
     .family = "pmu_task_clock_seconds_total",
     .scale = 1e9,
     .note = "collectd intel_pmu; nanoseconds"},
    {.name = "collectd_intel_rdt_ipc",
     .family = "pmu_instructions_per_cycle",
     .note = "collectd intel_rdt; of all cores"},
    {.name = "memory_bandwidth_bytes_per_second",
     .family = "pmu_memory_bandwidth_bytes_per_second",
     .note = "without the source in front"},
};

inline constexpr auto old_pmu_names = [] {
  std::array<alias, std::size(collectd_events) + std::size(node_exporter_events) + std::size(other_pmu_names)>
      all{};
  std::size_t next = 0;
  for (const auto& [name, family] : collectd_events)
    all[next++] = {.name = name, .family = family, .note = "collectd intel_pmu, its series of that type"};
  for (const auto& [name, family] : node_exporter_events)
    all[next++] = {.name = name, .family = family, .note = "node_exporter perf"};
  for (const alias& a : other_pmu_names) all[next++] = a;
  return all;
}();

}  // namespace binnacle::metrics::tables
