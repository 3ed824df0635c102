#include "agent/sources/rapl/rapl.hpp"

#include "agent/base/problem_summary.hpp"
#include "agent/kernel/absence_of.hpp"
#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/cpu_topology.hpp"
#include "agent/sources/power_rules.hpp"
#include "agent/sources/rapl/no_energy.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

namespace binnacle::agent {
namespace {

// More watts than these bounds mean that the counter was reset. Four times the TDP is more than any turbo or
// PL4 spike of a second. Where the TDP is unknown, the bound is more than today's largest parts draw. Larger
// bounds would turn short pauses into gaps, because a counter of 262 kJ could then have wrapped unnoticed.
constexpr double tdp_factor = 4;
constexpr double most_package_watts = 1500;
// A notebook's part of 15 W TDP may draw more than 60 W for seconds.
constexpr double least_bound_watts = 150;
constexpr double most_part_watts = 400;
// No CPU with RAPL has a TDP of less, and none one of more than most_watts_of_processors.
constexpr double least_tdp_watts = 1;
// Of the setting rapl-period; readings that are closer count as one, too.
constexpr double least_period_ms = 20;
// A machine with less has no accelerators of kilowatts, and its idle 5 to 20 W in nJ are to be noticed.
constexpr double least_tdp_of_a_server = 100;

metrics::label_set zone_labels(const rapl_zone& z) {
  metrics::label_set labels{{"zone", z.zone}};
  if (!z.package.empty()) labels.emplace_back("package", z.package);
  return labels;
}

// What the kernel says of the zone's TDP.
std::optional<double> said_tdp(const rapl_zone& z) {
  for (const auto& c : z.constraints) {
    if (c.name != "long_term") continue;
    const auto most = constraint_files(z.folder, c.index).max_power_uw();
    if (most.reason == absence::none && most.value > 0) return to_watts(most.value);
  }
  return std::nullopt;
}

bool may_be_tdp(double watts) { return watts >= least_tdp_watts && watts <= most_watts_of_processors; }

}  // namespace

rapl_source::rapl_source(rapl_options options, clocks time, perf_opener open)
    : options_(std::move(options)), time_(std::move(time)), open_(std::move(open)) {}

rapl_source::metered_zone* rapl_source::find(const rapl_zone& z) {
  const auto it = std::find_if(zones_.begin(), zones_.end(), [&](const metered_zone& known) {
    return known.about.zone == z.zone && known.about.package == z.package;
  });
  return it == zones_.end() ? nullptr : &*it;
}

std::optional<double> rapl_source::tdp_of(const rapl_zone& z) const {
  if (z.is_package() && options_.tdp_watts > 0) return options_.tdp_watts;
  const auto said = said_tdp(z);
  return said && may_be_tdp(*said) ? said : std::nullopt;
}

// A TDP bounds the watts that are believed, so a wrong one would hide a good package for ever.
std::string rapl_source::why_no_tdp(const rapl_zone& z) const {
  const auto said = said_tdp(z);
  if (!z.is_package() || !said || may_be_tdp(*said) || options_.tdp_watts > 0) return {};
  return fmt::format(
      "the kernel says that {} has a TDP of {:g} W, which is not believed: without one there is no "
      "utilization; set rapl-tdp to the watts of one package",
      full_name(z), *said);
}

double rapl_source::most_watts(const rapl_zone& z, std::uint64_t range_uj) const {
  if (z.zone == "psys") {
    double packages = 0;
    for (const auto& known : zones_) packages += known.tdp_watts.value_or(0);
    // A counter of 262 kJ lasts for 13 s of such watts. Where it is read that seldom, the lower bound keeps
    // it from wrapping unnoticed.
    const double seconds = std::chrono::duration<double>(options_.period).count();
    const bool notebook = packages > 0 && packages < least_tdp_of_a_server;
    const bool outlasts =
        range_uj == 0 || static_cast<double>(range_uj) / 1e6 >= most_watts_of_platform * 4 * seconds;
    return std::max(outlasts && !notebook ? most_watts_of_platform : most_watts_of_processors,
                    tdp_factor * packages);
  }
  if (const auto own = tdp_of(z)) return std::max(least_bound_watts, tdp_factor * *own);
  if (z.is_package()) return most_package_watts;
  if (z.zone == "dram") return most_part_watts;
  // The power of cores and uncore is part of their package's, so the package's TDP bounds them.
  for (const auto& known : zones_) {
    if (known.about.is_package() && known.about.package == z.package && known.tdp_watts) {
      return std::max(least_bound_watts, tdp_factor * *known.tdp_watts);
    }
  }
  return most_package_watts;
}

// The CPUs that are online are shared out evenly among the packages, which is exact enough for such a bound.
void rapl_source::set_least_watts() {
  const double of_cpus = least_watts_per_cpu * static_cast<double>(count_cpus_online(options_.sys_root));
  const auto is_package = [](const metered_zone& z) { return z.about.is_package(); };
  const auto packages = static_cast<double>(std::ranges::count_if(zones_, is_package));
  const auto believe_from = [](metered_zone& z, double watts) {
    z.meter.set_least_watts(rule_of(z.about.zone).may_be_zero ? watts : std::max(watts, least_watts_shown));
    return watts;
  };
  double of_packages = 0;
  for (auto& z : zones_) {
    if (!z.about.is_package()) continue;
    of_packages +=
        believe_from(z, z.tdp_watts    ? std::min(*z.tdp_watts * least_share_of_tdp, least_watts_of_a_socket)
                        : packages > 1 ? std::max(of_cpus / packages, least_watts_of_a_socket)
                                       : of_cpus);
  }
  for (auto& z : zones_)
    if (z.about.zone == "psys") believe_from(z, std::max(of_cpus, of_packages));
}

result<void> rapl_source::discover(board& out) {
  auto tree = find_rapl_zones(options_.sys_root, options_.proc_root);
  const auto by_perf = find_power_pmu(options_.sys_root, options_.proc_root);
  const auto& events = by_perf.events;
  for (auto& known : zones_) known.files.reset();
  if (!tree && events.empty()) {
    for (auto& known : zones_) known.counter.reset();
    auto none = tree.error();
    for (const auto& p : by_perf.problems) none.message += "; " + p;
    return none;
  }
  // Each part comes from the first door that shows it: MMIO has only the package and perhaps its memory.
  auto zones = tree ? tree->zones : std::vector<rapl_zone>();
  add_missing(zones, zones_of(events));
  const auto left_out = tree ? leave_out_closed(zones, events) : std::string();
  group_ = out.add_group("rapl", "", options_.period, metrics::stale_after(options_.period));
  // Packages first, because the bounds of psys and of parts depend on the packages' TDPs.
  for (const auto& z : zones) {
    if (z.is_package()) adopt(z, events, out);
  }
  for (const auto& z : zones) {
    if (!z.is_package()) adopt(z, events, out);
  }
  adopt_unseen(events, out);
  adopt_other_psys(events, out);
  set_least_watts();
  problems_ = tree ? std::move(tree->problems) : std::vector<std::string>();
  const auto only_by_perf = [](const rapl_zone& z) { return z.folder.empty(); };
  const bool needs_perf = !left_out.empty() || std::ranges::any_of(zones, only_by_perf);
  if (!tree || needs_perf)  // otherwise nobody misses what the PMU refuses
    problems_.insert(problems_.end(), by_perf.problems.begin(), by_perf.problems.end());
  if_closed_ = closed_energy_remedy(by_perf, options_.proc_root);
  if (!left_out.empty()) problems_.push_back(left_out);
  for (const auto& z : zones_) {
    if (auto why = why_no_tdp(z.about); !why.empty()) problems_.push_back(std::move(why));
  }
  no_tree_ = tree ? std::string() : tree.error().message;
  return {};
}

// Leaves out new parts of powercap's packages that only the perf PMU shows and that it may not count.
// Announced as absent, such a memory would take the node's sum away, which is there without the PMU. Gives
// the sentence that says so.
std::string rapl_source::leave_out_closed(std::vector<rapl_zone>& zones,
                                          const std::vector<power_event>& events) {
  std::vector<std::string> names;
  int refused = 0;
  std::erase_if(zones, [&](const rapl_zone& z) {
    if (!z.folder.empty() || z.is_package() || find(z) != nullptr) return false;
    const auto* e = find_event(events, z);
    const int failed = e != nullptr ? power_counter(*e, open_).error_number() : 0;
    if (absence_of(failed) != absence::permission) return false;
    refused = failed;
    names.push_back(full_name(z));
    return true;
  });
  if (names.empty()) return {};
  const auto refusal = why_refused(refused, options_.proc_root);
  return fmt::format("powercap does not show {}, so no sum has it; the perf PMU power does not help, {}: {}",
                     fmt::join(names, ", "), refusal.why, refusal.remedy);
}

// Chooses where a zone's energy is read: from the powercap files if they give it, otherwise from the perf PMU
// if that gives it. The two count from different starts, so a change begins anew.
void rapl_source::choose_door(metered_zone& known, const std::vector<power_event>& events) {
  const bool by_counter = known.counter && known.counter->error_number() == 0;
  if (!by_counter) known.counter.reset();
  auto range = known.files ? known.files->max_energy_range_uj().value : 0;
  const bool readable = known.files && known.files->energy_uj(0, 0).reason == absence::none;
  if (readable) known.counter.reset();
  if (!readable && !by_counter) {
    if (const auto* e = find_event(events, known.about); e != nullptr) {
      known.counter.emplace(*e, open_);
      // If neither works, keep the files: they say better why there is no energy.
      if (known.files && known.counter->error_number() != 0) known.counter.reset();
    }
  }
  if (known.counter) range = known.counter->range_uj();
  if (known.counter.has_value() != by_counter) known.meter.interrupt();
  if (known.range_uj != range) {
    known.range_uj = range;
    known.meter.set_range(range, most_watts(known.about, range));
  }
}

void rapl_source::adopt(const rapl_zone& z, const std::vector<power_event>& events, board& out) {
  auto* known = find(z);
  if (known == nullptr) {
    const auto rule = rule_of(z.zone);
    zones_.push_back(
        {.about = z,
         .meter = energy_meter({0, most_watts(z, 0), rule.must_move ? options_.still_after : duration::zero(),
                                rule.step_joules})});
    known = &zones_.back();
  }
  known->about = z;
  if (!z.folder.empty()) known->files.emplace(z.folder);
  choose_door(*known, events);
  if (!known->idle) announce(*known, out);
  if (z.is_package()) announce_package(*known, out);
}

void rapl_source::announce(metered_zone& z, board& out) const {
  const auto labels = zone_labels(z.about);
  z.watts = z.about.is_package() ? out.add_series(group_, "rapl_power_watts", {{"package", z.about.package}})
                                 : out.add_series(group_, "rapl_zone_power_watts", labels);
  z.joules = out.add_series(group_, "rapl_energy_joules_total", labels);
}

// Three files for each CPU are many on a large machine. Where a CPU sits does not change, so they are read
// again only when other CPUs are online. Returns whether they were read.
bool rapl_source::find_dies_online() {
  auto online = online_cpus(options_.sys_root);
  if (online && online == online_) return false;
  online_ = std::move(online);
  dies_online_.clear();
  const auto cpus = find_cpus(options_.sys_root);
  for (const unsigned cpu : cpus ? *cpus : std::vector<unsigned>()) {
    const auto seat = seat_of(options_.sys_root, cpu);
    if (seat.package) dies_online_.emplace(*seat.package, seat.die.value_or("0"));
  }
  return true;
}

// The packages that have a CPU online, or their dies where packages are counted by dies. The labels are those
// that their zones would have. Empty if the kernel does not say where its CPUs sit.
std::set<std::string> rapl_source::packages_online(const std::set<std::string>& counted) const {
  constexpr std::string_view of_die = "-die-";
  const bool by_dies =
      std::ranges::any_of(counted, [&](const std::string& p) { return p.find(of_die) != p.npos; });
  std::set<std::string> online;
  for (const auto& [package, die] : dies_online_) {
    const bool whole = !by_dies || counted.contains(package);
    online.insert(whole ? package : fmt::format("{}{}{}", package, of_die, die));
  }
  return online;
}

// Announces what the machine has and no door shows: a package with a CPU online, and the memory of a package
// where the memory of others is counted. It is missing, and so is the node's sum, which would silently lack
// it. A socket without DIMMs has a counter that stays at 0, so the driver rightly leaves it out. The packages
// are compared by their number first: firmware may number them differently from the CPUs.
void rapl_source::adopt_unseen(const std::vector<power_event>& events, board& out) {
  std::set<std::string> packages, memories;
  for (const auto& known : zones_) {
    if (known.about.is_package()) packages.insert(known.about.package);
    if (known.about.zone == "dram") memories.insert(known.about.package);
  }
  for (auto& known : zones_) {
    const bool counts = known.counter && known.counter->error_number() == 0;
    if (known.about.folder.empty() && !counts) choose_door(known, events);
  }
  find_dies_online();  // also without a package: read() then sees when other CPUs are online
  if (packages.empty()) return;
  const auto online = packages_online(packages);
  if (online.size() > packages.size()) {
    for (const auto& p : online) {
      if (packages.insert(p).second) adopt(zone_without_folder("package", p), events, out);
    }
  }
  if (memories.empty() || std::ranges::includes(memories, packages)) return;
  const auto without_memory = packages_without_memory(options_.sys_root);
  for (const auto& p : packages) {
    const bool has_memory = !without_memory.contains(std::string(socket_of(p)));
    if (has_memory && !memories.contains(p)) adopt(zone_without_folder("dram", p), events, out);
  }
}

// Only one package counts the platform, and it need not be the first one. So where the first one's counter is
// dead, those of the others are tried. But not in a guest, where no counter counts and each CPU may be a
// package.
void rapl_source::adopt_other_psys(const std::vector<power_event>& events, board& out) {
  const auto* first = find(zone_without_folder("psys", ""));
  if (first == nullptr || first->meter.reason() != absence::never_moved) return;
  const auto counts = [](const metered_zone& z) {
    return z.about.is_package() && z.meter.reason() == absence::none;
  };
  if (std::ranges::none_of(zones_, counts)) return;
  for (const auto& e : events) {
    const auto z = zone_without_folder(e.zone, e.package);
    if (e.zone == "psys" && find(z) == nullptr) adopt(z, events, out);
  }
}

void rapl_source::announce_package(metered_zone& z, board& out) {
  const metrics::label_set labels{{"package", z.about.package}};
  z.tdp_watts = tdp_of(z.about);
  const auto tdp = out.add_series(group_, "rapl_tdp_watts", labels);
  if (z.tdp_watts) {
    out.set(tdp, *z.tdp_watts);
  } else {
    out.set_absent(tdp, absence::no_data);
  }
  z.headroom = out.add_series(group_, "rapl_headroom_ratio", labels);
  z.utilization = out.add_series(group_, "rapl_tdp_utilization_ratio", labels);
  // A limit that this door does not show (any more) must not stay with its last watts.
  for (const auto& l : z.limits) {
    if (!std::ranges::count(z.about.constraints, l.name, &rapl_zone::constraint::name))
      out.set_absent(l.series, absence::missing);
  }
  z.limits.clear();
  for (const auto& c : z.about.constraints) {
    auto series =
        out.add_series(group_, "rapl_limit_watts", {{"package", z.about.package}, {"constraint", c.name}});
    z.limits.push_back({c.name, constraint_files(z.about.folder, c.index), series});
  }
}

std::string rapl_source::why_unreadable(const metered_zone& z, const powercap_number& n) const {
  if (z.about.folder.empty() && !z.counter) {
    return fmt::format(
        "{} has no energy counter, neither in powercap nor in the perf PMU power: {}, or restart the agent "
        "if it is no longer in the machine",
        full_name(z.about), reload_remedy);
  }
  if (z.about.folder.empty()) {
    const auto refusal = why_refused(n.error_number, options_.proc_root);
    const auto powercap =
        no_tree_.empty() ? fmt::format("powercap does not show {}", full_name(z.about)) : no_tree_;
    return fmt::format("{}; the perf PMU power does not help, {}: {}", powercap, refusal.why, refusal.remedy);
  }
  if (!z.files) {
    return fmt::format(
        "{} has vanished from {}: {}, or restart the agent if the zone has another name now or is no longer "
        "in the machine",
        full_name(z.about), z.about.folder, reload_remedy);
  }
  if (n.reason == absence::permission) {
    return fmt::format("{}: {}", why_energy_is_closed, if_closed_);
  }
  return fmt::format("{}/energy_uj: {}", z.about.folder,
                     n.reason == absence::malformed ? "not a number" : describe(n.error_number));
}

result<void> rapl_source::read(board& out) {
  // A socket that comes online has new zones. Until they are found, the sum would silently lack them.
  if (online_ && find_dies_online()) (void)discover(out);
  const auto asleep = time_.asleep();
  // The two clocks are read one after the other, so without a suspend their difference still varies by
  // microseconds.
  if (asleep - asleep_ > std::chrono::milliseconds(100)) {
    for (auto& z : zones_) z.meter.interrupt();
  }
  asleep_ = asleep;

  std::size_t good = 0;
  problem_summary problems;
  for (const auto& p : problems_) problems.add(p);
  std::optional<error> first;
  for (auto& z : zones_) {
    const auto n = read_zone(z, out);
    if (z.about.is_package()) read_package(z, n.reason != absence::none ? n.reason : z.meter.reason(), out);
    if (n.reason == absence::none) {
      ++good;
      problems.add(why_unbelieved(z));
      continue;
    }
    auto why = why_unreadable(z, n);
    problems.add(why);
    if (!first) first = error{errc_of(n.error_number), std::move(why)};
  }
  show_live_psys(out);
  limitation_ = std::move(problems).sentence();
  if (good == 0) {
    if (first) return *std::move(first);
    return error{errc::not_found, "no RAPL zone has been found yet"};
  }
  out.mark_read(group_, time_.now());
  return {};
}

powercap_number rapl_source::read_zone(metered_zone& z, board& out) {
  powercap_number n{0, absence::missing, ENODEV};
  if (z.counter) {
    n = z.counter->energy_uj();
    if (n.reason != absence::none && z.counter->error_number() == 0) z.counter.reset();
  } else if (z.files) {
    n = z.files->energy_uj(z.meter.last_uj().value_or(0), z.range_uj);
  }
  if (n.reason != absence::none) {
    out.set_absent(z.watts, n.reason);
    out.set_absent(z.joules, n.reason);
    return n;
  }
  z.meter.update(n.value, time_.now());
  const auto why = z.meter.reason();
  if (why == absence::none) {
    out.set(z.watts, z.meter.watts());
  } else {
    out.set_absent(z.watts, why);
  }
  // Later totals must not have energy that is not believed, here or by the source `host`.
  const bool disbelieved =
      z.joules < out.series().size() && out.series()[z.joules].withheld_for(absence::implausible);
  if (disbelieved) z.meter.restart_total();
  const auto no_joules = z.meter.energy_reason();
  if (no_joules == absence::none) {
    out.set(z.joules, static_cast<std::int64_t>(z.meter.total_uj() / 1'000'000));
  } else {
    out.set_absent(z.joules, no_joules);
  }
  return n;
}

// Whether this is a package's psys that never counts because another package's does, or once did.
bool rapl_source::is_idle_psys(const metered_zone& z) const {
  if (z.about.zone != "psys" || z.meter.reason() != absence::never_moved) return false;
  return z.idle || std::ranges::any_of(zones_, [&z](const metered_zone& other) {
           return &other != &z && other.about.zone == "psys" && other.meter.reason() == absence::none;
         });
}

// A sum over the zone psys needs each of its members, and one that never counts would take it away. So it is
// taken off the board, until it moves.
void rapl_source::show_live_psys(board& out) {
  for (auto& z : zones_) {
    const bool idle = is_idle_psys(z);
    if (idle == z.idle) continue;
    z.idle = idle;
    if (!idle) {
      announce(z, out);
      continue;
    }
    out.remove_series(std::exchange(z.watts, board::no_series));
    out.remove_series(std::exchange(z.joules, board::no_series));
  }
}

std::string rapl_source::why_unbelieved(const metered_zone& z) const {
  const auto what = full_name(z.about) + (z.counter ? ", energy by the perf PMU power," : "");
  switch (z.meter.reason()) {
    case absence::never_moved:
      if (is_idle_psys(z)) return {};
      return fmt::format("{} has {} since it was first seen, so it is not used: {}; {}", what,
                         z.meter.has_moved() ? "moved only once" : "never moved", why_counters_are_dead,
                         dead_counter_remedy);
    case absence::stands_still:
      return fmt::format("{} has stood still for more than {} s, so it is not used: {}", what,
                         std::chrono::duration_cast<std::chrono::seconds>(options_.still_after).count(),
                         reload_remedy);
    default: return why_faulty(z, what);
  }
}

// About a counter whose number changes and still gives no watts that can be true.
std::string rapl_source::why_faulty(const metered_zone& z, const std::string& what) const {
  constexpr const char* wrong_unit =
      "so it is not used: its unit may be wrong; report it to the kernel's or "
      "the hypervisor's makers";
  const double watts = z.meter.watts();
  const auto& bounds = z.meter.bounds();
  switch (z.meter.faulty()) {
    case energy_meter::fault::too_fast:
      return fmt::format("{} says {:.0f} W, more than the {:.0f} W that it can draw at most, {}{}", what,
                         watts, bounds.most_watts, wrong_unit,
                         z.tdp_watts ? fmt::format("; if {:g} W is not its TDP, set rapl-tdp", *z.tdp_watts)
                                     : std::string());
    case energy_meter::fault::backwards:
      return fmt::format("{} runs backwards, so it is not used: {}", what, reload_remedy);
    case energy_meter::fault::wraps_unseen: {
      const double wraps_after_ms =
          std::floor(static_cast<double>(bounds.range_uj) / 1e3 / bounds.most_watts);
      const auto remedy =
          wraps_after_ms > least_period_ms
              ? fmt::format("set rapl-period below {:.0f} ms", wraps_after_ms)
              : "its max_energy_range_uj may be wrong; report it to the kernel's or the hypervisor's makers";
      return fmt::format(
          "{} starts again at 0 after {:g} J, perhaps more than once between two readings, so it is not "
          "used: {}",
          what, to_watts(bounds.range_uj), remedy);
    }
    case energy_meter::fault::too_low:
      if (no_watts(watts))
        return fmt::format("{} says 0 W although it is on, so it is not used: {}", what, reload_remedy);
      return fmt::format("{} says {:.2f} W, less than the {:.2f} W that it draws at least, {}", what, watts,
                         bounds.least_watts, wrong_unit);
    case energy_meter::fault::none: break;
  }
  return {};
}

// `reason` says why the package has no power; `none` if it has.
void rapl_source::read_package(metered_zone& z, absence reason, board& out) {
  const double watts = z.meter.watts();
  std::optional<double> long_term;
  for (auto& l : z.limits) {
    const auto n = z.files ? l.files.power_limit_uw() : powercap_number{0, absence::missing, ENODEV};
    if (n.reason != absence::none) {
      out.set_absent(l.series, n.reason);
      continue;
    }
    out.set(l.series, to_watts(n.value));
    if (l.name == "long_term" && n.value > 0) long_term = to_watts(n.value);
  }
  const auto ratio = [&](board::series_ref series, const std::optional<double>& whole, double part) {
    if (reason != absence::none) {
      out.set_absent(series, reason);
    } else if (!whole) {
      out.set_absent(series, absence::no_data);
    } else {
      out.set(series, part / *whole);
    }
  };
  ratio(z.headroom, long_term, long_term.value_or(0) - watts);
  ratio(z.utilization, z.tdp_watts, watts);
}

}  // namespace binnacle::agent
