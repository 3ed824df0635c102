#pragma once

#include "common/metrics/family.hpp"

#include <array>
#include <cstddef>
#include <iterator>

/// What the kernel, the CPUs and the memory controllers count, through perf_event_open(2). Included by
/// families.cpp alone. Source: perf_event_open(2), perf-list(1).
namespace binnacle::metrics::tables {

inline constexpr std::string_view pmu_cpu[] = {"cpu"};
inline constexpr std::string_view pmu_event[] = {"event"};
inline constexpr std::string_view pmu_direction[] = {"direction"};
inline constexpr std::string_view pmu_pod[] = {"pod_uid"};

inline constexpr std::string_view pmu_privilege =
    "CAP_PERFMON where kernel.perf_event_paranoid is 2 or less; nothing where it is 0 or less";

/// An event that every kernel counts: the names of its counter and of its rate.
struct pmu_pair {
  std::string_view total, rate, help;
};

inline constexpr pmu_pair pmu_pairs[] = {
    {"pmu_cycles_total", "pmu_cycles_per_second", "Cycles in which a CPU was not halted."},
    {"pmu_instructions_total", "pmu_instructions_per_second", "Instructions retired."},
    {"pmu_cache_references_total", "pmu_cache_references_per_second",
     "Accesses to the last-level cache (Intel; to the L2 cache on AMD Zen)."},
    {"pmu_cache_misses_total", "pmu_cache_misses_per_second",
     "Misses of the last-level cache (Intel; of the L2 cache on AMD Zen)."},
    {"pmu_branches_total", "pmu_branches_per_second", "Branch instructions retired."},
    {"pmu_branch_misses_total", "pmu_branch_misses_per_second", "Branches that were predicted wrongly."},
    {"pmu_bus_cycles_total", "pmu_bus_cycles_per_second", "Bus cycles while a CPU was not halted."},
    {"pmu_ref_cycles_total", "pmu_ref_cycles_per_second",
     "Cycles in which a CPU was not halted, at a frequency that does not change."},
    {"pmu_stalled_cycles_frontend_total", "pmu_stalled_cycles_frontend_per_second",
     "Cycles in which no instruction could be issued."},
    {"pmu_stalled_cycles_backend_total", "pmu_stalled_cycles_backend_per_second",
     "Cycles in which no instruction could be completed."},
    {"pmu_l1_dcache_loads_total", "pmu_l1_dcache_loads_per_second", "Loads from the L1 data cache."},
    {"pmu_l1_dcache_load_misses_total", "pmu_l1_dcache_load_misses_per_second",
     "Loads that missed the L1 data cache."},
    {"pmu_l1_dcache_stores_total", "pmu_l1_dcache_stores_per_second", "Stores to the L1 data cache."},
    {"pmu_l1_dcache_store_misses_total", "pmu_l1_dcache_store_misses_per_second",
     "Stores that missed the L1 data cache."},
    {"pmu_l1_dcache_prefetches_total", "pmu_l1_dcache_prefetches_per_second",
     "Prefetches of the L1 data cache."},
    {"pmu_l1_dcache_prefetch_misses_total", "pmu_l1_dcache_prefetch_misses_per_second",
     "Prefetches that missed the L1 data cache."},
    {"pmu_l1_icache_loads_total", "pmu_l1_icache_loads_per_second", "Fetches from the L1 instruction cache."},
    {"pmu_l1_icache_load_misses_total", "pmu_l1_icache_load_misses_per_second",
     "Fetches that missed the L1 instruction cache."},
    {"pmu_l1_icache_prefetches_total", "pmu_l1_icache_prefetches_per_second",
     "Prefetches of the L1 instruction cache."},
    {"pmu_l1_icache_prefetch_misses_total", "pmu_l1_icache_prefetch_misses_per_second",
     "Prefetches that missed the L1 instruction cache."},
    {"pmu_llc_loads_total", "pmu_llc_loads_per_second", "Loads that reached the last-level cache."},
    {"pmu_llc_load_misses_total", "pmu_llc_load_misses_per_second",
     "Loads that missed the last-level cache."},
    {"pmu_llc_stores_total", "pmu_llc_stores_per_second", "Stores that reached the last-level cache."},
    {"pmu_llc_store_misses_total", "pmu_llc_store_misses_per_second",
     "Stores that missed the last-level cache."},
    {"pmu_llc_prefetches_total", "pmu_llc_prefetches_per_second", "Prefetches of the last-level cache."},
    {"pmu_llc_prefetch_misses_total", "pmu_llc_prefetch_misses_per_second",
     "Prefetches that missed the last-level cache."},
    {"pmu_dtlb_loads_total", "pmu_dtlb_loads_per_second", "Loads translated by the data TLB."},
    {"pmu_dtlb_load_misses_total", "pmu_dtlb_load_misses_per_second", "Loads that missed the data TLB."},
    {"pmu_dtlb_stores_total", "pmu_dtlb_stores_per_second", "Stores translated by the data TLB."},
    {"pmu_dtlb_store_misses_total", "pmu_dtlb_store_misses_per_second", "Stores that missed the data TLB."},
    {"pmu_dtlb_prefetches_total", "pmu_dtlb_prefetches_per_second", "Prefetches translated by the data TLB."},
    {"pmu_dtlb_prefetch_misses_total", "pmu_dtlb_prefetch_misses_per_second",
     "Prefetches that missed the data TLB."},
    {"pmu_itlb_loads_total", "pmu_itlb_loads_per_second", "Fetches translated by the instruction TLB."},
    {"pmu_itlb_load_misses_total", "pmu_itlb_load_misses_per_second",
     "Fetches that missed the instruction TLB."},
    {"pmu_branch_loads_total", "pmu_branch_loads_per_second", "Look-ups in the branch predictor."},
    {"pmu_branch_load_misses_total", "pmu_branch_load_misses_per_second", "Misses of the branch predictor."},
    {"pmu_context_switches_total", "pmu_context_switches_per_second",
     "Context switches since the agent started."},
    {"pmu_cpu_migrations_total", "pmu_cpu_migrations_per_second", "Tasks that were moved to another CPU."},
    {"pmu_page_faults_total", "pmu_page_faults_per_second", "Page faults, minor and major."},
    {"pmu_minor_faults_total", "pmu_minor_faults_per_second", "Page faults that needed no disk."},
    {"pmu_major_faults_total", "pmu_major_faults_per_second", "Page faults that needed the disk."},
    {"pmu_alignment_faults_total", "pmu_alignment_faults_per_second",
     "Accesses to unaligned memory that the kernel had to mend (never on x86)."},
    {"pmu_emulation_faults_total", "pmu_emulation_faults_per_second",
     "Instructions that the kernel had to emulate."},
};

/// Pairs of the same kind, counted for the cgroup of a pod.
inline constexpr pmu_pair pmu_pod_pairs[] = {
    {"pmu_pod_cycles_total", "pmu_pod_cycles_per_second", "Cycles in which a CPU ran a pod."},
    {"pmu_pod_instructions_total", "pmu_pod_instructions_per_second", "Instructions retired for a pod."},
    {"pmu_pod_cache_misses_total", "pmu_pod_cache_misses_per_second",
     "Misses of the last-level cache (Intel; of the L2 cache on AMD Zen) by a pod."},
    {"pmu_pod_context_switches_total", "pmu_pod_context_switches_per_second", "Context switches of a pod."},
    {"pmu_pod_page_faults_total", "pmu_pod_page_faults_per_second", "Page faults of a pod."},
};

template <std::size_t N>
consteval std::array<family, 2 * N> pmu_families(const pmu_pair (&pairs)[N],
                                                 std::span<const std::string_view> labels, bool per_cpu) {
  std::array<family, 2 * N> all{};
  auto next = all.begin();
  for (const pmu_pair& p : pairs) {
    *next++ = {.name = p.total,
               .type = kind::counter,
               .help = p.help,
               .labels = labels,
               .rule = node_rule::sum,
               .source = "pmu",
               .privilege = pmu_privilege,
               .per_cpu = per_cpu};
    *next++ = {.name = p.rate,
               .unit = "per_second",
               .help = "Rise of the counter of the same name with _total, per second since the last read.",
               .labels = labels,
               .rule = node_rule::sum,
               .source = "pmu",
               .privilege = pmu_privilege,
               .integral = {p.total},
               .per_cpu = per_cpu};
  }
  return all;
}

inline constexpr auto pmu_events = pmu_families(pmu_pairs, pmu_cpu, true);
inline constexpr auto pmu_pods = pmu_families(pmu_pod_pairs, pmu_pod, false);

inline constexpr member pmu_instruction_rate[] = {{"pmu_instructions_per_second"}};
inline constexpr member pmu_cycle_rate[] = {{"pmu_cycles_per_second"}};
inline constexpr member pmu_miss_rate[] = {{"pmu_cache_misses_per_second"}};
inline constexpr member pmu_reference_rate[] = {{"pmu_cache_references_per_second"}};
inline constexpr member pmu_pod_instruction_rate[] = {{"pmu_pod_instructions_per_second"}};
inline constexpr member pmu_pod_cycle_rate[] = {{"pmu_pod_cycles_per_second"}};

inline constexpr family pmu[] = {
    {.name = "pmu_instructions_per_cycle",
     .unit = "",
     .exponent = -4,
     .help = "Instructions for each cycle since the last read: low means that CPUs wait for memory.",
     .labels = pmu_cpu,
     .rule = node_rule::ratio_of_sums,
     .members = pmu_instruction_rate,
     .denominator = pmu_cycle_rate,
     .source = "pmu",
     .privilege = pmu_privilege,
     .per_cpu = true},
    {.name = "pmu_llc_miss_ratio",
     .unit = "ratio",
     .exponent = -4,
     .help = "Share of cache references since the last read that missed. pmu_cache_references_total "
             "says which cache these events count.",
     .labels = pmu_cpu,
     .rule = node_rule::ratio_of_sums,
     .members = pmu_miss_rate,
     .denominator = pmu_reference_rate,
     .source = "pmu",
     .privilege = pmu_privilege,
     .per_cpu = true,
     .plausible = {{0, 10, 1}}},
    {.name = "pmu_running_ratio",
     .unit = "ratio",
     .exponent = -4,
     .help = "Share of the time since the last read in which an event was on the PMU. Below 1 the "
             "events take turns, and counts are estimates.",
     .labels = pmu_event,
     .rule = node_rule::min,
     .source = "pmu",
     .privilege = pmu_privilege},
    {.name = "pmu_event_total",
     .type = kind::counter,
     .help = "Counts of an event that the configuration names (pmu-events), on all its CPUs.",
     .labels = pmu_event,
     .rule = node_rule::sole,
     .source = "pmu",
     .privilege = pmu_privilege},
    {.name = "pmu_event_per_second",
     .unit = "per_second",
     .help = "Rise of the counter of the same name with _total, per second since the last read.",
     .labels = pmu_event,
     .rule = node_rule::sole,
     .source = "pmu",
     .privilege = pmu_privilege,
     .integral = {"pmu_event_total"}},
    {.name = "pmu_memory_bandwidth_bytes_total",
     .unit = "bytes",
     .type = kind::counter,
     .help = "Bytes that the memory controllers moved since the agent started, by direction (read, write).",
     .labels = pmu_direction,
     .rule = node_rule::sum,
     .source = "pmu",
     .privilege = pmu_privilege},
    {.name = "pmu_memory_bandwidth_bytes_per_second",
     .unit = "bytes_per_second",
     .help = "Bytes that the memory controllers moved for each second since the last read.",
     .labels = pmu_direction,
     .rule = node_rule::sum,
     .source = "pmu",
     .privilege = pmu_privilege,
     .integral = {"pmu_memory_bandwidth_bytes_total"}},
    {.name = "pmu_cpu_clock_seconds_total",
     .unit = "seconds",
     .type = kind::counter,
     .exponent = -3,
     .help = "Time of all CPUs, idle or not.",
     .labels = pmu_cpu,
     .rule = node_rule::sum,
     .source = "pmu",
     .privilege = pmu_privilege,
     .per_cpu = true},
    {.name = "pmu_task_clock_seconds_total",
     .unit = "seconds",
     .type = kind::counter,
     .exponent = -3,
     .help = "Time of all CPUs, as the kernel's task clock counts it system-wide.",
     .labels = pmu_cpu,
     .rule = node_rule::sum,
     .source = "pmu",
     .privilege = pmu_privilege,
     .per_cpu = true},
    {.name = "pmu_pod_instructions_per_cycle",
     .unit = "",
     .exponent = -4,
     .help = "Instructions for each cycle of a pod since the last read.",
     .labels = pmu_pod,
     .rule = node_rule::ratio_of_sums,
     .members = pmu_pod_instruction_rate,
     .denominator = pmu_pod_cycle_rate,
     .source = "pmu",
     .privilege = pmu_privilege},
};

}  // namespace binnacle::metrics::tables
