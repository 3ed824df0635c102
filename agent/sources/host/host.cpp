#include "agent/sources/host/host.hpp"

#include "common/glob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace binnacle::agent {
namespace {

using metrics::member;

/// One way to know a figure: a sum is absent if any part is, a maximum goes on with what is there.
struct way {
  std::string_view source;  // the label's value
  std::span<const member> parts;
  bool sum = true;
  bool named = false;  // only parts that are named as inlets
};

struct composite {
  std::string_view family;
  std::string_view group;
  std::span<const way> ways;
};

constexpr member dcmi[] = {{"bmc_dcmi_power_watts"}};
constexpr member bmc_power[] = {{"bmc_power_watts", "scope", "node"}};
constexpr member psys[] = {{"rapl_zone_power_watts", "zone", "psys"}};
// Dram has a meter of its own; core and uncore are inside the package.
constexpr member rapl[] = {{"rapl_power_watts"}, {"rapl_zone_power_watts", "zone", "dram"}};
constexpr member inlet[] = {{"bmc_inlet_temperature_celsius"}};
constexpr member chips[] = {{"os_hwmon_temperature_celsius"}};
constexpr member zones[] = {{"os_thermal_zone_temperature_celsius"}};

constexpr way power_ways[] = {{"dcmi", dcmi}, {"bmc", bmc_power}, {"psys", psys}, {"rapl", rapl}};
constexpr way inlet_ways[] = {
    {"bmc", inlet, false}, {"hwmon", chips, false, true}, {"thermal_zone", zones, false, true}};

constexpr std::array composites{
    composite{"host_power_watts", "power", power_ways},
    composite{"host_inlet_temperature_celsius", "inlet_temperature", inlet_ways},
};

bool is(const wire::series_info& s, const member& m) {
  return s.family == m.family && (m.label.empty() || std::ranges::any_of(s.labels, [&](const auto& l) {
                                    return l.first == m.label && l.second == m.value;
                                  }));
}

std::string_view label_of(const wire::series_info& s, std::string_view name) {
  const auto at = std::ranges::find(s.labels, name, [](const auto& l) { return std::string_view(l.first); });
  return at == s.labels.end() ? std::string_view() : std::string_view(at->second);
}

bool is_named(const wire::series_info& s, std::span<const std::string> patterns) {
  const auto label = label_of(s, "sensor"), type = label_of(s, "type");
  const auto chip_and_label = fmt::format("{}/{}", label_of(s, "chip"), label);
  return std::ranges::any_of(patterns, [&](const std::string& p) {
    return label.empty() ? matches_glob(p, type) : matches_glob(p, label) || matches_glob(p, chip_and_label);
  });
}

contender look(const way& w, std::span<const board::series_ref> parts, const board& from, instant now) {
  contender c;
  c.read_at = instant::max();
  c.stale_after = duration::max();
  bool any_absent = false;
  for (const auto ref : parts) {
    const auto& e = from.series()[ref];
    const auto& g = from.groups()[e.info.group];
    const duration stale_after = std::chrono::milliseconds(g.info.stale_after_ms);
    const bool late = g.read_at == instant{} || now >= g.read_at + stale_after;
    if (e.reason != wire::absence::none || late) {
      if (!any_absent) c.why = e.reason != wire::absence::none ? e.reason : wire::absence::timeout;
      any_absent = true;
      continue;
    }
    if (!c.value) {
      c.value = e.value;
    } else {
      c.value = w.sum ? add(*c.value, e.value) : std::max(*c.value, e.value);
    }
    c.read_at = std::min(c.read_at, g.read_at);
    c.stale_after = std::min(c.stale_after, stale_after);
  }
  if (any_absent && w.sum) c.value.reset();
  return c;
}

}  // namespace

host_source::host_source(host_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {
  for (std::size_t i = 0; i < composites.size(); ++i) {
    figure f;
    f.which = i;
    figures_.push_back(std::move(f));
  }
}

result<void> host_source::discover(board&) { return {}; }

result<void> host_source::read(board& out) {
  const auto now = time_.now();
  if (found_in_ != out.version()) {
    for (auto& f : figures_) find_parts(f, out);
  }
  for (auto& f : figures_) update(f, now, out);
  found_in_ = out.version();
  return {};
}

void host_source::find_parts(figure& f, const board& from) const {
  const auto ways = composites[f.which].ways;
  f.parts.assign(ways.size(), {});
  for (std::size_t w = 0; w < ways.size(); ++w) {
    bool found_first = false;
    for (board::series_ref s = 0; s < from.series().size(); ++s) {
      const auto& e = from.series()[s];
      if (e.removed) continue;
      for (const auto& m : ways[w].parts) {
        if (!is(e.info, m) || (ways[w].named && !is_named(e.info, options_.inlets))) continue;
        f.parts[w].push_back(s);
        found_first = found_first || &m == ways[w].parts.data();
      }
    }
    // The memory's watts alone are not the machine's.
    if (!found_first) f.parts[w].clear();
  }
}

void host_source::show(figure& f, std::size_t way, duration stale_after, board& out) const {
  if (f.announced == way && f.stale_after == stale_after) return;
  const auto& what = composites[f.which];
  if (f.announced) out.remove_group(f.group);
  f.group = out.add_group("host", std::string(what.group), options_.period, stale_after);
  f.series =
      out.add_series(f.group, std::string(what.family), {{"source", std::string(what.ways[way].source)}});
  f.announced = way;
  f.stale_after = stale_after;
}

void host_source::update(figure& f, instant now, board& out) const {
  const auto& what = composites[f.which];
  std::vector<contender> all(what.ways.size());
  std::optional<std::size_t> first_there;  // announced by its source, with a value or without
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (f.parts[w].empty()) continue;
    all[w] = look(what.ways[w], f.parts[w], out, now);
    if (!first_there) first_there = w;
  }
  const auto best = f.choice.choose(all, now);
  if (best && all[*best].value) {
    const auto& c = all[*best];
    show(f, *best, c.stale_after, out);
    const auto value = rescale(*c.value, metrics::find(what.family)->exponent);
    if (!value) return out.set_absent(f.series, wire::absence::out_of_range);
    out.set(f.series, value->mantissa);
    if (out.groups()[f.group].read_at != c.read_at) out.mark_read(f.group, c.read_at);
  } else if (!best && first_there) {
    // A node that can know the figure does not know it now; which way it went last stays shown.
    if (!f.announced) show(f, *first_there, metrics::stale_after(options_.period), out);
    out.set_absent(f.series, all[f.announced.value_or(*first_there)].why);
  } else if (!best && f.announced) {
    out.remove_group(f.group);
    f.announced.reset();
  }
  // Else the present way has no value now, but had one not long ago: that one ages.
}

}  // namespace binnacle::agent
