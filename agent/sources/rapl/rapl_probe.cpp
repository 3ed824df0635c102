// What --probe says of RAPL: each zone read once, by powercap or by the perf PMU.
#include "agent/sources/rapl/rapl.hpp"
#include "common/os_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::agent {
namespace {

constexpr const char* reload = "reload the driver: modprobe -r and modprobe intel_rapl_msr";

std::string shown(const rapl_zone& z) {
  return z.package.empty() || z.is_package() ? z.name : fmt::format("package-{} {}", z.package, z.name);
}

}  // namespace

std::vector<finding> rapl_source::probe() {
  const auto tree = find_rapl_zones(options_.sys_root);
  const auto events = find_power_events(options_.sys_root);
  if (!tree) {
    constexpr const char* what = "power of the CPU packages (RAPL)";
    auto none = why_no_rapl(options_.sys_root);
    if (tree.error().code == errc::io) none = {errc::io, tree.error().message, reload};
    if (!events.empty()) return probe_events(events, none);
    const auto grade = none.code == errc::unsupported ? finding::grade::absent : finding::grade::broken;
    return {{grade, what, std::move(none.why), std::move(none.remedy)}};
  }
  std::vector<finding> found;
  for (const auto& z : tree->zones) {
    auto what = shown(z);
    for (const auto& c : z.constraints) {
      const auto limit = constraint_files(z.folder, c.index).power_limit_uw();
      if (z.is_package() && limit.reason == wire::absence::none) {
        what += fmt::format(", {} {:g} W", c.name, to_watts(limit.value));
      }
    }
    auto n = zone_files(z.folder).energy_uj(0, 0);
    if (const auto* e = find_event(events, z); n.reason != wire::absence::none && e != nullptr) {
      if (power_counter(*e, open_).error_number() == 0) {
        n = {};
        what += ", energy by the perf PMU power";
      }
    }
    const auto tdp = tdp_of(z);
    if (n.reason == wire::absence::permission) {
      found.push_back({finding::grade::broken, what,
                       "energy_uj is readable by root only since Linux 5.10 (CVE-2020-8694)",
                       events.empty()
                           ? "run the agent as root or grant it CAP_DAC_READ_SEARCH"
                           : "run the agent as root or grant it CAP_PERFMON (the perf PMU power has "
                             "the same counters) or CAP_DAC_READ_SEARCH"});
    } else if (n.reason != wire::absence::none) {
      found.push_back(
          {finding::grade::broken, what,
           fmt::format("{}/energy_uj: {}", z.folder,
                       n.reason == wire::absence::malformed ? "not a number" : describe(n.error_number)),
           reload});
    } else if (z.is_package() && !tdp) {
      found.push_back({finding::grade::limited, what, "the kernel does not say its TDP (usual on AMD)",
                       "set rapl-tdp to the watts of one package, or do without utilization"});
    } else {
      found.push_back({finding::grade::works,
                       tdp && z.is_package() ? fmt::format("{}, TDP {:g} W", what, *tdp) : what,
                       {},
                       {}});
    }
  }
  for (const auto& p : tree->problems)
    found.push_back({finding::grade::broken, "a zone", p, "reload the driver intel_rapl_msr"});
  return found;
}

std::vector<finding> rapl_source::probe_events(const std::vector<power_event>& events,
                                               const rapl_absence& no_tree) {
  std::vector<finding> found;
  for (const auto& z : zones_of(events)) {
    const int failed = power_counter(*find_event(events, z), open_).error_number();
    const auto what = shown(z) + ", energy by the perf PMU power";
    if (failed != 0) {
      const auto refusal = why_refused(failed, options_.proc_root);
      found.push_back({finding::grade::broken, what, fmt::format("{}; {}", no_tree.why, refusal.why),
                       fmt::format("{}; or else {}", no_tree.remedy, refusal.remedy)});
    } else if (z.is_package()) {
      found.push_back({finding::grade::limited, what,
                       fmt::format("no limits and no headroom: {}", no_tree.why), no_tree.remedy});
    } else {
      found.push_back({finding::grade::works, what, {}, {}});
    }
  }
  return found;
}

}  // namespace binnacle::agent
