// What --probe says of RAPL: reads each zone once, by powercap or by the perf PMU.
#include "agent/sources/power_rules.hpp"
#include "agent/sources/rapl/no_energy.hpp"
#include "agent/sources/rapl/rapl.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
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

// By the first door that gives energy.
looked_at look_at(const rapl_zone& z, const std::vector<power_event>& events, const perf_opener& open) {
  const auto* e = find_event(events, z);
  if (z.folder.empty()) return at_perf(*e, open, must_move(z));
  const auto files = std::make_shared<zone_files>(z.folder);
  const auto read = [files] { return files->energy_uj(0, 0); };
  looked_at by_files{read, read(), must_move(z)};
  if (by_files.first.reason == absence::none || e == nullptr) return by_files;
  auto by_perf = at_perf(*e, open, must_move(z));
  return by_perf.first.reason == absence::none ? by_perf : by_files;
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

void add_refused(const power_pmu& by_perf, bool beside_powercap, std::vector<finding>& found) {
  std::string remedy = "report it to the kernel's or the hypervisor's makers";
  if (beside_powercap) remedy += "; powercap has the same counters";
  for (const auto& p : by_perf.problems)
    found.push_back({finding::grade::broken, "the perf PMU power", p, remedy});
}

// Why a part is not in powercap, if the perf PMU shows it.
rapl_absence why_not_in_powercap(const result<rapl_tree>& tree, const std::string& sys_root) {
  if (tree)
    return {errc::unsupported, "powercap does not show it", "load the driver (modprobe intel_rapl_msr)"};
  if (tree.error().code == errc::io) return {errc::io, tree.error().message, reload_remedy};
  return why_no_rapl(sys_root);
}

finding of_event(const rapl_zone& z, const looked_at& c, const rapl_absence& not_in_powercap,
                 const std::string& proc_root) {
  const int failed = c.first.error_number;
  const auto what = full_name(z) + energy_by_perf;
  if (failed != 0) {
    const auto refusal = why_refused(failed, proc_root);
    return {finding::grade::broken, what, fmt::format("{}; {}", not_in_powercap.why, refusal.why),
            fmt::format("{}; or else {}", not_in_powercap.remedy, refusal.remedy)};
  }
  if (c.is_dead()) return dead(what);
  if (z.is_package()) {
    return {finding::grade::limited, what, fmt::format("no limits and no headroom: {}", not_in_powercap.why),
            not_in_powercap.remedy};
  }
  return {finding::grade::works, what, {}, {}};
}

finding of_zone(const rapl_zone& z, const looked_at& c, const std::optional<double>& tdp,
                const std::string& if_closed) {
  auto what = full_name(z);
  for (const auto& one : z.constraints) {
    const auto limit = constraint_files(z.folder, one.index).power_limit_uw();
    if (z.is_package() && limit.reason == absence::none) {
      what += fmt::format(", {} {:g} W", one.name, to_watts(limit.value));
    }
  }
  if (c.by_perf) what += energy_by_perf;
  const auto& n = c.first;
  if (n.reason == absence::permission) return {finding::grade::broken, what, why_energy_is_closed, if_closed};
  if (n.reason != absence::none) {
    return {finding::grade::broken, what,
            fmt::format("{}/energy_uj: {}", z.folder,
                        n.reason == absence::malformed ? "not a number" : describe(n.error_number)),
            reload_remedy};
  }
  if (c.is_dead()) return dead(what);
  if (z.is_package() && !tdp) {
    return {finding::grade::limited, what, "the kernel does not say its TDP (usual on AMD)",
            "set rapl-tdp to the watts of one package; without it there is no utilization"};
  }
  if (z.is_package()) what += fmt::format(", TDP {:g} W", *tdp);
  return {finding::grade::works, what, {}, {}};
}

}  // namespace

std::vector<finding> rapl_source::probe() {
  const auto tree = find_rapl_zones(options_.sys_root, options_.proc_root);
  const auto by_perf = find_power_pmu(options_.sys_root, options_.proc_root);
  const auto not_in_powercap = why_not_in_powercap(tree, options_.sys_root);
  auto zones = tree ? tree->zones : std::vector<rapl_zone>();
  add_missing(zones, zones_of(by_perf.events));
  std::vector<finding> found;
  if (zones.empty()) {
    const auto grade =
        not_in_powercap.code == errc::unsupported ? finding::grade::absent : finding::grade::broken;
    found.push_back({grade, "power of the CPU packages (RAPL)", not_in_powercap.why, not_in_powercap.remedy});
  }
  std::vector<looked_at> counters;
  for (const auto& z : zones) counters.push_back(look_at(z, by_perf.events, open_));
  look_for_moves(counters, options_.pause);
  const auto if_closed = closed_energy_remedy(by_perf, options_.proc_root);
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const auto& z = zones[i];
    found.push_back(z.folder.empty() ? of_event(z, counters[i], not_in_powercap, options_.proc_root)
                                     : of_zone(z, counters[i], tdp_of(z), if_closed));
  }
  for (const auto& p : tree ? tree->problems : std::vector<std::string>())
    found.push_back({finding::grade::broken, "a zone", p, "reload the driver intel_rapl_msr"});
  add_refused(by_perf, tree.has_value(), found);
  return found;
}

}  // namespace binnacle::agent
