#include "agent/sources/rapl/rapl_kind.hpp"

#include "agent/kernel/perf_event.hpp"
#include "agent/sources/rapl/power_pmu.hpp"
#include "agent/sources/rapl/rapl_zones.hpp"
#include "common/system/descriptor.hpp"

#include <cerrno>
#include <chrono>
#include <linux/capability.h>
#include <string>
#include <vector>

namespace binnacle::agent {

void rapl_kind::bind(config_spec& spec) {
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  spec.group("rapl: power and energy of CPU packages");
  add_period(spec, name(), period_, minutes(1));
  spec.add("rapl-least-period", least_period_, milliseconds(50), minutes(1),
           "shortest period an aggregator may ask of rapl");
  spec.add(
      "rapl-still-after", still_after_, std::chrono::seconds(2), std::chrono::hours(1),
      "an energy counter of a package, of memory or of psys that has not moved for this long counts as dead");
  spec.add("rapl-tdp", tdp_watts_, 0, 10'000,
           "TDP of one package in watts, in place of what the kernel says; 0: what the kernel says");
}

void rapl_kind::add_needs(const settings& s, source_needs& needs) const {
  // It is enough to try one zone's file: the driver gives all of them the same mode.
  const auto tree = find_rapl_zones(s.sys_root, s.proc_root);
  const auto energy = tree ? tree->zones.front().folder + "/energy_uj" : std::string();
  const bool closed = !tree || (!open_readonly(energy) && errno == EACCES);
  const bool may_count =
      (needs.owned & one_capability(CAP_PERFMON)) != 0 && (!tree || perfmon_suffices(s.proc_root));
  const auto events = find_power_pmu(s.sys_root, s.proc_root).events;
  auto zones = tree ? tree->zones : std::vector<rapl_zone>();
  const auto in_powercap = zones.size();
  add_missing(zones, zones_of(events));
  // Prefer CAP_PERFMON to CAP_DAC_READ_SEARCH, because it opens no other file of the node.
  const bool instead = may_count && tree && closed && find_event(events, tree->zones.front()) != nullptr;
  const bool beside = may_count && zones.size() > in_powercap;
  if (instead || beside) needs.capabilities.push_back({CAP_PERFMON, "rapl (the perf PMU power)"});
  if (tree && !instead) needs.files.push_back(energy);
}

rapl_options rapl_kind::options(const settings& s) const {
  rapl_options o;
  o.sys_root = s.sys_root;
  o.proc_root = s.proc_root;
  o.period = s.period_of(period_);
  o.least_period = least_period_;
  o.still_after = still_after_;
  o.tdp_watts = tdp_watts_;
  return o;
}

std::unique_ptr<source> rapl_kind::make(const settings& s, const source_parts& /*with*/) const {
  return std::make_unique<rapl_source>(options(s));
}

}  // namespace binnacle::agent
