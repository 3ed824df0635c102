#include "agent/sources/rapl/power_pmu.hpp"

#include "agent/kernel/absence_of.hpp"
#include "agent/kernel/cpu_topology.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/kernel/pmu_device.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace binnacle::agent {
namespace {

struct known_event {
  std::string_view name;
  std::string_view zone;
};
constexpr std::array<known_event, 5> known_events{{{"energy-pkg", "package"},
                                                   {"energy-cores", "core"},
                                                   {"energy-ram", "dram"},
                                                   {"energy-gpu", "uncore"},
                                                   {"energy-psys", "psys"}}};

// The seats of those CPUs whose package is known. The others are named in `problems`.
std::vector<cpu_seat> seats_of(const std::string& sys_root, const std::vector<unsigned>& cpus,
                               std::vector<std::string>& problems) {
  std::vector<cpu_seat> seats;
  for (const unsigned cpu : cpus) {
    if (auto seat = seat_of(sys_root, cpu); seat.package) {
      seats.push_back(std::move(seat));
    } else {
      problems.push_back(
          fmt::format("CPU {} of the perf PMU power is not used, for its topology/physical_package_id does "
                      "not say which package it counts",
                      cpu));
    }
  }
  return seats;
}

// The label `package`: "0", or "0-die-1" where a package has several dies with counters of their own.
std::string label_of(const cpu_seat& s, const std::vector<cpu_seat>& all) {
  const auto alone = std::ranges::count(all, s.package, &cpu_seat::package) == 1;
  return alone ? *s.package : fmt::format("{}-die-{}", *s.package, s.die.value_or("0"));
}

// Of the seats in each package, keeps the first one.
std::vector<cpu_seat> one_seat_a_package(const std::vector<cpu_seat>& seats) {
  std::vector<cpu_seat> kept;
  std::set<std::string> packages;
  for (const auto& s : seats) {
    if (packages.insert(*s.package).second) kept.push_back(s);
  }
  return kept;
}

}  // namespace

power_pmu find_power_pmu(const std::string& sys_root, const std::string& proc_root) {
  power_pmu found;
  const auto folder = sys_root + "/bus/event_source/devices/power";
  const auto type = read_line(folder + "/type");
  const auto number = type ? parse_unsigned(*type) : std::nullopt;
  if (!number || *number > 0xffff'ffff) return found;
  const pmu_device power(folder, static_cast<std::uint32_t>(*number));
  if (!power.box_cpus()) return found;
  auto seats = seats_of(sys_root, *power.box_cpus(), found.problems);
  if (auto sockets = one_seat_a_package(seats);
      sockets.size() < seats.size() && has_one_counter_a_socket(proc_root))
    seats = std::move(sockets);
  const auto without_memory = packages_without_memory(sys_root);
  for (const auto& [name, zone] : known_events) {
    const auto alias = power.alias(std::string(name));
    const auto encoding = power.encode(name);
    if (!there(folder + "/events/" + std::string(name))) continue;
    // No counter has larger steps than a joule (zone_rule). NaN compares as false.
    const bool says_joules =
        alias && alias->unit == "Joules" && alias->scale.value_or(0) > 0 && *alias->scale <= 1;
    if (!says_joules || !encoding) {
      found.problems.push_back(
          fmt::format("the event {} of the perf PMU power is not used, for its files .scale and .unit do not "
                      "say how many "
                      "Joules a count is",
                      name));
      continue;
    }
    for (const auto& s : seats) {
      if (zone == "dram" && without_memory.contains(*s.package)) continue;
      const bool first_psys = zone == "psys" && &s == seats.data();
      found.events.push_back({std::string(zone), first_psys ? std::string() : label_of(s, seats), s.cpu,
                              *encoding, *alias->scale});
    }
  }
  return found;
}

std::vector<rapl_zone> zones_of(const std::vector<power_event>& events) {
  std::vector<rapl_zone> zones;
  for (const auto& e : events) {
    if (e.zone != "psys" || e.package.empty()) zones.push_back(zone_without_folder(e.zone, e.package));
  }
  return zones;
}

const power_event* find_event(const std::vector<power_event>& events, const rapl_zone& zone) {
  const auto it = std::ranges::find_if(
      events, [&](const power_event& e) { return e.zone == zone.zone && e.package == zone.package; });
  return it == events.end() ? nullptr : &*it;
}

power_counter::power_counter(const power_event& event, const perf_opener& open)
    : joules_(event.joules), errno_(counter_.add(open, {.event = event.encoding, .cpu = event.cpu})) {}

powercap_number power_counter::energy_uj() {
  if (errno_ != 0) return {0, absence_of(errno_), errno_};
  const auto now = counter_.read(buffer_);
  if (!now) return {0, absence::missing, ENODEV};
  return {static_cast<std::uint64_t>(static_cast<double>(now->counts[0]) * joules_ * 1e6), absence::none, 0};
}

std::uint64_t power_counter::range_uj() const noexcept {
  const double range = std::ldexp(joules_ * 1e6, 64);
  return range < 9e18 ? static_cast<std::uint64_t>(range) : 0;
}

}  // namespace binnacle::agent
