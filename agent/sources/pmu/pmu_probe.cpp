// What --probe says of the PMU. Opens each kind of event once, on one CPU.
#include "agent/kernel/cpu_list.hpp"
#include "agent/sources/pmu/pmu.hpp"
#include "common/text/first_few.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_shown = 8;

struct kind_of_events {
  std::string what;
  std::vector<std::string> names;
  std::map<int, std::vector<std::string>> refused;  // by errno
};

void add_findings(const kind_of_events& kind, const std::string& proc_root, std::vector<finding>& found) {
  if (!kind.names.empty()) {
    found.push_back({finding::grade::works,
                     fmt::format("{} ({})", kind.what, first_few(kind.names, most_shown)),
                     {},
                     {}});
  }
  for (const auto& [error_number, names] : kind.refused) {
    auto refusal = why_refused(error_number, proc_root);
    const bool absent = refusal.code == errc::unsupported;
    if (absent && !kind.names.empty()) {
      refusal = {errc::unsupported, "this CPU counts no such thing", "do without them"};
    }
    found.push_back({absent ? finding::grade::absent : finding::grade::broken,
                     fmt::format("{} ({})", kind.what, first_few(names, most_shown)), refusal.why,
                     refusal.remedy});
  }
}

}  // namespace

std::vector<finding> pmu_source::probe() {
  std::vector<finding> found;
  const auto online = online_cpus(options_.sys_root);
  if (!online || online->empty()) {
    return {{finding::grade::broken, "events counted by the kernel and the CPUs",
             options_.sys_root + "/devices/system/cpu/online cannot be read", "check sys-root"}};
  }
  const event_finder finder(find_pmu_devices(options_.sys_root));
  const auto list = list_events(options_.wishes, finder);

  kind_of_events software{"software events", {}, {}};
  kind_of_events hardware{"counters of the CPUs", {}, {}};
  kind_of_events more{"events of pmu-events", {}, {}};
  kind_of_events memory{"memory bandwidth", {}, {}};
  for (std::size_t i = 0; i < list.events.size(); ++i) {
    const auto& e = list.events[i];
    auto plan = plan_groups({&e.places, 1}, 0);
    for (auto& g : plan) g.cpus = {g.cpus && !g.cpus->empty() ? g.cpus->front() : online->front()};
    counter_set counters(open_);
    counters.open(plan, *online, plan.size());
    const bool is_memory = e.total == "pmu_memory_bandwidth_bytes_total";
    auto& kind = is_memory ? memory : !e.named ? more : e.software() ? software : hardware;
    const auto name =
        is_memory ? fmt::format("{} on {} PMUs", e.labels.front().second, e.places.size()) : e.name;
    if (counters.refused().empty()) {
      kind.names.push_back(name);
    } else {
      kind.refused[counters.refused().begin()->second].push_back(name);
    }
  }
  for (const auto* kind : {&software, &hardware, &more, &memory})
    add_findings(*kind, options_.proc_root, found);
  if (options_.wishes.preset != event_preset::none && memory.names.empty() && memory.refused.empty()) {
    found.push_back({finding::grade::absent, memory.what,
                     "no memory controller is a PMU here (uncore_imc, amd_umc)",
                     "on a bare machine load intel_uncore or amd_uncore; AMD has it from Zen 4 on"});
  }
  for (const auto& problem : list.problems)
    found.push_back(
        {finding::grade::broken, "an event of pmu-events", problem, "correct it there, or take it out"});
  if (found.empty()) {
    found.push_back({finding::grade::absent, "events", "pmu-preset is none and pmu-events is empty",
                     "set one of them, or take pmu out of sources"});
  }
  return found;
}

}  // namespace binnacle::agent
