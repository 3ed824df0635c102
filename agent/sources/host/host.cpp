#include "agent/sources/host/host.hpp"

#include "agent/base/sensor_name.hpp"
#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/cpu_topology.hpp"
#include "agent/sources/host/hardware.hpp"
#include "agent/sources/host/set_aside_sentence.hpp"
#include "agent/sources/host/way_reading.hpp"
#include "agent/sources/host/ways.hpp"
#include "agent/sources/power_rules.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
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

std::optional<std::size_t> way_named(std::span<const way> ways, std::string_view source) {
  const auto at = std::ranges::find(ways, source, &way::source);
  return at == ways.end() ? std::nullopt : std::optional<std::size_t>(at - ways.begin());
}

std::vector<whole_machine_check> checks_of(const way& w) {
  std::vector<whole_machine_check> checks;
  for (const auto& c : w.compared) checks.emplace_back(c.how);
  return checks;
}

/// The name of the only sensor of a way. Empty if there are several, or it has none.
std::string_view only_sensor(const part_inventory& parts) {
  const auto all = parts.present();
  return all.size() == 1 ? metrics::label_of(all.front().labels, "sensor") : std::string_view();
}

bool clearly_less(double watts, double than) {
  constexpr whole_machine_check::settings usual{};
  return watts < than * (1 - usual.tolerance) - usual.tolerance_watts;
}

}  // namespace

host_source::host_source(host_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {
  for (std::size_t i = 0; i < composites.size(); ++i) {
    figure f;
    f.which = i;
    f.parts.resize(composites[i].ways.size());
    f.sisters.resize(composites[i].ways.size());
    for (const auto& w : composites[i].ways) f.checks.push_back(checks_of(w));
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
    bool found_first = false;
    for (board::series_ref s = 0; s < from.series().size(); ++s) {
      const auto& e = from.series()[s];
      if (e.removed) continue;
      if (e.info.family == ways[w].looked_for) f.looked_for[w] = s;
      if (std::ranges::any_of(ways[w].sisters, [&e](const member& m) { return is(e.info, m); }))
        f.sisters[w].push_back(s);
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

// The best way that measures the processors. Every figure of the whole machine must contain their power. A
// way that never had a value, or is set aside, says nothing of them while another way does. But a way that
// died stays the witness, because the next one may measure less; so does one that is about to speak.
std::optional<std::size_t> host_source::witness_of(const figure& f, instant now, const board& from) {
  const auto ways = composites[f.which].ways;
  std::optional<std::size_t> present;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const auto parts = f.parts[w].present();
    if (!of_processors(ways[w].of) || parts.empty()) continue;
    if (f.set_aside_for[w] == disbelief::none && std::ranges::any_of(parts, &part_inventory::part::counted))
      return w;
    if (!present && f.choice.is_patient(now) && comes_soon(f.parts[w], from)) return w;
    if (!present) present = w;
  }
  return present;
}

// The way that a comparison names.
std::optional<std::size_t> host_source::other_way(const figure& f, std::string_view with, instant now,
                                                  const board& from) {
  return with.empty() ? witness_of(f, now, from) : way_named(composites[f.which].ways, with);
}

// What this way says when another way is compared with it.
whole_machine_check::witness host_source::testimony(const figure& f, std::size_t way, const board& from,
                                                    instant now) const {
  whole_machine_check::witness w;
  for (const auto& p : f.parts[way].present()) {
    const auto value = measured(from, p.ref);
    if (!value || is_late(from, p.ref, now)) continue;
    w.at_least += to_double(*value);
    ++w.parts;
  }
  // A witness whose sum lacks a supply that is not believed still says the least that the machine draws.
  const auto why = f.set_aside_for[way];
  w.is_void = why != disbelief::none && !(why == disbelief::zero && composites[f.which].ways[way].witness);
  w.which = way;
  return w;
}

// A way with a number that cannot be true is withheld from policies, too. A way that only stands still stays
// visible to them, unless the setting `frozen` says otherwise. The ways that measure less are judged first,
// because a way that is not believed cannot contradict another.
void host_source::set_aside(figure& f, std::vector<contender>& all, instant now, board& out) {
  const auto ways = composites[f.which].ways;
  for (auto w = all.size(); w-- > 0;) {
    if (!ways[w].judged()) continue;
    verdict found;
    if (f.parts[w].present().empty()) {
      f.checks[w] = checks_of(ways[w]);
      withhold(f, w, false, out);
    } else {
      found = judge(f, w, all, now, out);
    }
    const auto why = f.set_aside_for[w] = found.why;
    if (why != disbelief::below_parts) f.seconds[w] = {};
    const bool missed = is_missed(f, w, all);
    if (missed && !found.sentence.empty()) doubt(std::move(found.sentence));
    show_set_aside(ways[w].source, missed ? why : disbelief::none, out);
    auto& c = all[w];
    c.in_doubt = std::ranges::any_of(f.checks[w], &whole_machine_check::in_doubt);
    if (why == disbelief::none) {
      if (c.in_doubt && c.value) c.why = absence::implausible;
      continue;
    }
    c.in_doubt = false;
    c.set_aside = true;
    c.awaited = false;
    if (c.value) c.why = why == disbelief::stands_still ? absence::frozen : absence::implausible;
    c.value.reset();
  }
}

// Whether people must know that a way is set aside. Nobody misses a witness while another way speaks of the
// whole machine.
bool host_source::is_missed(const figure& f, std::size_t way, const std::vector<contender>& all) {
  const auto ways = composites[f.which].ways;
  if (!ways[way].witness) return true;
  for (std::size_t other = 0; other < all.size(); ++other) {
    const bool as_much = other != way && ways[other].of >= ways[way].of;
    if (as_much && all[other].value && f.set_aside_for[other] == disbelief::none) return false;
  }
  return true;
}

void host_source::withhold(const figure& f, std::size_t way, bool withheld, board& out) {
  withheld = withheld && !composites[f.which].ways[way].witness;
  for (const auto& p : f.parts[way].present()) out.withhold(p.ref, absence::implausible, withheld);
  for (const auto s : f.sisters[way]) out.withhold(s, absence::implausible, withheld);
}

// What is wrong with a way's own numbers, or else with them beside the others'.
host_source::verdict host_source::judge(figure& f, std::size_t way, std::vector<contender>& all, instant now,
                                        board& out) {
  const auto& w = composites[f.which].ways[way];
  auto& c = all[way];
  if (const auto zeros = zeros_of(f, way, out); !zeros.empty()) {
    c.why = absence::implausible;
    bool told = true;  // by its own source, which withholds it, too
    for (const auto& p : f.parts[way].present()) {
      const bool says_zero =
          std::ranges::find(zeros, p.ref) != zeros.end() && measured(out, p.ref).has_value();
      out.withhold(p.ref, absence::implausible, says_zero);
      told = told && !says_zero;
    }
    if (told) return {disbelief::zero, {}};
    return {disbelief::zero, fmt::format("{} says 0 W although the processors are on: host_power_watts does "
                                         "not use it; reload its driver, "
                                         "or look for newer firmware",
                                         w.source)};
  }
  const auto counts = [&out](const part_inventory::part& p) { return measured(out, p.ref).has_value(); };
  if (w.one_counts && std::ranges::count_if(f.parts[way].present(), counts) > 1) {
    withhold(f, way, false, out);
    return {disbelief::several,
            fmt::format(
                "several packages count a platform ({}), and nobody knows whether each counts all of it or "
                "its own part: host_power_watts does not use it; newer firmware may count it once",
                w.source)};
  }
  const double watts = c.value ? to_double(*c.value) : 0;
  // 0 W is no matter of units, and compare() says so.
  const bool too_low = c.value && !no_watts(watts) && watts < least_watts_;
  if (too_low || (w.parts_on && watts > most_watts_of_processors)) {
    withhold(f, way, true, out);
    const auto bounds = w.parts_on
                            ? fmt::format("between {:g} W and {:g} W", least_watts_, most_watts_of_processors)
                            : fmt::format("at least {:g} W", least_watts_);
    return {disbelief::wrong_unit,
            fmt::format("{} says {:.2f} W, but the processors draw {}: host_power_watts does not use it; its "
                        "unit may be wrong: look for newer firmware",
                        w.source, watts, bounds)};
  }
  const auto of_a_socket = c.value ? least_of_a_socket(f, way, out) : std::nullopt;
  if (of_a_socket && *of_a_socket < least_watts_of_a_socket) {
    withhold(f, way, true, out);
    return {disbelief::wrong_unit,
            fmt::format(
                "{} says {:.2f} W for one of {} sockets, but each draws at least {:g} W: host_power_watts "
                "does not use it; its unit may be wrong: look for newer firmware",
                w.source, *of_a_socket, sockets_, least_watts_of_a_socket)};
  }
  return compare(f, way, all, now, out);
}

// Whether another way with which this one is compared, and which is more than a witness, has a value.
bool host_source::is_vouched_for(const figure& f, std::size_t way, instant now, const board& from) const {
  const auto ways = composites[f.which].ways;
  return std::ranges::any_of(ways[way].compared, [&](const comparison& c) {
    const auto other = other_way(f, c.with, now, from);
    if (!other || ways[*other].witness) return false;
    const auto says = testimony(f, *other, from, now);
    return says.parts > 0 && !says.is_void;
  });
}

// Another meter of the whole machine that says as much as this one, while the packages alone contradict
// neither. Then psys or the counters of memory may be what is wrong. The two meters do not overrule them:
// both come from one BMC, and both may lack the same supply. Low watts win placements, high ones do not.
std::string_view host_source::second_of(const figure& f, std::size_t way, double watts, instant now,
                                        const board& from) const {
  const auto ways = composites[f.which].ways;
  const auto rapl = way_named(ways, "rapl");
  if (!rapl || ways[way].of != machine) return {};
  double packages = 0;
  for (const auto& p : f.parts[*rapl].present()) {
    const auto value = measured(from, p.ref);
    if (value && p.family == ways[*rapl].parts.front().family) packages += to_double(*value);
  }
  if (packages <= 0 || clearly_less(watts, packages)) return {};
  for (std::size_t other = 0; other < ways.size(); ++other) {
    const auto why = f.set_aside_for[other];
    if (other == way || ways[other].of != machine) continue;
    if (why != disbelief::none && why != disbelief::below_parts) continue;
    const auto says = testimony(f, other, from, now).at_least;
    if (says > 0 && !clearly_less(watts, says) && !clearly_less(says, watts)) return ways[other].source;
  }
  return {};
}

// The parts that say 0 W although they cannot, or less, which their own source withholds. A chip's or
// firmware's 0 W may be true for a card that sleeps, but not for the processors on which we run.
std::vector<board::series_ref> host_source::zeros_of(const figure& f, std::size_t way,
                                                     const board& from) const {
  std::vector<board::series_ref> zeros;
  if (!composites[f.which].ways[way].parts_on) return zeros;
  for (const auto& p : f.parts[way].present()) {
    const auto value = measured(from, p.ref);
    const auto& e = from.series()[p.ref];
    const bool less = e.withheld == 0 && e.reason == absence::implausible;
    if (less || (value && no_watts(to_double(*value)))) zeros.push_back(p.ref);
  }
  return zeros;
}

host_source::verdict host_source::compare(figure& f, std::size_t way, const std::vector<contender>& all,
                                          instant now, board& out) {
  const auto ways = composites[f.which].ways;
  const auto& mine = ways[way];
  std::optional<whole_machine_check::figure> whole;
  bool told = false;  // by its own source, with the same remedy
  if (all[way].value) {
    whole = {to_double(*all[way].value), all[way].read_at};
  } else if (!mine.counter && std::ranges::any_of(f.parts[way].present(), [&](const auto& p) {
               return out.series()[p.ref].reason == absence::implausible && !measured(out, p.ref);
             })) {
    whole = {0, now};  // its own source has already found the number implausible, most often 0 W
    told = true;
  }
  verdict first;
  for (std::size_t i = 0; i < mine.compared.size(); ++i) {
    auto with = other_way(f, mine.compared[i].with, now, out);
    if (mine.compared[i].usual_sensors && options_.powers != usual_powers) with.reset();
    // Supplies may feed other machines, too: where another meter speaks of this machine, they say nothing.
    auto& check = f.checks[way][i];
    if (with && ways[*with].witness && is_vouched_for(f, way, now, out)) {
      check.excuse();
      continue;
    }
    const auto found =
        check.look(whole, with ? testimony(f, *with, out, now) : whole_machine_check::witness{}, now);
    if (first.why != disbelief::none || found == disbelief::none) continue;
    first.why = found;
    if (told && found == disbelief::zero) continue;
    const side accused{mine.source, only_sensor(f.parts[way])};
    const side witness = with ? side{ways[*with].source, only_sensor(f.parts[*with])} : side{"rapl", {}};
    auto& second = f.seconds[way];
    // In a pause of the load the verdict stays for a while, but the numbers do not contradict then.
    if (found == disbelief::below_parts && whole && with &&
        clearly_less(whole->watts, testimony(f, *with, out, now).at_least))
      second = second_of(f, way, whole->watts, now, out);
    first.sentence = sentence(accused, witness, second, check);
  }
  const auto why = first.why;
  withhold(f, way, why != disbelief::none && why != disbelief::stands_still, out);
  return first;
}

// After the start, a number that nothing was compared with does not count while the meter of a part of it is
// about to have its first value. Otherwise a number that is too low would count until then, and when it is
// set aside, the lesser way could not take its place.
void host_source::await_witnesses(const figure& f, std::vector<contender>& all, instant now,
                                  const board& from) const {
  if (!f.choice.is_patient(now)) return;
  const auto ways = composites[f.which].ways;
  for (std::size_t w = 0; w < all.size(); ++w) {
    auto& c = all[w];
    if (!c.value || ways[w].compared.empty()) continue;
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (ways[other].of >= ways[w].of || !comes_soon(f.parts[other], from)) continue;
      c.value.reset();
      c.why = absence::not_read_yet;
      c.awaited = true;
      break;
    }
  }
}

void host_source::doubt(std::string sentence) {
  if (!limitation_.empty()) limitation_ += "; ";
  limitation_ += sentence;
}

// A series that was 1 once stays, as 0.
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

// The least that a way says for one of several sockets. Nothing if its parts cannot be told by sockets: a
// chip of apm_xgene counts one, and so do zones of arm-scmi if there are as many as sockets.
std::optional<double> host_source::least_of_a_socket(const figure& f, std::size_t way,
                                                     const board& from) const {
  const auto& w = composites[f.which].ways[way];
  const auto parts = f.parts[way].present();
  const bool by_zone = w.of == firmware_zones;
  const bool by_chip = w.of == chips_named && options_.powers == usual_powers;
  if (sockets_ < 2 || !w.parts_on || (by_zone ? parts.size() != sockets_ : !by_chip)) return std::nullopt;
  std::map<std::string, double> watts;
  for (const auto& p : parts) {
    const auto chip = metrics::label_of(p.labels, "chip");
    const auto value = measured(from, p.ref);
    if (!value || (by_chip && !chip.starts_with("apm_xgene"))) continue;
    watts[by_zone ? p.name() : std::string(chip)] += to_double(*value);
  }
  if (watts.empty()) return std::nullopt;
  return std::ranges::min_element(watts, {}, [](const auto& socket) { return socket.second; })->second;
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
        what.family, best, other ? what.ways[*other].source : "another meter", best, human(c.how.below_for)));
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
