#include "tests/aggregator/core/power_learning_world.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace power_learning_restarts_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace binnacle::aggregator::test;

TEST_SUITE("aggregator/core/power_learning") {
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

  /// What a snapshot keeps of a node.
  store::words kept_of(const world& w, const std::string& name) {
    store::words out;
    CHECK(w.learning.save(w.all.at(name).id, out));
    return out;
  }

  /// What a replica has learned of a node that had each of these loads for a minute.
  store::words learned_at(std::initializer_list<double> loads) {
    world w;
    w.add("a");
    for (const double load : loads) w.seconds(60, {{"a", load}});
    return kept_of(w, "a");
  }
  store::words some_learning() { return learned_at({0.3, 0.6}); }

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

  TEST_CASE("defect: a restart bent the curve of a node whose meter means over five minutes") {
    constexpr std::size_t mean = 300;
    std::vector<double> drawn;
    double sum = 0;
    const auto second = [&](world& w, double load) {
      drawn.push_back(watts_at(load));
      sum += drawn.back();
      if (drawn.size() > mean) sum -= drawn[drawn.size() - 1 - mean];
      w.second({{"a", load}}, sum / static_cast<double>(std::min(drawn.size(), mean)));
    };
    constexpr std::array loads{0.1, 0.6, 0.1, 0.8};
    store::words kept;
    {
      world w;
      w.add("a", "EPYC", "dcmi");
      for (std::size_t i = 0; i < 7200; ++i) second(w, loads[i / 600 % loads.size()]);
      kept = kept_of(w, "a");
    }
    world w;
    w.add("a", "EPYC", "dcmi");
    w.learning.recall(w.all.at("a").id, store::word_reader(kept));
    // Jobs of two minutes: after one of them a mean of a minute would be that of the load.
    for (std::size_t i = 0; i < 1800; ++i) second(w, loads[i / 120 % loads.size()]);
    CHECK(w.restarts.empty());
    const auto* m = w.model("a");
    REQUIRE(m != nullptr);
    for (const double load : {0.1, 0.6, 0.8}) {
      CAPTURE(load);
      CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.02));
    }
  }

  TEST_CASE(
      "defect: a replica that had started again had no models for ten seconds after the agents were back") {
    const store::words kept = some_learning(), kept_of_idle = learned_at({0.1});
    world w;
    for (const char* name : {"idle", "a", "b"}) {
      w.add(name);
      const bool was_idle = std::string_view(name) == "idle";
      w.learning.recall(w.all.at(name).id, store::word_reader(was_idle ? kept_of_idle : kept));
    }
    w.add("without a meter", "EPYC", "");
    w.rated("rated", 90, 410);
    w.seconds(3, {});  // no agent is back yet
    CHECK(w.told == 0);
    const std::map<std::string, double> loads{
        {"idle", 0.1}, {"a", 0.3}, {"b", 0.6}, {"without a meter", 0.3}, {"rated", 0.3}};
    w.second(loads);
    for (const char* name : {"idle", "a", "b"}) {
      CAPTURE(name);
      REQUIRE(w.model(name) != nullptr);
      CHECK(w.model(name)->from == predict::model_source::node);
    }
    CHECK(w.model("a")->samples == load_learning(store::word_reader(kept))->what.samples());
    REQUIRE(w.model("rated") != nullptr);
    CHECK(w.model("rated")->from == predict::model_source::rated);
    w.second(loads);
    REQUIRE(w.model("without a meter") != nullptr);
    CHECK(w.model("without a meter")->from == predict::model_source::hardware_class);
    CHECK(w.model("without a meter")->others == 3);
    CHECK_MESSAGE(w.model("idle")->known_to == doctest::Approx(0.6).epsilon(0.05),
                  "its class knows more than it");
    const int told = w.told;
    w.seconds(2, loads);
    CHECK_MESSAGE(w.told == told, "from now on each node waits for its own round");
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

  TEST_CASE("of two snapshots the one counts that learned more, and of other hardware the first one") {
    const store::words more = some_learning();
    store::words less = more, other = more;
    less[1] -= 1;
    other[0] += 1;
    other[1] += 1;
    const auto kept_after = [](const std::vector<store::words>& snapshots) {
      world w;
      w.add("a");
      for (const store::words& kept : snapshots)
        w.learning.recall(w.all.at("a").id, store::word_reader(kept));
      return kept_of(w, "a");
    };
    CHECK(kept_after({less, more}) == more);
    CHECK(kept_after({more, less}) == more);
    CHECK(kept_after({more, other}) == more);
    CHECK(kept_after({more, {}}) == more);
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

}  // namespace power_learning_restarts_test
