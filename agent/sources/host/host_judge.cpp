// Which ways are set aside, and why: the part of host_source that judges numbers.
#include "agent/sources/host/host.hpp"
#include "agent/sources/host/set_aside_sentence.hpp"
#include "agent/sources/host/way_reading.hpp"
#include "agent/sources/host/ways.hpp"
#include "agent/sources/power_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace binnacle::agent {
namespace {

std::optional<std::size_t> way_named(std::span<const way> ways, std::string_view source) {
  const auto at = std::ranges::find(ways, source, &way::source);
  return at == ways.end() ? std::nullopt : std::optional<std::size_t>(at - ways.begin());
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
                                                    instant now) {
  const auto& about = composites[f.which].ways[way];
  whole_machine_check::witness w;
  const auto says = [&](board::series_ref s) {
    const auto value = is_late(from, s, now) ? std::nullopt : measured(from, s);
    if (value) ++w.parts;
    return value ? to_double(*value) : 0;
  };
  for (const auto& p : f.parts[way].present()) {
    double inside = 0;
    for (const auto s : f.inside[way]) {
      const auto& labels = from.series()[s].info.labels;
      if (p.family == about.parts.front().family &&
          metrics::label_of(labels, about.inside.label) == metrics::label_of(p.labels, about.inside.of_whole))
        inside += says(s);
    }
    w.at_least += std::max(says(p.ref), inside);
  }
  // A witness whose sum lacks a supply that is not believed still says the least that the machine draws. So
  // does a way that says less than what is inside its parts.
  const auto why = f.set_aside_for[way];
  w.is_void = why != disbelief::none && !(why == disbelief::zero && about.witness) &&
              !(why == disbelief::below_parts && !about.inside.series.empty());
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
      f.checks[w] = ways[w].checks();
      withhold(f, w, false, out);
    } else {
      found = judge(f, w, all, now, out);
    }
    const auto why = f.set_aside_for[w] = found.why;
    if (why != disbelief::below_parts) f.seconds[w] = {};
    const bool missed = is_missed(f, w, all);
    if (missed && !found.sentence.empty()) doubt(found.sentence);
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
  for (const auto& p : f.parts[way].present()) {
    // The memory's own counter is not that of the packages, which are withheld.
    if (p.family == composites[f.which].ways[way].parts.front().family)
      out.withhold(p.ref, absence::implausible, withheld);
  }
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
                                         "not use it; reload its driver, or look for newer firmware",
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
  // 0 W is no matter of units, and compare() says so. The source rapl judges each package.
  const bool too_low = c.value && w.of != packages && !no_watts(watts) && watts < least_watts_;
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

// What the two other meters of the whole machine say, if they agree: the higher number. Nothing if they do
// not, or one of them is not believed.
std::optional<double> host_source::agreed_by_others(const figure& f, std::size_t way, instant now,
                                                    const board& from) {
  const auto ways = composites[f.which].ways;
  std::vector<double> others;
  for (std::size_t other = 0; other < ways.size(); ++other) {
    if (other == way || ways[other].of != machine || ways[way].of != machine) continue;
    const auto says = testimony(f, other, from, now);
    if (says.at_least > 0 && !says.is_void) others.push_back(says.at_least);
  }
  std::ranges::sort(others);
  if (others.size() < 2 || clearly_less(others.front(), others.back())) return std::nullopt;
  return others.back();
}

// The parts that say 0 W although they cannot, and those whose own source withholds a number below that. A
// chip's or firmware's 0 W may be true for a card that sleeps, but not for the processors on which we run.
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
    auto figure = whole;
    auto other = with ? testimony(f, *with, out, now) : whole_machine_check::witness{};
    if (mine.compared[i].how.lower == disbelief::above_others) {
      // The roles are changed: what the others say is the lower number.
      const auto agreed = agreed_by_others(f, way, now, out);
      other = {.at_least = whole ? whole->watts : 0, .parts = 1, .which = way};
      figure.reset();
      if (whole && agreed) figure = {*agreed, now};
    } else if (with) {
      const auto agreed = agreed_by_others(f, *with, now, out);
      other.is_void = other.is_void || (agreed && *agreed < other.at_least * far_share);
    }
    const auto found = check.look(figure, other, now);
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

}  // namespace binnacle::agent
