#include "agent/sources/host/host.hpp"

#include "agent/base/sensor_name.hpp"
#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/cpu_topology.hpp"
#include "agent/sources/host/hardware.hpp"
#include "agent/sources/host/way_reading.hpp"
#include "agent/sources/host/ways.hpp"
#include "agent/sources/power_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace binnacle::agent {
namespace {

using metrics::member;

bool is(const wire::series_info& s, const member& m) {
  return s.family == m.family && (m.label.empty() || metrics::label_of(s.labels, m.label) == m.value);
}

// A BMC that starts has the readings of some sensors before those of others, so nothing is an empty bay
// sooner.
constexpr duration least_silence = std::chrono::seconds(60);

}  // namespace

host_source::host_source(host_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {
  for (std::size_t i = 0; i < composites.size(); ++i) {
    figure f;
    f.which = i;
    f.parts.resize(composites[i].ways.size());
    f.sisters.resize(composites[i].ways.size());
    f.inside.resize(composites[i].ways.size());
    for (const auto& w : composites[i].ways) f.checks.push_back(w.checks());
    f.set_aside_for.resize(f.checks.size(), disbelief::none);
    f.seconds.resize(f.checks.size());
    f.choice = best_of(options_.wait);
    figures_.push_back(std::move(f));
  }
}

// The hardware is looked up once, because it does not change while we run; only CPUs come and go.
result<void> host_source::discover(board& out) {
  if (about_ != board::no_group) return {};
  about_ = out.add_group("host", "hardware", options_.period, metrics::stale_after(options_.period));
  count_cpus();
  const auto h = read_hardware(options_.proc_root, options_.sys_root);
  sockets_ = h.sockets;
  const auto info = out.add_series(about_, "host_hardware_info",
                                   {{"cpu", h.cpu},
                                    {"sockets", std::to_string(h.sockets)},
                                    {"memory_gib", std::to_string(h.memory_gib)},
                                    {"accelerators", std::to_string(h.accelerators)}});
  out.set(info, std::int64_t{1});
  out.mark_read(about_, time_.now());
  return {};
}

// CPUs that come online later draw watts, too.
void host_source::count_cpus() {
  online_ = online_cpus(options_.sys_root);
  least_watts_ = least_watts_per_cpu * static_cast<double>(count_cpus_online(options_.sys_root));
}

result<void> host_source::read(board& out) {
  if (about_ != board::no_group && online_cpus(options_.sys_root) != online_) count_cpus();
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
  const auto& names = composites[f.which].family == "host_power_watts" ? options_.powers : options_.inlets;
  f.looked_for.assign(ways.size(), board::no_series);
  for (std::size_t w = 0; w < ways.size(); ++w) {
    std::vector<board::series_ref> found;
    f.sisters[w].clear();
    f.inside[w].clear();
    bool found_first = false;
    for (board::series_ref s = 0; s < from.series().size(); ++s) {
      const auto& e = from.series()[s];
      if (e.removed) continue;
      if (e.info.family == ways[w].looked_for) f.looked_for[w] = s;
      const auto is_it = [&e](const member& m) { return is(e.info, m); };
      if (std::ranges::any_of(ways[w].sisters, is_it)) f.sisters[w].push_back(s);
      if (std::ranges::any_of(ways[w].inside.series, is_it)) f.inside[w].push_back(s);
      for (const auto& m : ways[w].parts) {
        if (!is(e.info, m) || (ways[w].named && !is_named(e.info, names))) continue;
        found.push_back(s);
        found_first = found_first || &m == ways[w].parts.data();
      }
    }
    // The watts of the memory alone are not the machine's.
    if (!found_first) found.clear();
    f.parts[w].take_stock(found, from);
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

void host_source::doubt(std::string_view sentence) {
  if (!limitation_.empty()) limitation_ += "; ";
  limitation_ += sentence;
}

void host_source::update(figure& f, instant now, board& out) {
  const auto& what = composites[f.which];
  std::vector<contender> all(what.ways.size());
  std::optional<std::size_t> first_there;  // a way whose source announced it, with or without a value
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (!f.parts[w].present().empty()) {
      all[w] = look(what.ways[w], f.parts[w], out, now, std::max(options_.wait, least_silence));
      if (lacks_a_socket(f, w)) {
        all[w].value.reset();
        all[w].why = absence::missing;
      }
    } else if (const auto ref = f.looked_for[w];
               ref != board::no_series && may_still_come(out.series()[ref].reason)) {
      all[w].why = absence::not_read_yet;
      all[w].awaited = true;
      all[w].reach = what.ways[w].of;
    } else {
      continue;
    }
    if (!first_there) first_there = w;
  }
  set_aside(f, all, now, out);
  await_witnesses(f, all, now, out);
  const auto best = f.choice.choose(all, now);
  if (best) tell_empty_bays(f, *best);
  if (best && all[*best].value) {
    set_value(f, *best, all, out);
  } else if (!best && first_there) {
    set_absent(f, *first_there, all, now, out);
  } else if (!best && f.announced) {
    out.remove_group(f.group);
    f.announced.reset();
  }
  // Otherwise the present source has no value now but had one not long ago. That value ages.
}

// Each chip of apm_xgene counts one socket, and its driver may fail on one of them or come late. Nothing
// later would show that the other chip's watts are half of the processors'. Sensors that a person names are
// taken as they are.
bool host_source::lacks_a_socket(const figure& f, std::size_t way) const {
  if (composites[f.which].ways[way].of != chips_named || options_.powers != usual_powers) return false;
  std::set<std::string_view> chips;
  for (const auto& p : f.parts[way].present()) {
    const auto chip = metrics::label_of(p.labels, "chip");
    if (chip.starts_with("apm_xgene")) chips.insert(chip);
  }
  return !chips.empty() && chips.size() < sockets_;
}

void host_source::tell_empty_bays(const figure& f, std::size_t way) {
  std::vector<std::string_view> names;
  for (const auto& p : f.parts[way].present())
    if (p.empty_bay) names.push_back(metrics::label_of(p.labels, "sensor"));
  if (names.empty()) return;
  doubt(fmt::format(
      "{} is the sum of {} without {}, which {} given no reading since the start, like an empty bay: if a "
      "supply there has input power, mend its sensor; if the bay is empty, name the sensor in bmc-exclude",
      composites[f.which].family, composites[f.which].ways[way].source, fmt::join(names, ", "),
      names.size() == 1 ? "has" : "have"));
}

void host_source::set_value(figure& f, std::size_t best, const std::vector<contender>& all, board& out) {
  const auto& what = composites[f.which];
  const auto& c = all[best];
  show(f, best, c.stale_after, out);
  const auto value = rescale(*c.value, metrics::find(what.family)->exponent);
  if (!value) return out.set_absent(f.series, absence::out_of_range);
  out.set(f.series, value->mantissa);
  if (out.groups()[f.group].read_at != c.read_at) out.mark_read(f.group, c.read_at);
  const auto more =
      std::ranges::find_if(all, [&c](const contender& o) { return o.awaited && o.reach > c.reach; });
  if (more == all.end()) return;
  const auto awaited = what.ways[static_cast<std::size_t>(more - all.begin())].source;
  doubt(fmt::format(
      "{} gave no value within {} of the start (power-wait), so {} is that of {}, which measures less of the "
      "machine: mend {}",
      awaited, human(options_.wait), what.family, what.ways[best].source, awaited));
}

// A supply that had a reading and has none, while another one has. After a restart it is an empty bay, unless
// there is no other.
const part_inventory::part* host_source::silent_supply(const figure& f, std::size_t way, const board& from) {
  if (!composites[f.which].ways[way].bays) return nullptr;
  const auto parts = f.parts[way].present();
  const auto silent = std::ranges::find_if(parts, [&](const part_inventory::part& p) {
    return p.counted && from.series()[p.ref].reason == absence::no_data;
  });
  const bool others = std::ranges::any_of(
      parts, [&](const part_inventory::part& p) { return measured(from, p.ref).has_value(); });
  return silent != parts.end() && others ? &*silent : nullptr;
}

// The node has sources for the figure, but no value now. The series keeps the source that gave the last
// value.
void host_source::set_absent(figure& f, std::size_t first_there, const std::vector<contender>& all,
                             instant now, board& out) {
  const auto& what = composites[f.which];
  if (!f.announced || !f.choice.began()) show(f, first_there, metrics::stale_after(options_.period), out);
  const auto last = *f.announced;
  const auto best = what.ways[last].source;
  out.set_absent(f.series, all[last].why);
  if (all[last].in_doubt && all[last].value) {
    const auto at = std::ranges::find_if(f.checks[last], &whole_machine_check::in_doubt);
    const auto& c = what.ways[last].compared[static_cast<std::size_t>(at - f.checks[last].begin())];
    const auto other = other_way(f, c.with, now, out);
    doubt(fmt::format(
        "{} has no value now because {} contradicts {}: {} counts when the two agree, or is set aside after "
        "{}",
        what.family, best,
        !other           ? "another meter"
        : *other == last ? "the zones inside it"
                         : what.ways[*other].source,
        best, human(c.how.below_for)));
    return;
  }
  if (!f.parts[last].present().empty() && !f.parts[last].missing().empty()) {
    doubt(
        fmt::format("{} has no value because {} is gone, and {} counted it before: bring it back, or restart "
                    "the agent to go without it",
                    what.family, f.parts[last].missing().front().name(), best));
  }
  if (lacks_a_socket(f, last)) {
    doubt(fmt::format(
        "{} has no value because {} sockets have a CPU online, but fewer chips apm_xgene show a socket's "
        "power: reload the driver (modprobe -r xgene_hwmon, modprobe xgene_hwmon), or name the sensors in "
        "power-sensors if they measure all processors",
        what.family, sockets_));
  }
  if (const auto* dead = silent_supply(f, last, out); dead != nullptr) {
    doubt(
        fmt::format("{} has no value because {} gives no reading any more, and {} counted it before: mend "
                    "it, or restart the agent to go without it",
                    what.family, dead->name(), best));
    return;
  }
  const auto less =
      std::ranges::find_if(all, [](const contender& c) { return c.value.has_value() && !c.in_doubt; });
  if (less == all.end() || f.choice.waits()) return;
  const auto other = what.ways[static_cast<std::size_t>(less - all.begin())].source;
  if (!f.seconds[last].empty()) {
    doubt(fmt::format("{} has no value because {} and {} contradict {}, and nobody knows which is wrong",
                      what.family, best, f.seconds[last], other));
    return;
  }
  doubt(fmt::format(
      "{} has no value because {}, its best source, has none. {} may measure less of the machine, "
      "so this node would wrongly look like the one with the lowest watts: mend {}, or restart "
      "the agent to use {}",
      what.family, best, other, best, other));
}

}  // namespace binnacle::agent
