#include "aggregator/core/power_learning.hpp"

#include "aggregator/policy/power_columns.hpp"
#include "aggregator/predict/learning/estimate.hpp"
#include "aggregator/predict/learning/pooled.hpp"
#include "aggregator/predict/rated.hpp"
#include "aggregator/store/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace binnacle::aggregator {
namespace {

/// BMCs give the mean of up to some minutes, late. A chip of hwmon may give a mean over an interval of its
/// own. Only energy counters give the watts of the moment.
bool may_lag(std::string_view meter) noexcept { return meter != "rapl" && meter != "psys"; }

bool alike(const predict::model& a, const predict::model& b) {
  if (a.from != b.from || a.covered != b.covered || a.known_from != b.known_from ||
      a.known_to != b.known_to || a.meter_stuck != b.meter_stuck || a.meter != b.meter ||
      a.power.cores() != b.power.cores() || a.power.points().size() != b.power.points().size())
    return false;
  return std::ranges::equal(a.power.points(), b.power.points(), [](double x, double y) {
    return std::abs(x - y) <= power_learning::same_watts * y;
  });
}

}  // namespace

power_learning::news power_learning::learn(bool yes, instant now) {
  news out;
  if (yes == power_.has_value()) return out;
  if (!yes) {
    store_.unwatch(power_->id);
    store_.unwatch(load_->id);
    power_.reset();
    load_.reset();
    next_turn_ = instant::max();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      constexpr auto none = node_state::trouble::none;
      if (nodes_[i] && std::exchange(nodes_[i]->of_meter, none) != none)
        out.notes.emplace_back(static_cast<store::node_id>(i), std::string());
    }
    return out;
  }
  const policy::power_columns read;
  power_ = store_.watch(read.watts, now);
  load_ = store_.watch(read.load, now);
  next_turn_ = now + between_turns;
  return out;
}

power_learning::news power_learning::tick(instant now) {
  news out;
  if (now < next_turn_) return out;
  next_turn_ = now + between_turns;
  const std::uint32_t round = turn_ / slices;
  const bool begins_round = turn_ % slices == 0;
  if (begins_round && (round % rounds_between_estimates == 0 || has_unpooled_)) pool();
  nodes_.resize(store_.ids_given());
  for (std::size_t i = turn_ % slices; i < nodes_.size(); i += slices) {
    const auto id = static_cast<store::node_id>(i);
    if (!store_.known(id)) continue;
    const auto cells = store_.cells(id);
    if (cells == nullptr) continue;
    if (!nodes_[i]) nodes_[i] = std::make_unique<node_state>();
    node_state& n = *nodes_[i];
    if (n.cells != cells) n.by = n.about = nullptr;
    n.cells = cells;
    const bool unpooled = std::exchange(n.unpooled, false);
    if (meet(n, id, *cells, now)) take(n, id, now);
    // Each node in its own round, so that the work of one turn stays small. Only a node that has no model, or
    // one without its class, does not wait for that: pods would go to the other nodes meanwhile.
    const bool own_round = (round + i / slices) % rounds_between_estimates == 0;
    if (own_round || unpooled || n.told == nullptr) estimate(n, id, now, out);
    if (own_round) look_at_meter(n, id, now, out);
  }
  ++turn_;
  out.restarts = std::exchange(restarts_, {});
  return out;
}

/// Estimates a node's model, and tells it if it is new.
void power_learning::estimate(node_state& n, store::node_id id, instant now, news& out) const {
  auto made = model_of(n, now);
  const bool same = made == nullptr
                        ? n.told == nullptr
                        : n.told != nullptr && alike(*made, *n.told) &&
                              (made->samples == n.told->samples || now - n.told->made < told_again_after);
  if (same) return;
  n.told = made;
  out.models.emplace_back(id, std::move(made));
}

/// An honest meter contradicts itself once the hardware has changed, by less than begins anything anew: at
/// loads that the node has not had since, the old watts count. So what it had taught is forgotten before the
/// meter is refused. A meter that never followed the node is refused at once: forgotten, it would be believed
/// until half of all loads are known again.
void power_learning::forget_contradictions(node_state& n, store::node_id id, instant now) {
  if (!n.followed || n.own.stuck() || !meter_stands_still(n)) return;
  if (n.contradicted_at && now - *n.contradicted_at < contradicts_again_after) return;
  n.contradicted_at = now;
  n.own = {};
  n.followed = false;
  begun_again(n, id,
              fmt::format("the watts of its meter ({}) at some loads contradict those at others", n.meter));
}

void power_learning::look_at_meter(node_state& n, store::node_id id, instant now, news& out) {
  using trouble = node_state::trouble;
  forget_contradictions(n, id, now);
  const trouble is = meter_stands_still(n)  ? trouble::stands_still
                     : meter_is_too_late(n) ? trouble::too_late
                                            : trouble::none;
  if (is != trouble::stands_still && predict::known_of(n.own.learned(), nullptr).tell()) n.followed = true;
  if (is == std::exchange(n.of_meter, is)) return;
  std::string why;
  if (is == trouble::stands_still) {
    why = fmt::format("the watts of its meter ({}) do not rise with its load", n.meter);
  } else if (is == trouble::too_late) {
    why = fmt::format(
        "the watts of its meter ({}) are too late, means over too long, or do not follow its load: "
        "they teach nothing until its load rests for ten minutes",
        n.meter);
  }
  out.notes.emplace_back(id, std::move(why));
}

void power_learning::begun_again(node_state& n, store::node_id id, std::string why) {
  ++n.restarts;
  n.restarted_for = why;
  restarts_.push_back({id, std::move(why)});
}

/// Begins anew if the hardware, the number of CPUs or the meter has changed. Returns whether all are known:
/// after a new catalog, the node says which they are only with its next values.
bool power_learning::meet(node_state& n, store::node_id id, const store::row& cells, instant now) {
  const auto* const power = store::first_present(cells, policy::power_metric, now).series;
  const auto* const about = store::first_present(cells, "host_hardware_info", now).series;
  const double cpus = store::first_present(cells, policy::cpus_metric, now).value;  // 0: not known now
  const bool known = !n.machine.empty();
  const bool says_all = about != nullptr && cpus > 0;
  if (known && !says_all) return power != nullptr && power == n.by;
  if (known && cpus == n.cpus) back_to_its_cpus(n, now);
  if (known && about == n.about && cpus == n.cpus && power == n.by) return power != nullptr;
  if (about != nullptr && !says_all) return false;  // what it is will be known with the number of its CPUs
  std::string machine = store::machine_of(cells, now);
  // CPUs that are offline for a moment must not cost what was learned in weeks.
  if (known && cpus != n.cpus && n.machine.starts_with(machine)) {
    if (!n.other_cpus_since) n.other_cpus_since = now;
    if (now - *n.other_cpus_since < cpus_settle) return false;
    n.other_cpus_since.reset();
  }
  if (!machine.empty()) machine = store::with_cpus(std::move(machine), cpus);
  const bool same_machine = machine == n.machine;
  // A meter that is away for a while is the same one, on the same machine.
  std::string meter = power != nullptr ? std::string(metrics::label_of(power->labels, "source"))
                      : same_machine   ? n.meter
                                       : std::string();
  if (!same_machine || meter != n.meter) {
    const bool had = known && n.own.samples() != 0;
    if (!same_machine) {
      if (had)
        begun_again(n, id, fmt::format("its hardware has changed ({}, before {})", machine, n.machine));
      n.own = {};
      n.followed = false;
      n.others.clear();
      n.contradicted_at.reset();
      n.machine = std::move(machine);
      n.meter = std::move(meter);
    } else {
      std::string why = fmt::format("its meter has changed ({}, before {})", meter, n.meter);
      if (!change_meter(n, std::move(meter)) && had) begun_again(n, id, std::move(why));
    }
    n.quiet_until = now + policy::power_window;  // until then the windows hold values of the old one, too
    n.late = may_lag(n.meter) ? std::make_unique<node_state::late_meter>() : nullptr;
  }
  n.by = power;
  n.about = about;
  if (about != nullptr) n.measures_accelerators = store::accelerators_measured(n.meter, *about) > 0;
  n.cpus = cpus;
  if (n.kept && power != nullptr) go_on(n, id);
  return power != nullptr;
}

/// After it said another number for less than cpus_settle: the windows still have shares of that number, and
/// what a late meter said of that time is of no use.
void power_learning::back_to_its_cpus(node_state& n, instant now) {
  if (!n.other_cpus_since) return;
  n.other_cpus_since.reset();
  n.quiet_until = now + policy::power_window;
  if (n.late) n.late = std::make_unique<node_state::late_meter>();
}

/// Goes on from what a snapshot kept, if it was learned with this hardware and this meter.
void power_learning::go_on(node_state& n, store::node_id id) {
  // The number of CPUs is not in older snapshots.
  const std::string without_cpus = n.machine.substr(0, n.machine.rfind(", "));
  const bool same =
      n.kept->of == learning_key(n.machine, n.meter) || n.kept->of == learning_key(without_cpus, n.meter);
  if (!same && n.machine.empty()) return;  // it has not said yet what it is
  if (same) {
    n.own = n.kept->what;
    if (n.late) n.late->doubtful = false;
    n.unpooled = has_unpooled_ = true;
  } else {
    begun_again(n, id,
                fmt::format("its hardware or its meter has changed across the restart ({})", class_of(n)));
  }
  n.kept.reset();
}

/// The machine has another meter now. True: the node goes on from what it had learned by that meter before.
bool power_learning::change_meter(node_state& n, std::string meter) {
  if (n.own.samples() != 0) n.others.push_back({std::move(n.meter), n.own});
  n.meter = std::move(meter);
  n.own = {};
  n.followed = false;
  const auto back = std::ranges::find(n.others, n.meter, &node_state::resting::meter);
  const bool knows = back != n.others.end();
  if (knows) {
    n.own = back->learned;
    n.others.erase(back);
  }
  if (n.others.size() > most_resting) n.others.erase(n.others.begin());
  return knows;
}

/// For a meter that may lag: the load to which its present watts belong. Nothing: the load is not known, or
/// these watts were used already.
std::optional<double> power_learning::load_of(node_state& n, double load, double watts, instant now) {
  node_state::late_meter& m = *n.late;
  if (m.still_at < 0 || std::abs(load - m.still_at) > still) {
    m.still_at = load;
    m.moved_at = now;
  }
  constexpr duration step = predict::meter_lag::step;
  if (now - m.looked_at < step - between_turns) return std::nullopt;
  if (now - m.looked_at > 2 * step) m.lag.skip();
  m.looked_at = now;
  m.lag.add(load, watts);
  // Until it is known over how long the watts are a mean, they are taken for those of a minute at most (see
  // doubt()). What a node knows already, from before a restart or an absence of the meter, is not risked for
  // that.
  const bool guesses = m.doubtful || n.own.samples() == 0;
  std::optional<double> of_watts;
  if (m.lag.known() && (guesses || m.lag.means_short() || m.lag.means_long())) {
    of_watts = m.lag.load_of_watts();
  } else if (now - m.moved_at >= (guesses && !m.lag.follows_none() ? settle : settle_longer)) {
    of_watts = load;
  }
  m.waits = of_watts ? 0 : m.waits + 1;
  return of_watts;
}

/// Called for each look at a meter that may lag. `teaches`: the load of its watts is known, or taken to be.
/// Until the mean is known, it is taken to be no longer than a minute. On a node with jobs of some minutes a
/// mean over five then teaches too few watts for busy loads, and once it is known, nothing may ever come that
/// corrects them. So they are forgotten once the watts have spoken against a short mean for ten minutes: for
/// moments those of any meter do.
void power_learning::doubt(node_state& n, bool teaches) {
  constexpr std::uint32_t enough = settle_longer / predict::meter_lag::step;
  node_state::late_meter& m = *n.late;
  const bool longer = m.lag.follows_none() || m.lag.means_long();
  m.against = m.doubtful && longer ? m.against + 1 : 0;
  if (m.against >= enough) {
    n.own = {};
    n.followed = false;
    m.doubtful = false;
  }
  if (!teaches) return;
  if (m.lag.means_short()) {
    m.doubtful = false;
  } else if (n.own.samples() == 0 && !longer) {
    m.doubtful = true;
  }
}

void power_learning::take(node_state& n, store::node_id id, instant now) {
  const store::sample watts = power_->values->load(id), load = load_->values->load(id);
  const auto good = [now](const store::sample& s) {
    return s.present(now) && !s.partial && s.covers_window();
  };
  if (!good(watts) || !good(load)) return;
  std::optional<double> share = to_double(load.value);
  using outcome = predict::learner::outcome;
  if (n.late) {
    share = load_of(n, *share, to_double(watts.value), now);
    const bool looked = n.late->looked_at == now;
    if (looked) doubt(n, share.has_value());
    if (!share && looked && watts.read_at > n.learned_at)
      ++counted_[static_cast<std::size_t>(outcome::waits)];
  }
  if (!share) return;
  if (watts.read_at <= std::exchange(n.learned_at, std::max(n.learned_at, watts.read_at))) return;
  if (now < n.quiet_until) return;
  constexpr predict::meter_pace of_lagging{repeats_of_lagging / predict::meter_lag::step,
                                           remembered_of_lagging / predict::meter_lag::step};
  const outcome what = n.own.add(*share, to_double(watts.value), n.late ? of_lagging : predict::meter_pace());
  ++counted_[static_cast<std::size_t>(what)];
  if (what == outcome::anew_stuck) {
    begun_again(n, id, fmt::format("its meter ({}) stood still while its load moved", n.meter));
  } else if (what == outcome::anew_outliers) {
    begun_again(n, id,
                fmt::format("{} samples in a row of its meter ({}) were far from what it drew before",
                            predict::learner::most_outliers, n.meter));
  }
}

/// What its own meter taught; nothing where the meter does not follow the node.
const predict::statistics& power_learning::believed(const node_state& n) {
  static const predict::statistics nothing;
  const bool stood_still = n.of_meter == node_state::trouble::stands_still;
  return predict::stands_still(n.own.learned(), stood_still) ? nothing : n.own.learned();
}

/// Whether its meter repeats itself, or hardly follows the load.
bool power_learning::meter_stands_still(const node_state& n) {
  return n.own.stuck() || &believed(n) != &n.own.learned();
}

/// Whether it may lag, and has long said nothing of which the load is known, while little else was learned.
bool power_learning::meter_is_too_late(const node_state& n) {
  constexpr std::uint32_t looks = useless / predict::meter_lag::step;
  return n.late != nullptr && n.late->waits >= looks && n.own.covered() <= taught_hardly;
}

/// Joins what the nodes of a kind have measured.
void power_learning::pool() {
  has_unpooled_ = false;
  kinds_.clear();
  usual_kind_.clear();
  std::map<std::string, std::uint32_t, std::less<>> most;
  std::map<std::string, std::vector<const predict::statistics*>> measured;
  for (const auto& n : nodes_) {
    if (!n || n->machine.empty()) continue;
    const predict::statistics& own = believed(*n);
    if (own.empty()) continue;
    const std::string name = class_of(*n);
    kind& k = kinds_[name];
    measured[name].push_back(&own);
    ++k.nodes;
    auto& best = most[n->machine];
    if (k.nodes > best) {
      best = k.nodes;
      usual_kind_[n->machine] = name;
    }
  }
  for (const auto& [name, nodes] : measured) kinds_[name].all = predict::pooled(nodes);
}

std::shared_ptr<const predict::model> power_learning::model_of(const node_state& n, instant now) const {
  const double cores = store::first_present(*n.cells, policy::cpus_metric, now).value;
  if (cores <= 0) return n.told;  // not known now: as before
  if (n.measures_accelerators) {
    if (auto line = rated_model(n, cores, now)) return line;
  }
  const predict::statistics& own = believed(n);
  const kind* alike_nodes = nullptr;
  if (!n.machine.empty()) {
    auto at = kinds_.find(class_of(n));
    if (at == kinds_.end()) {
      const auto usual = usual_kind_.find(n.machine);
      if (usual != usual_kind_.end() && own.empty()) at = kinds_.find(usual->second);
    }
    if (at != kinds_.end()) alike_nodes = &at->second;
  }
  auto power = predict::estimate(own, alike_nodes == nullptr ? nullptr : &alike_nodes->all, cores);
  if (!power) return rated_model(n, cores, now);
  const auto known = predict::known_of(own, alike_nodes == nullptr ? nullptr : &alike_nodes->all);
  const bool follows = &own == &n.own.learned();
  const bool measured = follows && n.own.covered() > 0;
  const std::uint32_t all = alike_nodes == nullptr ? 0 : alike_nodes->nodes;
  return std::make_shared<const predict::model>(predict::model{
      std::move(*power),
      measured ? predict::model_source::node : predict::model_source::hardware_class,
      own,
      follows ? n.own.covered() : 0,
      n.own.noise(),
      n.own.samples(),
      n.own.outliers(),
      meter_stands_still(n),
      own.empty() ? all : all - std::min(all, 1U),
      n.machine,
      n.meter,
      now,
      n.restarts,
      n.restarted_for,
      known.from,
      known.to,
  });
}

std::shared_ptr<const predict::model> power_learning::rated_model(const node_state& n, double cores,
                                                                  instant now) const {
  const auto idle = store::first_present(*n.cells, policy::rated_idle_metric, now);
  const auto peak = store::first_present(*n.cells, policy::rated_peak_metric, now);
  if (idle.series == nullptr || peak.series == nullptr) return nullptr;
  auto line = predict::rated_line(idle.value, peak.value, cores);
  if (!line) return nullptr;  // ops/power_json says why
  predict::model out{std::move(*line)};
  out.from = predict::model_source::rated;
  out.meter_stuck = meter_stands_still(n);
  out.hardware = n.machine;
  out.made = now;
  out.restarts = n.restarts;
  out.restarted_for = n.restarted_for;
  return std::make_shared<const predict::model>(std::move(out));
}

void power_learning::forget(const std::vector<store::node_id>& gone) {
  for (const store::node_id id : gone) {
    if (store::index(id) < nodes_.size()) nodes_[store::index(id)].reset();
  }
}

bool power_learning::save(store::node_id id, store::words& into) const {
  if (store::index(id) >= nodes_.size() || nodes_[store::index(id)] == nullptr) return false;
  const node_state& n = *nodes_[store::index(id)];
  if (n.kept == nullptr && n.own.learned().empty()) return false;
  aggregator::save(n.kept ? *n.kept : kept_learning{learning_key(n.machine, n.meter), n.own}, into);
  return true;
}

void power_learning::recall(store::node_id id, store::word_reader from) {
  if (store::index(id) >= nodes_.size()) nodes_.resize(store::index(id) + 1);
  auto& n = nodes_[store::index(id)];
  if (!n) n = std::make_unique<node_state>();
  auto kept = load_learning(from);
  if (!kept) {
    if (n->kept == nullptr) begun_again(*n, id, "what the snapshot kept of it cannot be read");
  } else if (n->kept == nullptr ||
             (n->kept->of == kept->of && n->kept->what.samples() < kept->what.samples())) {
    n->kept = std::make_unique<const kept_learning>(std::move(*kept));
  }
}

}  // namespace binnacle::aggregator
