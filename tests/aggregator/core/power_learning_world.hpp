#pragma once

#include "aggregator/core/power_learning.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Nodes whose power the tests of the learner know.
namespace binnacle::aggregator::test {

using namespace std::chrono_literals;

inline constexpr double cores = 16;

/// A machine's true curve: a step when it leaves idle, then straight.
inline double watts_at(double load) { return load <= 0 ? 100 : 140 + 160 * load; }

/// Nodes that send watts and load each second, and a learner that hears of them.
struct world {
  world() { learning.learn(true, now); }

  struct machine {
    store::node_id id{};
    wire::catalog announced;
    bool metered = false;
    std::string accelerators = "0";
    std::optional<std::pair<double, double>> rated;  // idle, peak
    std::optional<double> cpus = cores;              // none: it does not say
  };
  machine& add(const std::string& name, const std::string& cpu = "EPYC", const std::string& meter = "rapl") {
    machine m;
    m.id = *store.node(name);
    announce(m, cpu, meter);
    return all[name] = m;
  }
  void announce(machine& m, const std::string& cpu, const std::string& meter) {
    const auto version = m.announced.version + 1;
    auto c = store::catalog_builder().group("os", stale_after_ms);
    c.series("os_cpu_utilization_ratio", {}, -4).series("os_cpus");
    c.series("host_hardware_info",
             {{"cpu", cpu}, {"sockets", "1"}, {"memory_gib", "64"}, {"accelerators", m.accelerators}});
    m.metered = !meter.empty();
    if (m.metered) c.series("host_power_watts", {{"source", meter}}, -1);
    if (m.rated) c.series("rated_idle_watts", {}, -1).series("rated_peak_watts", {}, -1);
    m.announced = c;
    m.announced.version = version;
    REQUIRE(store.set_catalog(m.id, m.announced, now).has_value());
  }
  /// One second at these loads. `watts`: what the meter says; if there is none, it says what the machine
  /// draws.
  void second(std::map<std::string, double> loads, std::optional<double> watts = {}) {
    now += 1s;
    for (const auto& [name, load] : loads) {
      const machine& m = all.at(name);
      std::vector<std::pair<std::uint32_t, std::int64_t>> values{{0, std::lround(10'000 * load)}};
      if (m.cpus) values.push_back({1, std::lround(*m.cpus)});
      values.push_back({2, 1});
      std::uint32_t at = 3;
      if (m.metered) values.push_back({at++, std::lround(10 * watts.value_or(watts_at(load)))});
      if (m.rated) {
        values.push_back({at++, std::lround(10 * m.rated->first)});
        values.push_back({at++, std::lround(10 * m.rated->second)});
      }
      REQUIRE(store.apply(m.id, store::batch_at(m.announced, now, values), 0s, now).has_value());
    }
    for (int i = 0; i < 10; ++i) tick(now + i * 100ms);
  }
  /// A node without a meter whose data sheet is known: a Xeon.
  void rated(const std::string& name, double idle, double peak) {
    machine& m = add(name, "Xeon", "");
    m.rated = std::pair(idle, peak);
    announce(m, "Xeon", "");
  }
  void tick(instant at) { hear(learning.tick(at)); }
  void hear(power_learning::news news) {
    for (auto& [id, model] : news.models) {
      ++told;
      models[id] = model;
    }
    for (auto& r : news.restarts) restarts.push_back(r.why);
    for (auto& [id, why] : news.notes) notes[id] = why;
  }
  void seconds(int n, const std::map<std::string, double>& loads, std::optional<double> watts = {}) {
    for (int i = 0; i < n; ++i) second(loads, watts);
  }
  std::uint64_t learned() const {
    return learning.counted()[static_cast<std::size_t>(predict::learner::outcome::learned)];
  }
  const predict::model* model(const std::string& name) { return models[all.at(name).id].get(); }
  std::string note(const std::string& name) { return notes[all.at(name).id]; }

  std::uint32_t stale_after_ms = 10'000;
  instant now = store::at_s(1000);
  store::warehouse store{{.nodes = 10}, {}};
  power_learning learning{store};
  std::map<std::string, machine> all;
  std::map<store::node_id, std::shared_ptr<const predict::model>> models;
  std::vector<std::string> restarts;
  std::map<store::node_id, std::string> notes;
  int told = 0;
};

}  // namespace binnacle::aggregator::test
