#include "aggregator/core/power_learning.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

namespace power_learning_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

constexpr double cores = 16;

/// A machine's true curve: a step when it leaves idle, then straight.
double watts_at(double load) { return load <= 0 ? 100 : 140 + 160 * load; }

/// Nodes that send watts and load each second, and a learner that hears of them.
struct world {
  world() { learning.learn(true, now); }

  struct machine {
    store::node_id id{};
    wire::catalog announced;
  };
  machine& add(const std::string& name, const std::string& cpu = "EPYC", const std::string& meter = "rapl") {
    machine m;
    m.id = *store.node(name);
    announce(m, cpu, meter);
    return all[name] = m;
  }
  void announce(machine& m, const std::string& cpu, const std::string& meter) {
    const auto version = m.announced.version + 1;
    auto c = store::catalog_builder().group("os");
    c.series("os_cpu_utilization_ratio", {}, -4).series("os_cpus");
    c.series("host_hardware_info",
             {{"cpu", cpu}, {"sockets", "1"}, {"memory_gib", "64"}, {"accelerators", "0"}});
    if (!meter.empty()) c.series("host_power_watts", {{"source", meter}}, -1);
    m.announced = c;
    m.announced.version = version;
    REQUIRE(store.set_catalog(m.id, m.announced, now).has_value());
  }
  /// A second of this load. `watts`: of the meter, none: what the machine draws.
  void second(std::map<std::string, double> loads, std::optional<double> watts = {}) {
    now += 1s;
    for (const auto& [name, load] : loads) {
      const machine& m = all.at(name);
      std::vector<std::pair<std::uint32_t, std::int64_t>> values{
          {0, std::lround(10'000 * load)}, {1, std::lround(cores)}, {2, 1}};
      if (m.announced.series.size() > 3)
        values.push_back({3, std::lround(10 * watts.value_or(watts_at(load)))});
      REQUIRE(store.apply(m.id, store::batch_at(m.announced, now, values), 0s, now).has_value());
    }
    for (int i = 0; i < 10; ++i) tick(now + i * 100ms);
  }
  void tick(instant at) {
    for (auto& [id, model] : learning.tick(at)) {
      ++told;
      models[id] = model;
    }
  }
  void seconds(int n, const std::map<std::string, double>& loads, std::optional<double> watts = {}) {
    for (int i = 0; i < n; ++i) second(loads, watts);
  }
  const predict::model* model(const std::string& name) { return models[all.at(name).id].get(); }

  instant now = store::at_s(1000);
  store::warehouse store{{.nodes = 10}, {}};
  power_learning learning{store};
  std::map<std::string, machine> all;
  std::map<store::node_id, std::shared_ptr<const predict::model>> models;
  int told = 0;
};

TEST_SUITE("aggregator/core/power_learning") {
  TEST_CASE("a node's curve follows what its meter said, at the loads that it had") {
    world w;
    w.add("a");
    w.seconds(60, {{"a", 0.0}});
    w.seconds(60, {{"a", 0.3}});
    w.seconds(60, {{"a", 0.6}});
    const auto* m = w.model("a");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::node);
    CHECK(m->meter == "rapl");
    CHECK(m->power.cores() == cores);
    for (const double load : {0.0, 0.3, 0.6}) {
      CAPTURE(load);
      CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.05));
    }
    CHECK(m->covered > 0.1);
    CHECK(m->covered < 0.9);
  }

  TEST_CASE("a node without a meter has the curve of nodes with the same hardware, at its own size") {
    world w;
    w.add("a");
    w.add("b", "EPYC", "");
    w.add("other", "Xeon", "");
    w.seconds(60, {{"a", 0.2}, {"b", 0.2}, {"other", 0.2}});
    w.seconds(60, {{"a", 0.5}, {"b", 0.5}, {"other", 0.5}});
    const auto* m = w.model("b");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::hardware_class);
    CHECK(m->others == 1);
    CHECK(m->power.watts(0.5 * cores) == doctest::Approx(watts_at(0.5)).epsilon(0.05));
    CHECK(w.model("other") == nullptr);
  }

  TEST_CASE("nothing is said where nothing has changed, and again within two minutes where it learns on") {
    world w;
    w.add("a");
    w.seconds(120, {{"a", 0.3}});
    const int before = w.told;
    CHECK(before >= 1);
    w.seconds(120, {{"a", 0.3}});
    CHECK(w.told - before <= 3);
    CHECK(w.told - before >= 1);
    CHECK(w.now - w.model("a")->made < 2min);
  }

  TEST_CASE("other hardware under the same name begins anew") {
    world w;
    auto& a = w.add("a");
    w.seconds(60, {{"a", 0.3}});
    CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(watts_at(0.3)).epsilon(0.05));
    w.announce(a, "Xeon", "rapl");
    w.seconds(40, {{"a", 0.3}}, 50);
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->samples < 40);
    CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(50).epsilon(0.1));
    CHECK(w.model("a")->hardware.find("Xeon") != std::string::npos);
  }

  TEST_CASE("another meter begins anew: it measures something else") {
    world w;
    auto& a = w.add("a");
    w.seconds(60, {{"a", 0.3}});
    w.announce(a, "EPYC", "psys");
    w.seconds(40, {{"a", 0.3}}, 250);
    CHECK(w.model("a")->meter == "psys");
    CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(250).epsilon(0.05));
  }

  TEST_CASE("a meter that lags is not learned from while the load moves") {
    for (const char* meter : {"dcmi", "rapl"}) {
      world w;
      w.add("a", "EPYC", meter);
      w.seconds(40, {{"a", 0.1}});
      const auto before = w.model("a")->samples;
      for (int i = 0; i < 20; ++i) w.seconds(1, {{"a", 0.1 + 0.04 * i}});
      w.seconds(22, {{"a", 0.9}});
      CAPTURE(meter);
      const auto learned = w.model("a")->samples - before;
      if (std::string_view(meter) == "dcmi")
        CHECK(learned < 25);
      else
        CHECK(learned > 30);
    }
  }

  TEST_CASE("it rests while nobody asks, and goes on from what it knows") {
    world w;
    w.add("a");
    w.seconds(60, {{"a", 0.3}});
    w.learning.learn(false, w.now);
    CHECK(w.learning.next_deadline() == instant::max());
    CHECK(w.store.columns_in_use() == 0);
    const auto samples = w.model("a")->samples;
    w.seconds(30, {{"a", 0.3}});
    CHECK(w.model("a")->samples == samples);
    w.learning.learn(true, w.now);
    CHECK(w.learning.next_deadline() > w.now);
    w.seconds(90, {{"a", 0.3}});
    CHECK(w.model("a")->samples > samples + 30);
  }
}

}  // namespace power_learning_test
