#include "tests/bench/power/day.hpp"

#include "aggregator/core/power_learning.hpp"
#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace binnacle::bench {
namespace {

using namespace std::chrono_literals;
using aggregator::power_learning;

constexpr int second_of_an_hour = 3'600;

/// A node and its meter, second by second.
struct machine {
  store::node_id id{};
  wire::catalog announced;
  std::size_t kind = 0;
  double factor = 1, noise = 0.01;
  bool sticks = false, has_jobs = false;
  std::size_t late = 10, mean = 10;  // seconds
  double step = 1;                   // watts
  double day_begins = 0, load = 0;
  std::vector<double> drawn;  // of the last seconds, the oldest overwritten
  double said = 0;
};

void announce(store::warehouse& to, machine& m, const std::string& cpu, instant now) {
  const auto version = m.announced.version + 1;
  auto c = store::catalog_builder().group("os", 10'000);
  c.series("os_cpu_utilization_ratio", {}, -4).series("os_cpus");
  c.series("host_hardware_info",
           {{"cpu", cpu}, {"sockets", "2"}, {"memory_gib", "256"}, {"accelerators", "0"}});
  c.series("host_power_watts", {{"source", "dcmi"}});
  m.announced = c;
  m.announced.version = version;
  if (to.set_catalog(m.id, m.announced, now).has_error()) throw std::runtime_error("a catalog was refused");
}

/// The load in this second: high by day and low at night, with a random walk around it.
double next_load(machine& m, double hours, dice& random) {
  const double hill = 0.45 + 0.4 * std::sin(2 * std::numbers::pi * (hours / 6 + m.day_begins));
  m.load += 0.002 * (hill - m.load) + 0.012 * random.normal();
  return m.load = std::clamp(m.load, 0.0, 1.0);
}

/// The load with jobs of an hour: it jumps to another level each hour, high and low in turn, and rests there.
double load_of_jobs(machine& m, int second, dice& random) {
  const int begun = second + static_cast<int>(m.day_begins * second_of_an_hour);
  if (second == 0 || begun % second_of_an_hour == 0) {
    const bool busy = begun / second_of_an_hour % 2 == 1;
    m.load = busy ? random.between(0.5, 0.9) : random.between(0.05, 0.15);
  }
  return std::clamp(m.load + 0.003 * random.normal(), 0.0, 1.0);
}

/// What the meter says in this second: a mean over seconds some time ago, in its steps.
double reading(machine& m, double watts, int second, dice& random) {
  const std::size_t room = m.late + m.mean;
  m.drawn.resize(room, watts);
  m.drawn[static_cast<std::size_t>(second) % room] = watts;
  if (m.sticks && second % (2 * second_of_an_hour) > 100 * 60) return m.said;
  double sum = 0;
  for (std::size_t k = 0; k < m.mean; ++k)
    sum += m.drawn[(static_cast<std::size_t>(second) + 1 + k) % room];  // the oldest seconds
  const double mean = sum / static_cast<double>(m.mean);
  return m.said = m.step * std::round(mean * m.factor * (1 + m.noise * random.normal()) / m.step);
}

}  // namespace

known_fleet after_hours(int hours, const fleet& truth, std::span<const server> kinds, std::uint64_t seed) {
  dice random(seed);
  instant now = store::at_s(1000);
  store::warehouse store{{.nodes = static_cast<std::uint32_t>(truth.size())}, {}};
  power_learning learning(store);
  learning.learn(true, now);
  std::vector<machine> machines(truth.size());
  std::vector<std::shared_ptr<const predict::model>> models(truth.size());
  known_fleet out{truth};
  constexpr std::array<std::size_t, 4> seconds{10, 20, 30, 60};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    machine& m = machines[i];
    m.id = *store.node(fmt::format("node-{}", i));
    m.kind = truth[i].kind;
    m.late = seconds[m.kind % 4];
    m.mean = seconds[m.kind / 4 % 4 + m.kind % 2];
    m.day_begins = random.share();
    m.factor = i % 8 == 1 ? 1.5 : 1 + 0.1 * (random.share() - 0.5);
    m.sticks = i % 8 == 2;
    if (i % 8 == 3) m.noise = 0.05, m.step = 4;
    if (i % 8 == 5) m.has_jobs = true, m.mean = 300;
    announce(store, m, kinds[m.kind].name, now);
  }
  const auto whole = hours * second_of_an_hour;
  for (int second = 0; second < whole; ++second) {
    now += 1s;
    for (std::size_t i = 0; i < machines.size(); ++i) {
      machine& m = machines[i];
      if (i % 8 == 4 && second == whole / 2) {
        // Another kind of server under the same name.
        m.kind = (m.kind + 1) % kinds.size();
        const auto like = std::ranges::find(truth, m.kind, &node::kind);
        out.nodes[i].kind = m.kind;
        out.nodes[i].truth = like->truth;
        announce(store, m, kinds[m.kind].name, now);
      }
      const node& n = out.nodes[i];
      const double load = m.has_jobs ? load_of_jobs(m, second, random)
                                     : next_load(m, static_cast<double>(second) / second_of_an_hour, random);
      const double watts = reading(m, n.truth.watts(load * n.truth.cores()), second, random);
      const std::vector<std::pair<std::uint32_t, std::int64_t>> values{{0, std::lround(10'000 * load)},
                                                                       {1, std::lround(n.truth.cores())},
                                                                       {2, 1},
                                                                       {3, std::lround(watts)}};
      if (store.apply(m.id, store::batch_at(m.announced, now, values), 0s, now).has_error())
        throw std::runtime_error("values were refused");
    }
    for (int turn = 0; turn < 10; ++turn) {
      const auto news = learning.tick(now + turn * 100ms);
      for (const auto& [id, model] : news.models) models[store::index(id)] = model;
      for (const auto& anew : news.restarts)
        out.anew_with_jobs += machines[store::index(anew.node)].has_jobs ? 1 : 0;
    }
  }
  std::vector<double> off;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    node& n = out.nodes[i];
    const double cap = n.believed->cap() / truth[i].truth.cores();
    if (models[i] == nullptr) {
      ++out.unknown;
      continue;
    }
    const auto points = models[i]->power.points();
    double sum = 0;
    constexpr int looks = 9;
    for (int k = 1; k <= looks; ++k) {
      const double at = 0.1 * k * n.truth.cores();
      sum += std::abs(models[i]->power.watts(at) / (machines[i].factor * n.truth.watts(at)) - 1);
    }
    off.push_back(sum / looks);
    if (machines[i].has_jobs) out.worst_off_with_jobs = std::max(out.worst_off_with_jobs, off.back());
    n.believe({points.begin(), points.end()}, cap);
  }
  std::ranges::sort(off);
  if (!off.empty()) out.median_off = off[off.size() / 2], out.worst_off = off.back();
  const auto& counted = learning.counted();
  out.learned = counted[static_cast<std::size_t>(predict::learner::outcome::learned)];
  // Of those that wait nobody knows the load, so they are none to learn from.
  out.samples = std::accumulate(counted.begin(), counted.end(), std::uint64_t{0}) -
                counted[static_cast<std::size_t>(predict::learner::outcome::waits)];
  return out;
}

}  // namespace binnacle::bench
