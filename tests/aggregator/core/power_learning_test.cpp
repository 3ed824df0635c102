#include "aggregator/core/power_learning.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

  TEST_CASE("while no node of a class was ever idle, its idle watts are said to be a guess") {
    world w;
    w.add("a");
    w.add("b");
    w.add("c", "EPYC", "");
    w.seconds(60, {{"a", 0.2}, {"b", 0.2}, {"c", 0.2}});
    w.seconds(60, {{"a", 0.5}, {"b", 0.4}, {"c", 0.3}});
    for (const char* name : {"a", "b", "c"}) {
      CAPTURE(name);
      const auto* m = w.model(name);
      REQUIRE(m != nullptr);
      CHECK(m->idle_guessed());
      CHECK(m->known_from == doctest::Approx(0.2).epsilon(0.05));
      CHECK(m->known_to == doctest::Approx(0.5).epsilon(0.05));
    }
    w.seconds(180, {{"a", 0.2}, {"b", 0.0}, {"c", 0.3}});
    for (const char* name : {"a", "b", "c"}) {  // one of them was
      CAPTURE(name);
      CHECK_FALSE(w.model(name)->idle_guessed());
      CHECK(w.model(name)->known_from == 0);
    }
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

  TEST_CASE("a node that nobody measured is scored by its rated watts, until a node of its kind measures") {
    world w;
    w.rated("old", 90, 410);
    w.rated("mixed up", 410, 90);
    w.seconds(30, {{"old", 0.5}, {"mixed up", 0.5}});
    const auto* m = w.model("old");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::rated);
    CHECK(m->power.watts(0.5 * cores) == doctest::Approx(250));
    CHECK(m->covered == 0);
    CHECK(w.model("mixed up") == nullptr);
    w.add("like it", "Xeon");
    w.seconds(60, {{"old", 0.5}, {"mixed up", 0.5}, {"like it", 0.5}});
    REQUIRE(w.model("old") != nullptr);
    CHECK(w.model("old")->from == predict::model_source::hardware_class);
  }

  TEST_CASE("a node whose meter also measures its accelerators goes by its rated watts, if it has any") {
    using from = predict::model_source;
    struct kind {
      const char *meter, *accelerators;
      from source;
    };
    for (const kind& k : {kind{"dcmi", "8", from::rated}, kind{"dcmi", "0", from::node},
                          kind{"rapl", "8", from::node}, kind{"dcmi", "unknown", from::node}}) {
      CAPTURE(k.meter);
      CAPTURE(k.accelerators);
      world w;
      auto& a = w.add("a");
      a.accelerators = k.accelerators;
      a.rated = std::pair(90.0, 410.0);
      w.announce(a, "EPYC", k.meter);
      w.seconds(200, {{"a", 0.5}});
      REQUIRE(w.model("a") != nullptr);
      CHECK(w.model("a")->from == k.source);
      if (k.source != from::rated) continue;
      CHECK(w.model("a")->power.watts(0.5 * cores) == doctest::Approx(250));
      w.seconds(150, {{"a", 0.5}}, 2000);  // the accelerators begin a job
      CHECK(w.model("a")->from == from::rated);
      CHECK(w.model("a")->power.watts(0.5 * cores) == doctest::Approx(250));
    }
  }

  TEST_CASE("a node without a meter whose hardware has changed leaves its class") {
    world w;
    w.add("a");
    auto& b = w.add("b", "EPYC", "");
    w.seconds(120, {{"a", 0.2}, {"b", 0.2}});
    REQUIRE(w.model("b") != nullptr);
    w.announce(b, "Xeon", "");
    w.seconds(30, {{"a", 0.2}, {"b", 0.2}});
    CHECK(w.model("b") == nullptr);
    w.announce(b, "EPYC", "");
    w.seconds(30, {{"a", 0.2}, {"b", 0.2}});
    CHECK(w.model("b") != nullptr);
  }

  TEST_CASE("a model that has not changed is not published again, but every two minutes while it learns on") {
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

  TEST_CASE("a node that moved to another machine while it was away begins anew, and says so") {
    for (const char* cpu : {"EPYC", "Xeon"}) {
      CAPTURE(cpu);
      const bool moved = std::string_view(cpu) == "Xeon";
      world w;
      auto& a = w.add("a");
      w.seconds(60, {{"a", 0.3}});
      const auto before = w.model("a")->samples;
      w.seconds(120, {});
      CHECK(w.model("a")->samples == before);
      w.announce(a, cpu, "rapl");
      w.seconds(40, {{"a", 0.3}}, moved ? std::optional(50.0) : std::nullopt);
      REQUIRE(w.restarts.size() == (moved ? 1 : 0));
      if (!moved) {
        CHECK(w.model("a")->samples > before);
        continue;
      }
      CHECK(w.restarts[0] ==
            "its hardware has changed (1 x Xeon, 64 GiB, 0 accelerators, 16 CPUs, before 1 x EPYC, 64 GiB, 0 "
            "accelerators, 16 CPUs)");
      CHECK(w.model("a")->samples < 40);
      CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(50).epsilon(0.1));
    }
  }

  TEST_CASE("a node that comes back with another number of CPUs begins anew, and its class is another one") {
    world w;
    auto& a = w.add("a");
    w.add("like it", "EPYC", "");
    w.seconds(60, {{"a", 0.3}, {"like it", 0.3}});
    REQUIRE(w.model("like it") != nullptr);
    CHECK(w.model("like it")->from == predict::model_source::hardware_class);
    a.cpus = 2 * cores;  // SMT is on now
    w.announce(a, "EPYC", "rapl");
    w.seconds(100, {{"a", 0.3}, {"like it", 0.3}}, 50);
    REQUIRE(w.restarts.size() == 1);
    CHECK(w.restarts[0] ==
          "its hardware has changed (1 x EPYC, 64 GiB, 0 accelerators, 32 CPUs, before 1 x EPYC, 64 GiB, 0 "
          "accelerators, 16 CPUs)");
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->samples < 40);
    CHECK(w.model("a")->power.cores() == 2 * cores);
    CHECK(w.model("a")->power.watts(0.3 * 2 * cores) == doctest::Approx(50).epsilon(0.1));
    CHECK_MESSAGE(w.model("like it") == nullptr, "no node of its size measures any more");
  }

  TEST_CASE("the number of CPUs may change without a new catalog, when some are taken offline") {
    world w;
    auto& a = w.add("a");
    w.seconds(60, {{"a", 0.3}});
    a.cpus = cores / 2;
    w.seconds(100, {{"a", 0.3}}, 50);
    REQUIRE(w.restarts.size() == 1);
    CHECK(w.restarts[0].starts_with("its hardware has changed (1 x EPYC, 64 GiB, 0 accelerators, 8 CPUs,"));
    CHECK(w.model("a")->samples < 40);
  }

  TEST_CASE("CPUs that are offline for less than a minute cost nothing that was learned") {
    world w;
    auto& a = w.add("a");
    w.seconds(60, {{"a", 0.3}});
    const auto before = w.model("a")->samples;
    bool announces = false;
    SUBCASE("alone") {}
    SUBCASE("with a new catalog") { announces = true; }
    for (int dip = 0; dip < 3; ++dip) {
      a.cpus = cores / 2;
      if (announces) w.announce(a, "EPYC", "rapl");
      w.seconds(30, {{"a", 0.3}});
      a.cpus = cores;
      w.seconds(40, {{"a", 0.3}});
    }
    CHECK(w.restarts.empty());
    CHECK(w.model("a")->samples > before);
    CHECK(w.model("a")->hardware == "1 x EPYC, 64 GiB, 0 accelerators, 16 CPUs");
  }

  TEST_CASE("nodes of one CPU model with 64 and with 128 CPUs do not learn together") {
    world w;
    w.add("small");
    w.add("large").cpus = 2 * cores;
    w.add("unmetered", "EPYC", "").cpus = 2 * cores;
    w.seconds(60, {{"small", 0.3}, {"unmetered", 0.3}});
    CHECK(w.model("unmetered") == nullptr);
    w.seconds(60, {{"small", 0.3}, {"large", 0.3}, {"unmetered", 0.3}});
    REQUIRE(w.model("unmetered") != nullptr);
    CHECK(w.model("unmetered")->others == 1);
    CHECK(w.model("small")->others == 0);
  }

  TEST_CASE(
      "nothing is learned of a node that has not said its number of CPUs, and nothing is lost by that") {
    world w;
    auto& a = w.add("a");
    a.cpus.reset();
    w.seconds(40, {{"a", 0.3}});
    CHECK(w.learned() == 0);
    a.cpus = cores;
    w.seconds(60, {{"a", 0.3}});
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->hardware == "1 x EPYC, 64 GiB, 0 accelerators, 16 CPUs");
    CHECK(w.restarts.empty());
    const auto before = w.model("a")->samples;
    a.cpus.reset();  // its agent starts again, and does not say it at once
    w.announce(a, "EPYC", "rapl");
    w.seconds(5, {{"a", 0.3}});
    a.cpus = cores;
    w.seconds(60, {{"a", 0.3}});
    CHECK(w.model("a")->samples > before);
    CHECK(w.restarts.empty());
  }

  TEST_CASE("a node that is forgotten leaves nothing behind") {
    world w;
    auto& a = w.add("a");
    w.seconds(120, {{"a", 0.3}});
    const auto before = w.model("a")->samples;
    CHECK(before > 60);
    w.learning.forget({a.id});
    w.seconds(40, {{"a", 0.3}});
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->samples < 50);
    CHECK(w.restarts.empty());
  }

  TEST_CASE("another meter begins anew: it measures something else") {
    world w;
    auto& a = w.add("a");
    w.seconds(60, {{"a", 0.3}});
    w.announce(a, "EPYC", "psys");
    w.seconds(40, {{"a", 0.3}}, 250);
    REQUIRE(w.restarts.size() == 1);
    CHECK(w.restarts[0] == "its meter has changed (psys, before rapl)");
    CHECK(w.model("a")->meter == "psys");
    CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(250).epsilon(0.05));
  }

  TEST_CASE("a meter that lags is not learned from until the load has stood still for a minute") {
    for (const char* meter : {"dcmi", "bmc", "rapl"}) {
      world w;
      w.add("a", "EPYC", meter);
      w.seconds(120, {{"a", 0.1}});
      const auto before = w.learned();
      for (int i = 0; i < 20; ++i) w.seconds(1, {{"a", 0.1 + 0.04 * i}});
      const bool late = std::string_view(meter) != "rapl";
      // A late meter, which reports the mean of a minute, may still report the old watts during this time.
      w.seconds(50, {{"a", 0.9}}, late ? std::optional(watts_at(0.1)) : std::nullopt);
      w.seconds(100, {{"a", 0.9}});
      CAPTURE(meter);
      const auto learned = w.learned() - before;
      if (late) {  // it learns from one sample in five seconds
        CHECK(learned < 20);
        CHECK(learned > 10);
      } else {
        CHECK(learned > 100);
      }
      CHECK(w.model("a")->power.watts(0.9 * cores) == doctest::Approx(watts_at(0.9)).epsilon(0.02));
    }
  }

  TEST_CASE("a meter that changes once a minute is not taken for one that is stuck while the load rises") {
    world w;
    w.add("a", "EPYC", "dcmi");
    double said = watts_at(0.3), sum = 0;
    int seconds = 0;
    const auto second = [&](double load) {
      w.second({{"a", load}}, said);
      sum += watts_at(load);
      if (++seconds % 60 == 0) said = std::exchange(sum, 0) / 60;
    };
    for (int i = 0; i < 240; ++i) second(0.3);
    const auto before = w.model("a")->samples;
    CHECK(before > 20);
    for (int up = 0; up < 4; ++up) {
      for (int i = 0; i < 40; ++i) second(0.3 + 0.15 * i / 40);
      for (int i = 0; i < 200; ++i) second(0.45);
      for (int i = 0; i < 240; ++i) second(0.3);
      CHECK_FALSE(w.model("a")->meter_stuck);
      CHECK(w.model("a")->samples >= before);
    }
    CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(watts_at(0.3)).epsilon(0.02));
    CHECK(w.model("a")->power.watts(0.45 * cores) == doctest::Approx(watts_at(0.45)).epsilon(0.02));
  }

  TEST_CASE(
      "a node whose load never rests is learned from by a meter that is half a minute late, and means") {
    for (const char* meter : {"dcmi", "hwmon"}) {
      CAPTURE(meter);
      world w;
      w.add("a", "EPYC", meter);
      constexpr std::size_t late = 20, mean = 20;
      std::vector<double> drawn;
      for (int i = 0; i < 5400; ++i) {
        const double load = 0.5 + 0.25 * std::sin(0.02 * i) + 0.1 * std::sin(0.005 * i);
        drawn.push_back(watts_at(load));
        double said = drawn.front();
        if (drawn.size() > late + mean) {
          said = 0;
          for (std::size_t k = 0; k < mean; ++k) said += drawn[drawn.size() - 1 - late - k] / mean;
        }
        w.second({{"a", load}}, said);
      }
      const auto* m = w.model("a");
      REQUIRE(m != nullptr);
      CHECK(m->samples > 300);
      CHECK(w.restarts.empty());
      for (const double load : {0.25, 0.4, 0.5, 0.6, 0.75}) {
        CAPTURE(load);
        CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.02));
      }
    }
  }

  TEST_CASE("defect: jobs of ten minutes bent the curve of a node whose meter means over five minutes") {
    world w;
    w.add("a", "EPYC", "dcmi");
    constexpr std::size_t mean = 300;
    std::vector<double> drawn;
    double sum = 0;
    for (int i = 0; i < 7200; ++i) {
      const double load = std::array{0.1, 0.6, 0.1, 0.8}[static_cast<std::size_t>(i / 600 % 4)];
      drawn.push_back(watts_at(load));
      sum += drawn.back();
      if (drawn.size() > mean) sum -= drawn[drawn.size() - 1 - mean];
      w.second({{"a", load}}, sum / static_cast<double>(std::min(drawn.size(), mean)));
    }
    const auto* m = w.model("a");
    REQUIRE(m != nullptr);
    CHECK(w.restarts.empty());
    for (const double load : {0.1, 0.6, 0.8}) {
      CAPTURE(load);
      CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.02));
    }
  }

  TEST_CASE("watts that follow the load in no way are learned from after ten minutes of rest, not one") {
    world w;
    w.add("a", "EPYC", "dcmi");
    int now = 0;
    const auto seconds = [&](int n, double load) {
      for (int i = 0; i < n; ++i) w.second({{"a", load}}, 200 + 5 * std::sin(12.9898 * ++now));
    };
    for (int jobs = 0; jobs < 4; ++jobs) seconds(300, jobs % 2 == 0 ? 0.3 : 0.6);
    const auto before = w.learned();
    for (int jobs = 0; jobs < 4; ++jobs) seconds(300, jobs % 2 == 0 ? 0.3 : 0.6);
    CHECK(w.learned() == before);
    seconds(900, 0.6);
    CHECK(w.learned() > before + 40);
  }

  TEST_CASE("a node whose BMC is away for a while goes on from what it had learned by it") {
    world w;
    auto& a = w.add("a", "EPYC", "rapl");
    w.seconds(60, {{"a", 0.3}});
    const auto before = w.model("a")->samples;
    for (int times = 0; times < 3; ++times) {
      w.announce(a, "EPYC", "psys");
      w.seconds(40, {{"a", 0.3}}, 250);
      CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(250).epsilon(0.05));
      w.announce(a, "EPYC", "rapl");
      w.seconds(40, {{"a", 0.3}});
      CHECK(w.model("a")->samples > before);
      CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(watts_at(0.3)).epsilon(0.02));
    }
    CHECK_MESSAGE(w.restarts.size() == 1, "psys was new once");
    w.announce(a, "Xeon", "rapl");  // another machine: nothing of the first one counts
    w.seconds(40, {{"a", 0.3}}, 50);
    CHECK(w.restarts.size() == 2);
    w.announce(a, "Xeon", "psys");
    w.seconds(40, {{"a", 0.3}}, 60);
    CHECK(w.model("a")->samples < 40);
  }

  TEST_CASE(
      "a meter that is stuck and adds noise makes no curve, neither of its node nor of others like it") {
    world w;
    w.add("stuck");
    w.add("honest");
    w.add("young");
    for (int i = 0; i < 600; ++i) {
      const double load = 0.5 + 0.5 * std::sin(0.02 * i);
      w.second({{"stuck", load}}, 200 + 5 * std::sin(12.9898 * i));
      w.second({{"honest", load}});
      w.second({{"young", 0.3}});
    }
    const auto of = [&w](const char* node, double load) { return w.model(node)->power.watts(cores * load); };
    REQUIRE(w.model("stuck") != nullptr);
    CHECK(w.model("stuck")->from == predict::model_source::hardware_class);
    CHECK(w.model("stuck")->meter_stuck);
    CHECK_FALSE(w.model("honest")->meter_stuck);
    for (const char* node : {"stuck", "honest", "young"})
      CHECK(of(node, 0.9) / of(node, 0.3) == doctest::Approx(watts_at(0.9) / watts_at(0.3)).epsilon(0.05));
  }

  TEST_CASE(
      "defect: a meter that stands still on a node without any other model was passed over in silence") {
    world w;
    w.add("alone");
    w.add("honest", "Xeon");
    int i = 0;
    const auto for_a_while = [&](bool stuck) {
      for (int end = i + 600; i < end; ++i) {
        const double load = 0.5 + 0.5 * std::sin(0.02 * i);
        w.second({{"alone", load}}, stuck ? std::optional(200 + 2 * std::sin(12.9898 * i)) : std::nullopt);
        w.second({{"honest", load}});
      }
    };
    for_a_while(true);
    CHECK(w.model("alone") == nullptr);
    CHECK(w.note("alone") == "its meter (rapl) stands still though its load moves");
    CHECK(w.note("honest").empty());
    for_a_while(false);
    CHECK(w.model("alone") != nullptr);
    CHECK(w.note("alone").empty());
  }

  TEST_CASE("defect: a note about a meter outlived the last policy that needs watts") {
    world w;
    w.add("alone");
    const auto for_a_while = [&] {
      for (int i = 0; i < 600; ++i)
        w.second({{"alone", 0.5 + 0.5 * std::sin(0.02 * i)}}, 200 + 2 * std::sin(12.9898 * i));
    };
    const std::string stands_still = "its meter (rapl) stands still though its load moves";
    for_a_while();
    CHECK(w.note("alone") == stands_still);
    w.hear(w.learning.learn(false, w.now));
    CHECK(w.note("alone").empty());
    w.hear(w.learning.learn(true, w.now));
    for_a_while();
    CHECK(w.note("alone") == stands_still);
  }

  TEST_CASE("a meter that stood still is believed again from 4 % on, also where there is no other model") {
    world w;
    w.add("a");
    int i = 0;
    const auto rises = [&](int seconds, double watts) {
      for (int end = i + seconds; i < end; ++i) {
        const double load = 0.5 + 0.5 * std::sin(0.02 * i);
        w.second({{"a", load}}, 200 + watts * load + std::sin(12.9898 * i));
      }
    };
    rises(600, 0);
    REQUIRE_FALSE(w.note("a").empty());
    rises(3600, 7.6);  // with the flat minutes before, 3.3 % in the mean
    CHECK_FALSE(w.note("a").empty());
    CHECK(w.model("a") == nullptr);
    rises(3600, 20);
    CHECK(w.note("a").empty());
    CHECK(w.model("a") != nullptr);
  }

  TEST_CASE("a BMC that is read each ten seconds is learned from on a busy node") {
    world w;
    w.stale_after_ms = 30'000;
    w.add("a", "EPYC", "bmc");
    for (int i = 0; i < 60; ++i) {
      const double load = 0.5 + (i % 2 == 0 ? 0.02 : -0.02);
      w.second({{"a", load}});
      for (int quiet = 0; quiet < 9; ++quiet) w.second({});
    }
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->samples > 40);
  }

  TEST_CASE("a node that begins to learn again says why, and every sample's outcome is counted") {
    using outcome = predict::learner::outcome;
    const auto count = [](const world& w, outcome o) {
      return w.learning.counted()[static_cast<std::size_t>(o)];
    };
    world w;
    auto& a = w.add("a");
    w.seconds(60, {{"a", 0.3}});
    CHECK(w.restarts.empty());
    CHECK(count(w, outcome::learned) > 40);

    w.seconds(60, {{"a", 0.3}}, 20);  // other watts at the same load
    REQUIRE(w.restarts.size() == 1);
    CHECK(w.restarts[0] == "20 samples in a row of its meter (rapl) were far from what it drew before");
    CHECK(count(w, outcome::outlier) >= 19);
    CHECK(count(w, outcome::anew_outliers) == 1);

    for (int i = 0; i < 130; ++i) w.second({{"a", 0.3 + 0.005 * i}}, 20);
    REQUIRE(w.restarts.size() == 2);
    CHECK(w.restarts[1] == "its meter (rapl) stood still while its load moved");
    CHECK(count(w, outcome::anew_stuck) == 1);

    w.seconds(60, {{"a", 0.3}});
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->restarts == 2);
    CHECK(w.model("a")->restarted_for == w.restarts[1]);

    w.announce(a, "Xeon", "rapl");
    w.seconds(40, {{"a", 0.3}});
    REQUIRE(w.restarts.size() == 3);
    CHECK(w.restarts[2].starts_with("its hardware has changed (1 x Xeon"));
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
  /// What a snapshot keeps of a node.
  store::words kept_of(const world& w, const std::string& name) {
    store::words out;
    CHECK(w.learning.save(w.all.at(name).id, out));
    return out;
  }

  /// A replica that has learned `a` at 30 and 60 % load.
  store::words some_learning() {
    world w;
    w.add("a");
    w.seconds(60, {{"a", 0.3}});
    w.seconds(60, {{"a", 0.6}});
    return kept_of(w, "a");
  }

  TEST_CASE("a replica that starts again goes on from what it had learned of a node") {
    const store::words kept = some_learning();
    CHECK(kept.size() < 47);
    world w;
    w.add("a");
    w.learning.recall(w.all.at("a").id, store::word_reader(kept));
    CHECK_MESSAGE(kept_of(w, "a") == kept, "it is in the next snapshot although the node has sent nothing");
    w.seconds(30, {{"a", 0.1}});
    const auto* m = w.model("a");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::node);
    CHECK(m->samples > 100);
    CHECK(m->restarts == 0);
    CHECK(w.restarts.empty());
    for (const double load : {0.1, 0.3, 0.6}) {
      CAPTURE(load);
      CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.02));
    }
  }

  TEST_CASE(
      "what was learned of another CPU, with other CPUs or by another meter does not survive a restart, and "
      "that is said") {
    const store::words kept = some_learning();
    const char *cpu = "EPYC", *meter = "rapl";
    double cpus = cores;
    SUBCASE("CPU") { cpu = "Xeon"; }
    SUBCASE("number of CPUs") { cpus = 2 * cores; }
    SUBCASE("meter") { meter = "dcmi"; }
    world w;
    w.add("a", cpu, meter).cpus = cpus;
    w.learning.recall(w.all.at("a").id, store::word_reader(kept));
    w.seconds(30, {{"a", 0.1}});
    REQUIRE(w.restarts.size() == 1);
    CHECK(w.restarts[0].find("changed across the restart") != std::string::npos);
    store::words now;
    if (w.learning.save(w.all.at("a").id, now))
      CHECK(load_learning(store::word_reader(now))->what.samples() <= 30);
  }

  TEST_CASE("a node goes on from a snapshot of a version that did not know the number of CPUs") {
    store::words kept = some_learning();
    kept[0] = static_cast<std::int64_t>(learning_key("1 x EPYC, 64 GiB, 0 accelerators", "rapl"));
    world w;
    w.add("a");
    w.learning.recall(w.all.at("a").id, store::word_reader(kept));
    w.seconds(30, {{"a", 0.1}});
    CHECK(w.restarts.empty());
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->samples > 30);
  }

  TEST_CASE("a node whose part of a snapshot cannot be read begins to learn again, and says so") {
    const store::words kept = some_learning();
    // The first three are cut off at the end. In each of the others one word has a value that no learner
    // writes.
    std::vector<store::words> wrong{{}, {kept[0]}, {kept.begin(), kept.end() - 1}};
    for (const std::size_t at : {1, 3, 4, 5, 6}) {
      wrong.push_back(kept);
      wrong.back()[at] = -1;
    }
    for (const store::words& words : wrong) {
      CAPTURE(words.size());
      world w;
      w.add("a");
      w.learning.recall(w.all.at("a").id, store::word_reader(words));
      w.seconds(30, {{"a", 0.1}});
      REQUIRE(w.restarts.size() == 1);
      CHECK(w.restarts[0].find("cannot be read") != std::string::npos);
      REQUIRE(w.model("a") != nullptr);
      CHECK(w.model("a")->samples <= 30);
      CHECK(w.model("a")->restarts == 1);
    }
  }
}

}  // namespace power_learning_test
