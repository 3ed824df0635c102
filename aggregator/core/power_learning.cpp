#include "aggregator/core/power_learning.hpp"

#include "aggregator/policy/power_columns.hpp"
#include "aggregator/predict/estimate.hpp"
#include "aggregator/store/hardware.hpp"

#include <algorithm>
#include <cmath>

namespace binnacle::aggregator {
namespace {

/// BMCs give means over some seconds, late by as many.
bool lags(std::string_view meter) noexcept { return meter == "bmc" || meter == "dcmi"; }

bool alike(const predict::model& a, const predict::model& b) {
  if (a.from != b.from || a.covered != b.covered || a.meter_stuck != b.meter_stuck || a.meter != b.meter ||
      a.power.cores() != b.power.cores() || a.power.points().size() != b.power.points().size())
    return false;
  return std::ranges::equal(a.power.points(), b.power.points(), [](double x, double y) {
    return std::abs(x - y) <= power_learning::same_watts * y;
  });
}

}  // namespace

void power_learning::learn(bool yes, instant now) {
  if (yes == power_.has_value()) return;
  if (!yes) {
    store_.unwatch(power_->id);
    store_.unwatch(load_->id);
    power_.reset();
    load_.reset();
    next_turn_ = instant::max();
    return;
  }
  const policy::power_columns read;
  power_ = store_.watch(read.watts, now);
  load_ = store_.watch(read.load, now);
  next_turn_ = now + between_turns;
}

power_learning::news power_learning::tick(instant now) {
  news out;
  if (now < next_turn_) return out;
  next_turn_ = now + between_turns;
  const std::uint32_t round = turn_ / slices;
  if (turn_ % (slices * rounds_between_estimates) == 0) pool();
  nodes_.resize(store_.ids_given());
  for (std::size_t i = turn_ % slices; i < nodes_.size(); i += slices) {
    const auto id = static_cast<store::node_id>(i);
    if (!store_.known(id)) continue;
    const auto cells = store_.cells(id);
    if (cells == nullptr) continue;
    if (!nodes_[i]) nodes_[i] = std::make_unique<node_state>();
    node_state& n = *nodes_[i];
    if (n.cells != cells) n.by = nullptr;
    n.cells = cells;
    if (meet(n, *cells, now)) take(n, id, now);
    // Each node in its own round, so that the work of one turn stays small.
    if ((round + i / slices) % rounds_between_estimates != 0) continue;
    auto made = model_of(n, now);
    const bool same = made == nullptr
                          ? n.told == nullptr
                          : n.told != nullptr && alike(*made, *n.told) &&
                                (made->samples == n.told->samples || now - n.told->made < told_again_after);
    if (same) continue;
    n.told = made;
    out.emplace_back(id, std::move(made));
  }
  ++turn_;
  return out;
}

/// Begins anew where the hardware or the meter is another one. Whether it is known which they are: after a
/// new catalogue a node says so only with its next values.
bool power_learning::meet(node_state& n, const store::row& cells, instant now) {
  const auto power = store::first_present(cells, policy::power_metric, now);
  // Without a value nothing is learned, and a meter that is away for a while is the same one.
  if (power.series == nullptr && !n.machine.empty()) return false;
  if (power.series == n.by && !n.machine.empty()) return true;
  std::string machine = store::machine_of(cells, now);
  const auto meter =
      power.series == nullptr ? std::string_view(n.meter) : store::label_of(*power.series, "source");
  if (machine.empty() && !n.machine.empty()) return false;
  if (machine != n.machine || meter != n.meter) {
    n.own = {};
    n.quiet_until = now + policy::power_window;  // what the windows hold is of both
    n.machine = std::move(machine);
    n.meter = meter;
  }
  n.by = power.series;
  return power.series != nullptr;
}

void power_learning::take(node_state& n, store::node_id id, instant now) {
  const store::sample watts = power_->values->load(id), load = load_->values->load(id);
  const auto good = [now](const store::sample& s) {
    return s.present(now) && !s.partial && s.covers_window();
  };
  if (!good(watts) || !good(load) || watts.read_at <= n.learned_at) return;
  const double share = to_double(load.value);
  const double before = std::exchange(n.load, share);
  n.learned_at = watts.read_at;
  if (lags(n.meter)) {
    if (before < 0 || std::abs(share - before) > moved) n.quiet_until = now + settle;
  }
  if (now < n.quiet_until) return;
  n.own.add(share, to_double(watts.value));
}

/// What nodes of a kind have measured together.
void power_learning::pool() {
  kinds_.clear();
  usual_kind_.clear();
  std::map<std::string, std::uint32_t, std::less<>> most;
  for (const auto& n : nodes_) {
    if (!n || n->machine.empty() || n->own.learned().empty()) continue;
    const std::string name = class_of(*n);
    kind& k = kinds_[name];
    k.sums += n->own.learned();
    ++k.nodes;
    auto& best = most[n->machine];
    if (k.nodes > best) {
      best = k.nodes;
      usual_kind_[n->machine] = name;
    }
  }
  for (auto& [name, k] : kinds_) k.all = k.sums.means();
}

std::shared_ptr<const predict::model> power_learning::model_of(const node_state& n, instant now) const {
  const double cores = store::first_present(*n.cells, policy::cpus_metric, now).value;
  if (cores <= 0) return n.told;  // not known now: as before
  const kind* alike_nodes = nullptr;
  if (!n.machine.empty()) {
    auto at = kinds_.find(class_of(n));
    if (at == kinds_.end()) {
      const auto usual = usual_kind_.find(n.machine);
      if (usual != usual_kind_.end() && n.own.learned().empty()) at = kinds_.find(usual->second);
    }
    if (at != kinds_.end()) alike_nodes = &at->second;
  }
  auto power =
      predict::estimate(n.own.learned(), alike_nodes == nullptr ? nullptr : &alike_nodes->all, cores);
  if (!power) return nullptr;
  const bool measured = n.own.covered() > 0;
  const std::uint32_t all = alike_nodes == nullptr ? 0 : alike_nodes->nodes;
  return std::make_shared<const predict::model>(predict::model{
      std::move(*power),
      measured ? predict::model_source::node : predict::model_source::hardware_class,
      n.own.learned(),
      n.own.covered(),
      n.own.noise(),
      n.own.samples(),
      n.own.outliers(),
      n.own.stuck(),
      n.own.learned().empty() ? all : all - std::min(all, 1U),
      n.machine,
      n.meter,
      now,
  });
}

void power_learning::forget(const std::vector<store::node_id>& gone) {
  for (const store::node_id id : gone) {
    if (store::index(id) < nodes_.size()) nodes_[store::index(id)].reset();
  }
}

}  // namespace binnacle::aggregator
