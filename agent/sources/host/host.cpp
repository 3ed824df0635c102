#include "agent/sources/host/host.hpp"

#include "agent/sources/host/hardware.hpp"
#include "agent/sources/power_rules.hpp"
#include "common/text/glob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace binnacle::agent {
namespace {

using metrics::member;

/// How much of the machine a way measures.
enum reach : unsigned { processors, platform, machine };

/// One way to know a figure: a sum is absent if any part is, a maximum goes on with the parts that have a
/// value.
struct way {
  std::string_view source;  // the label's value
  std::span<const member> parts;
  reach of = machine;
  bool sum = true;
  bool named = false;     // only parts with the names that the settings give
  bool counter = false;   // of energy: without a move there is no power
  bool parts_on = false;  // none of the parts may be 0
  /// How long it may contradict what the processors say.
  duration may_contradict_for{};
  bool may_hang = false;
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
constexpr member scmi[] = {{"os_powercap_power_watts", "chip", "arm-scmi"}};
constexpr member chip_power[] = {{"os_hwmon_power_watts"}};
constexpr member inlet[] = {{"bmc_inlet_temperature_celsius"}};
constexpr member chips[] = {{"os_hwmon_temperature_celsius"}};
constexpr member zones[] = {{"os_thermal_zone_temperature_celsius"}};

// A BMC says the mean of up to a minute of its own; psys is a counter beside those of the packages.
using std::chrono::seconds;
constexpr way power_ways[] = {
    {.source = "dcmi", .parts = dcmi, .may_contradict_for = seconds(60), .may_hang = true},
    {.source = "bmc", .parts = bmc_power, .may_contradict_for = seconds(60), .may_hang = true},
    {.source = "psys", .parts = psys, .of = platform, .counter = true, .may_contradict_for = seconds(10)},
    {.source = "rapl", .parts = rapl, .of = processors, .counter = true},
    {.source = "arm-scmi", .parts = scmi, .of = processors, .parts_on = true},
    {.source = "hwmon", .parts = chip_power, .of = processors, .named = true, .parts_on = true}};
constexpr way inlet_ways[] = {{.source = "bmc", .parts = inlet, .sum = false},
                              {.source = "hwmon", .parts = chips, .sum = false, .named = true},
                              {.source = "thermal_zone", .parts = zones, .sum = false, .named = true}};

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

/// What its source measured, also while that is withheld because it contradicts: it may fit again.
std::optional<decimal> measured(const board& from, board::series_ref ref) {
  constexpr auto contradicts = absence::implausible;
  const auto& e = from.series()[ref];
  const bool believed = e.withheld == 0 || e.withheld == 1u << static_cast<unsigned>(contradicts);
  return believed ? from.measured(ref) : std::nullopt;
}

bool is_late(const board& from, board::series_ref ref, instant now) {
  const auto& g = from.groups()[from.series()[ref].info.group];
  return g.read_at == instant{} || now >= g.read_at + std::chrono::milliseconds(g.info.stale_after_ms);
}

// Whether the last value goes at once instead of ageing: the counter stopped, or says nothing, and its last
// value may be the mean of an interval in which it died.
bool is_doubted(absence why) {
  using enum absence;
  return why == no_data || why == never_moved || why == stands_still || why == implausible;
}

contender look(const way& w, std::span<const board::series_ref> parts, const board& from, instant now) {
  contender c;
  c.reach = w.of;
  c.read_at = instant::max();
  c.stale_after = duration::max();
  bool any_absent = false;
  for (const auto ref : parts) {
    const auto& e = from.series()[ref];
    const auto& g = from.groups()[e.info.group];
    const auto value = measured(from, ref);
    // A memory zone whose counter never moved is as good as none: many machines have none at all.
    if (e.reason == absence::never_moved && e.info.family != w.parts.front().family) continue;
    if (!value || is_late(from, ref, now)) {
      if (!any_absent) c.why = !value ? e.reason : absence::timeout;
      any_absent = true;
      c.set_aside = c.set_aside || (w.counter && !value && is_doubted(e.reason));
      continue;
    }
    if (!c.value) {
      c.value = value;
    } else {
      c.value = w.sum ? add(*c.value, *value) : std::max(*c.value, *value);
    }
    const duration stale_after = std::chrono::milliseconds(g.info.stale_after_ms);
    c.read_at = std::min(c.read_at, g.read_at);
    c.stale_after = std::min(c.stale_after, stale_after);
  }
  if (any_absent && w.sum) c.value.reset();
  return c;
}

std::string_view to_string(disbelief why) {
  switch (why) {
    case disbelief::zero: return "zero";
    case disbelief::below_parts: return "below_parts";
    case disbelief::stands_still: return "stands_still";
    case disbelief::none: break;
  }
  return "none";
}

/// The way that tells what the processors draw, which every whole contains: the best that is there.
std::optional<std::size_t> witness_of(std::span<const way> ways,
                                      const std::vector<std::vector<board::series_ref>>& parts) {
  for (std::size_t w = 0; w < ways.size(); ++w) {
    if (ways[w].of == processors && !parts[w].empty()) return w;
  }
  return std::nullopt;
}

std::string sentence(std::string_view way, const whole_machine_check& check, std::string_view witness) {
  constexpr std::string_view goes_without("host_power_watts does not use it until the numbers agree again");
  switch (check.set_aside_for()) {
    case disbelief::zero:
      return fmt::format(
          "{} says 0 W although the machine is on: {}; look at the sensor with the BMC's own tools, or reset "
          "the BMC",
          way, goes_without);
    case disbelief::below_parts:
      return fmt::format("{} said {:.1f} W, less than the {:.1f} W of the {} that are part of it: {}; {}",
                         way, check.watts(), check.parts_watts(),
                         witness == "rapl" ? "packages and memory" : "processors", goes_without,
                         way == "psys" ? "newer firmware may measure it correctly"
                                       : "a supply may be missing in the sum, or the BMC needs a reset");
    case disbelief::stands_still:
      return fmt::format(
          "{} has said exactly {:.1f} W for more than two minutes in which {} moved: {}; reset the BMC", way,
          check.watts(), witness == "rapl" ? "RAPL" : witness, goes_without);
    case disbelief::none: break;
  }
  return {};
}

}  // namespace

host_source::host_source(host_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {
  for (std::size_t i = 0; i < composites.size(); ++i) {
    figure f;
    f.which = i;
    for (const auto& w : composites[i].ways)
      f.checks.emplace_back(
          whole_machine_check::settings{.below_for = w.may_contradict_for, .may_hang = w.may_hang});
    figures_.push_back(std::move(f));
  }
}

// Looked at once: what is built in does not change while we run.
result<void> host_source::discover(board& out) {
  if (about_ != board::no_group) return {};
  about_ = out.add_group("host", "hardware", options_.period, metrics::stale_after(options_.period));
  const auto h = read_hardware(options_.proc_root, options_.sys_root);
  const auto info = out.add_series(about_, "host_hardware_info",
                                   {{"cpu", h.cpu},
                                    {"sockets", std::to_string(h.sockets)},
                                    {"memory_gib", std::to_string(h.memory_gib)},
                                    {"accelerators", std::to_string(h.accelerators)}});
  out.set(info, std::int64_t{1});
  out.mark_read(about_, time_.now());
  return {};
}

result<void> host_source::read(board& out) {
  const auto now = time_.now();
  out.mark_read(about_, now);
  if (found_in_ != out.version()) {
    for (auto& f : figures_) find_parts(f, out);
  }
  limitation_.clear();
  for (auto& f : figures_) update(f, now, out);
  found_in_ = out.version();
  return {};
}

void host_source::find_parts(figure& f, const board& from) const {
  const auto ways = composites[f.which].ways;
  const auto& names = ways.data() == power_ways ? options_.powers : options_.inlets;
  f.parts.assign(ways.size(), {});
  for (std::size_t w = 0; w < ways.size(); ++w) {
    bool found_first = false;
    for (board::series_ref s = 0; s < from.series().size(); ++s) {
      const auto& e = from.series()[s];
      if (e.removed) continue;
      for (const auto& m : ways[w].parts) {
        if (!is(e.info, m) || (ways[w].named && !is_named(e.info, names))) continue;
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

// A way that contradicts the parts of the machine is withheld from policies, too. A way that only stands
// still stays visible to them, unless the setting `frozen` says otherwise.
void host_source::set_aside(figure& f, std::vector<contender>& all, instant now, board& out) {
  const auto ways = composites[f.which].ways;
  whole_machine_check::witness parts;
  const auto witness = witness_of(ways, f.parts);
  if (witness) {
    for (const auto ref : f.parts[*witness]) {
      const auto value = measured(out, ref);
      if (value && !is_late(out, ref, now)) parts.at_least += to_double(*value);
    }
    if (all[*witness].value) parts.all = to_double(*all[*witness].value);
  }
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (ways[w].may_contradict_for == duration::zero() || f.parts[w].empty()) continue;
    auto& check = f.checks[w];
    auto& c = all[w];
    std::optional<whole_machine_check::figure> whole;
    if (c.value) whole = {to_double(*c.value), c.read_at};
    const auto why = check.look(whole, parts, now);
    const bool impossible = why == disbelief::zero || why == disbelief::below_parts;
    for (const auto ref : f.parts[w]) out.withhold(ref, absence::implausible, impossible);
    show_set_aside(ways[w].source, why, out);
    if (why == disbelief::none) continue;
    c.set_aside = true;
    if (c.value) c.why = impossible ? absence::implausible : absence::frozen;
    c.value.reset();
    doubt(sentence(ways[w].source, check, witness ? ways[*witness].source : "rapl"));
  }
}

// What is told by a chip or by firmware in watts may be 0 of a card that sleeps, not of the processors that
// we run on.
void host_source::set_zeros_aside(const figure& f, std::vector<contender>& all, board& out) {
  const auto ways = composites[f.which].ways;
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (!ways[w].parts_on || f.parts[w].empty()) continue;
    bool any = false;
    for (const auto ref : f.parts[w]) {
      const auto value = measured(out, ref);
      const bool zero = value && no_watts(to_double(*value));
      out.withhold(ref, absence::implausible, zero);
      any = any || zero;
    }
    show_set_aside(ways[w].source, any ? disbelief::zero : disbelief::none, out);
    if (!any) continue;
    all[w].set_aside = true;
    all[w].why = absence::implausible;
    all[w].value.reset();
    doubt(
        fmt::format("{} says 0 W although the processors are on: host_power_watts does not use it; reload "
                    "its driver, or look for newer firmware",
                    ways[w].source));
  }
}

void host_source::doubt(std::string sentence) {
  if (!limitation_.empty()) limitation_ += "; ";
  limitation_ += sentence;
}

// A series that has been 1 once stays, as 0.
void host_source::show_set_aside(std::string_view way, disbelief why, board& out) {
  if (why != disbelief::none) told_.emplace(way, why);
  if (told_.empty()) return;
  const auto group =
      out.add_group("host", "set_aside", options_.period, metrics::stale_after(options_.period));
  for (const auto& [source, reason] : told_) {
    if (source != way) continue;
    const auto series =
        out.add_series(group, "host_power_set_aside",
                       {{"source", std::string(source)}, {"reason", std::string(to_string(reason))}});
    out.set(series, std::int64_t{reason == why ? 1 : 0});
  }
  out.mark_read(group, time_.now());
}

void host_source::update(figure& f, instant now, board& out) {
  const auto& what = composites[f.which];
  std::vector<contender> all(what.ways.size());
  std::optional<std::size_t> first_there;  // announced by its source, with a value or without
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (f.parts[w].empty()) continue;
    all[w] = look(what.ways[w], f.parts[w], out, now);
    if (!first_there) first_there = w;
  }
  set_zeros_aside(f, all, out);
  set_aside(f, all, now, out);
  const auto best = f.choice.choose(all, now);
  if (best && all[*best].value) {
    const auto& c = all[*best];
    show(f, *best, c.stale_after, out);
    const auto value = rescale(*c.value, metrics::find(what.family)->exponent);
    if (!value) return out.set_absent(f.series, absence::out_of_range);
    out.set(f.series, value->mantissa);
    if (out.groups()[f.group].read_at != c.read_at) out.mark_read(f.group, c.read_at);
  } else if (!best && first_there) {
    // The node has sources for the figure, but no value now. The source that gave the last value stays shown.
    if (!f.announced) show(f, *first_there, metrics::stale_after(options_.period), out);
    const auto last = f.announced.value_or(*first_there);
    out.set_absent(f.series, all[last].why);
    const auto less = std::ranges::find_if(all, [](const contender& c) { return c.value.has_value(); });
    if (less != all.end())
      doubt(fmt::format(
          "{} has no value because {}, its best source, has none. {} measures less of the machine, so this "
          "node would wrongly look like the one with the lowest watts: mend {}, or restart the agent to use "
          "{}",
          what.family, what.ways[last].source, what.ways[static_cast<std::size_t>(less - all.begin())].source,
          what.ways[last].source, what.ways[static_cast<std::size_t>(less - all.begin())].source));
  } else if (!best && f.announced) {
    out.remove_group(f.group);
    f.announced.reset();
  }
  // Otherwise the present source has no value now, but had one not long ago: that value ages.
}

}  // namespace binnacle::agent
