#include "agent/sources/pmu/counted_event.hpp"

#include "agent/sources/pmu/memory_bandwidth.hpp"
#include "agent/sources/pmu/named_events.hpp"

#include <algorithm>
#include <linux/perf_event.h>
#include <utility>

namespace binnacle::agent {
namespace {

counted_event counted(const named_event& e, event_places places) {
  counted_event c;
  c.name = e.name;
  c.total = std::string(e.family) + "_total";
  // An event that is scaled (a clock) gets no rate: seconds per second would be a ratio under another name,
  // and os_cpu_utilization_ratio gives that.
  if (e.scale == 1) c.rate = std::string(e.family) + "_per_second";
  c.scale = e.scale;
  c.named = true;
  c.places = std::move(places);
  return c;
}

counted_event counted(std::string_view name, event_places places) {
  counted_event c;
  c.name = name;
  c.total = "pmu_event_total";
  c.rate = "pmu_event_per_second";
  c.labels = {{"event", std::string(name)}};
  c.asked = true;
  c.places = std::move(places);
  return c;
}

counted_event counted(memory_flow flow) {
  counted_event c;
  c.name = "memory " + flow.direction;
  c.total = "pmu_memory_bandwidth_bytes_total";
  c.rate = "pmu_memory_bandwidth_bytes_per_second";
  c.labels = {{"direction", std::move(flow.direction)}};
  c.scale = flow.bytes;
  c.places = std::move(flow.places);
  return c;
}

// A flag's value is split at all commas, even those within cpu/event=0xc2,umask=0x01/. This joins again what
// stands between two slashes.
std::vector<std::string> whole_names(const std::vector<std::string>& pieces) {
  std::vector<std::string> names;
  bool inside = false;
  for (const auto& piece : pieces) {
    if (inside) {
      names.back() += ',' + piece;
    } else {
      names.push_back(piece);
    }
    if (std::ranges::count(piece, '/') % 2 != 0) inside = !inside;
  }
  return names;
}

}  // namespace

bool counted_event::software() const noexcept {
  return std::ranges::all_of(places, [](const event_place& p) { return p.pmu == PERF_TYPE_SOFTWARE; });
}

event_list list_events(const event_wishes& wanted, const event_finder& finder) {
  event_list list;
  const auto add = [&](std::string_view name, bool asked) {
    const auto* known = find_named_event(name);
    const auto is_there = [&](const counted_event& c) { return c.name == (known ? known->name : name); };
    if (const auto it = std::ranges::find_if(list.events, is_there); it != list.events.end()) {
      it->asked = it->asked || asked;
      return;
    }
    auto places = finder.find(name);
    if (!places) {
      list.problems.push_back(places.error().message);
      return;
    }
    list.events.push_back(known ? counted(*known, *std::move(places)) : counted(name, *std::move(places)));
    list.events.back().asked = asked;
  };
  for (const auto name : preset_events(wanted.preset)) add(name, false);
  for (const auto& name : whole_names(wanted.events)) add(name, true);
  if (wanted.preset != event_preset::none) {
    for (auto& flow : find_memory_flows(finder.devices())) list.events.push_back(counted(std::move(flow)));
  }
  return list;
}

}  // namespace binnacle::agent
