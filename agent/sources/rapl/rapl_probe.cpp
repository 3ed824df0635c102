// What --probe says of RAPL: reads each zone once, by powercap or by the perf PMU.
#include "agent/sources/power_rules.hpp"
#include "agent/sources/rapl/no_energy.hpp"
#include "agent/sources/rapl/rapl.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace binnacle::agent {
namespace {

// A live counter moves within milliseconds, so looks are this close together. Only a dead counter takes the
// full second.
constexpr duration between_looks = std::chrono::milliseconds(20);
constexpr int most_looks = 50;
constexpr const char* energy_by_perf = ", energy by the perf PMU power";

/// A zone's counter at the first look.
struct looked_at {
  std::function<powercap_number()> read;
  powercap_number first;
  bool must_move = false;
  bool by_perf = false;
  bool moved = false;

  bool is_dead() const { return must_move && !moved && first.reason == absence::none; }
};

bool must_move(const rapl_zone& z) { return rule_of(z.zone).must_move; }

looked_at at_perf(const power_event& e, const perf_opener& open, bool must_move) {
  auto counter = std::make_shared<power_counter>(e, open);
  const auto read = [counter] { return counter->energy_uj(); };
  return {read, read(), must_move, true};
}

// Looks again until every counter that must move has moved, for at most a second.
void look_for_moves(std::vector<looked_at>& counters, const std::function<void(duration)>& pause) {
  for (int look = 0; look < most_looks && std::ranges::any_of(counters, &looked_at::is_dead); ++look) {
    pause(between_looks);
    for (auto& c : counters) {
      if (!c.is_dead()) continue;
      const auto now = c.read();
      c.moved = now.reason == absence::none && now.value != c.first.value;
    }
  }
}

finding dead(std::string what) {
  return {finding::grade::broken, std::move(what),
          fmt::format("its energy did not move within {} s: {}",
                      std::chrono::duration_cast<std::chrono::seconds>(between_looks * most_looks).count(),
                      why_counters_are_dead),
          dead_counter_remedy};
}

void add_refused(const power_pmu& by_perf, std::vector<finding>& found) {
  for (const auto& p : by_perf.problems)
    found.push_back({finding::grade::broken, "an event of the perf PMU power", p,
                     "report it to the kernel's or the hypervisor's makers; powercap has the same counters"});
}

}  // namespace

std::vector<finding> rapl_source::probe() {
  const auto tree = find_rapl_zones(options_.sys_root);
  const auto by_perf = find_power_pmu(options_.sys_root);
  const auto& events = by_perf.events;
  if (!tree) {
    constexpr const char* what = "power of the CPU packages (RAPL)";
    auto none = why_no_rapl(options_.sys_root);
    if (tree.error().code == errc::io) none = {errc::io, tree.error().message, reload_remedy};
    if (!events.empty()) return probe_events(by_perf, none);
    const auto grade = none.code == errc::unsupported ? finding::grade::absent : finding::grade::broken;
    std::vector<finding> found{{grade, what, std::move(none.why), std::move(none.remedy)}};
    add_refused(by_perf, found);
    return found;
  }
  std::vector<looked_at> counters;
  for (const auto& z : tree->zones) {
    auto files = std::make_shared<zone_files>(z.folder);
    looked_at c{[files] { return files->energy_uj(0, 0); }, files->energy_uj(0, 0), must_move(z)};
    if (const auto* e = find_event(events, z); c.first.reason != absence::none && e != nullptr) {
      if (auto other = at_perf(*e, open_, must_move(z)); other.first.reason == absence::none)
        c = std::move(other);
    }
    counters.push_back(std::move(c));
  }
  look_for_moves(counters, options_.pause);
  std::vector<finding> found;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const auto& z = tree->zones[i];
    const auto& c = counters[i];
    auto what = full_name(z);
    for (const auto& one : z.constraints) {
      const auto limit = constraint_files(z.folder, one.index).power_limit_uw();
      if (z.is_package() && limit.reason == absence::none) {
        what += fmt::format(", {} {:g} W", one.name, to_watts(limit.value));
      }
    }
    const auto& n = c.first;
    if (c.by_perf) what += energy_by_perf;
    const auto tdp = tdp_of(z);
    if (n.reason == absence::permission) {
      found.push_back({finding::grade::broken, what, why_energy_is_closed,
                       closed_energy_remedy(by_perf, options_.proc_root)});
    } else if (n.reason != absence::none) {
      found.push_back(
          {finding::grade::broken, what,
           fmt::format("{}/energy_uj: {}", z.folder,
                       n.reason == absence::malformed ? "not a number" : describe(n.error_number)),
           reload_remedy});
    } else if (c.is_dead()) {
      found.push_back(dead(what));
    } else if (z.is_package() && !tdp) {
      found.push_back({finding::grade::limited, what, "the kernel does not say its TDP (usual on AMD)",
                       "set rapl-tdp to the watts of one package; without it there is no utilization"});
    } else {
      found.push_back({finding::grade::works,
                       tdp && z.is_package() ? fmt::format("{}, TDP {:g} W", what, *tdp) : what,
                       {},
                       {}});
    }
  }
  for (const auto& p : tree->problems)
    found.push_back({finding::grade::broken, "a zone", p, "reload the driver intel_rapl_msr"});
  add_refused(by_perf, found);
  return found;
}

std::vector<finding> rapl_source::probe_events(const power_pmu& by_perf, const rapl_absence& no_tree) {
  const auto& events = by_perf.events;
  const auto zones = zones_of(events);
  std::vector<looked_at> counters;
  for (const auto& z : zones) counters.push_back(at_perf(*find_event(events, z), open_, must_move(z)));
  look_for_moves(counters, options_.pause);
  std::vector<finding> found;
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const auto& z = zones[i];
    const int failed = counters[i].first.error_number;
    const auto what = full_name(z) + energy_by_perf;
    if (failed != 0) {
      const auto refusal = why_refused(failed, options_.proc_root);
      found.push_back({finding::grade::broken, what, fmt::format("{}; {}", no_tree.why, refusal.why),
                       fmt::format("{}; or else {}", no_tree.remedy, refusal.remedy)});
    } else if (counters[i].is_dead()) {
      found.push_back(dead(what));
    } else if (z.is_package()) {
      found.push_back({finding::grade::limited, what,
                       fmt::format("no limits and no headroom: {}", no_tree.why), no_tree.remedy});
    } else {
      found.push_back({finding::grade::works, what, {}, {}});
    }
  }
  add_refused(by_perf, found);
  return found;
}

}  // namespace binnacle::agent
