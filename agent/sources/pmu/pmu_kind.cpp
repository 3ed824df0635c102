#include "agent/sources/pmu/pmu_kind.hpp"

#include <chrono>
#include <linux/capability.h>

namespace binnacle::agent {

void pmu_kind::bind(config_spec& spec) {
  spec.group("pmu: what CPUs and memory controllers count");
  add_period(spec, name(), period_);
  spec.add_choice<event_preset>(
      "pmu-preset", wishes_.preset,
      {{"default", event_preset::lean}, {"collectd", event_preset::collectd}, {"none", event_preset::none}},
      "which events are counted: a small set, the 42 of collectd's intel_pmu, or only pmu-events");
  spec.add("pmu-events", wishes_.events,
           "more events: instructions, r01c2, cpu/event=0xc2,umask=0x01/, uncore_imc/cas_count_read/ or "
           "libpfm4's INST_RETIRED:ANY_P");
  spec.add("pmu-per-cpu", per_cpu_, "give a series for each CPU instead of the machine's sum");
}

void pmu_kind::add_needs(const settings& /*s*/, source_needs& needs) const {
  needs.capabilities.push_back({CAP_PERFMON, "pmu"});
}

pmu_options pmu_kind::options(const settings& s) const {
  pmu_options o;
  o.sys_root = s.sys_root;
  o.proc_root = s.proc_root;
  o.period = s.period_of(period_);
  o.wishes = wishes_;
  o.per_cpu = per_cpu_;
  return o;
}

std::unique_ptr<source> pmu_kind::make(const settings& s, const source_parts& /*with*/) const {
  return std::make_unique<pmu_source>(options(s));
}

void pod_kind::bind(config_spec& spec) {
  spec.add("pmu-pods", on_, "also count for each pod, by its cgroup");
  spec.add("pmu-pods-period", period_, std::chrono::seconds(1), std::chrono::hours(1),
           "time between two reads of the pods' counters");
  spec.add("pmu-most-pods", most_pods_, 1, 1000, "number of pods that are counted, at most");
}

void pod_kind::add_needs(const settings& s, source_needs& needs) const {
  if (!s.reads("pmu")) needs.capabilities.push_back({CAP_PERFMON, "pmu-pods"});
}

pod_options pod_kind::options(const settings& s) const {
  pod_options o;
  o.sys_root = s.sys_root;
  o.proc_root = s.proc_root;
  o.period = period_;
  o.most_pods = static_cast<std::size_t>(most_pods_);
  return o;
}

std::unique_ptr<source> pod_kind::make(const settings& s, const source_parts& /*with*/) const {
  return std::make_unique<pod_source>(options(s));
}

}  // namespace binnacle::agent
