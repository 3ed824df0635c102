#include "aggregator/predict/placing.hpp"

#include "aggregator/predict/chord_table.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace placing_test {

using namespace binnacle::predict;

chords node(std::initializer_list<double> watts, double cores, double max_load = 1) {
  return {curve::through(std::vector<double>(watts), cores).value(), max_load};
}

struct scored {
  std::vector<std::uint8_t> scores;
  std::vector<placing> placings;
};
scored run(objective by, const demand& pod, const std::vector<candidate>& candidates) {
  scored out{std::vector<std::uint8_t>(candidates.size(), 77), {}};
  std::vector<cost> costs;
  for (const candidate& c : candidates)
    costs.push_back(out.placings.emplace_back(placing_on(by, pod, c)).costs);
  score(by, costs, out.scores);
  return out;
}

TEST_SUITE("aggregator/predict/placing") {
  TEST_CASE("the best chord fills the node that was started, its own watts take the idle one") {
    // Nodes of 10 cores. The busy one is past its step: each further core costs 2.5 W there. The first 2
    // cores of the idle one cost 60 W.
    const auto busy = node({100, 160, 165, 170, 175, 180}, 10),
               idle = node({100, 160, 165, 170, 175, 180}, 10);
    const std::vector<candidate> both{{&busy, 4}, {&idle, 0}};
    for (const auto by : {objective::best_chord, objective::marginal}) {
      const auto r = run(by, {.cores = 1}, both);
      CHECK(r.scores == std::vector<std::uint8_t>{10, 2});
      CHECK(r.placings[0].now == doctest::Approx(165));
      CHECK(r.placings[0].with == doctest::Approx(167.5));
    }
    // A step and then a slow rise: by the pod's own watts the idle node is dear, although it stays cheap for
    // long once it is started.
    const auto steep = node({100, 120, 140, 160, 180, 200}, 10);  // 10 W a core, up to the end
    const auto step = node({100, 124, 126, 128, 130, 132}, 10);  // 12 W for the first core, 3.2 W in the mean
    const std::vector<candidate> pair{{&steep, 2}, {&step, 0}};
    CHECK(run(objective::best_chord, {.cores = 1}, pair).scores == std::vector<std::uint8_t>{2, 10});
    CHECK(run(objective::marginal, {.cores = 1}, pair).scores == std::vector<std::uint8_t>{10, 2});
  }

  TEST_CASE(
      "defect: of two started nodes that are alike the fuller one takes the pod, so that the other can "
      "empty") {
    // A step, and then 2.5 W a core: by the best chord alone both cost the same.
    const auto kind = node({100, 160, 165, 170, 175, 180}, 10);
    for (const double cores : {0.01, 1.0}) {
      CAPTURE(cores);
      const auto r = run(objective::best_chord, {.cores = cores}, {{&kind, 2}, {&kind, 6}, {&kind, 0}});
      CHECK(r.scores[1] == 10);
      CHECK(r.scores[0] < 10);
      CHECK(r.scores[2] == 2);
      CHECK_MESSAGE(r.scores[0] > 5, "a node that was started is still far cheaper than an idle one");
    }
    // By their own watts they tie, as before.
    CHECK(run(objective::marginal, {.cores = 1}, {{&kind, 2}, {&kind, 6}}).scores ==
          std::vector<std::uint8_t>{10, 10});
  }

  TEST_CASE(
      "the price of a core is half of what it costs from here on, and half of what it costs from idle on") {
    const auto price_of = [](const chords& n, double load) {
      return run(objective::best_chord, {.cores = 1}, {{&n, load}}).placings[0].per_core;
    };
    // 80 W for all 10 cores: 8 W in the mean. From 2 cores on 2.5 W a core.
    const auto step = node({100, 160, 165, 170, 175, 180}, 10);
    CHECK(price_of(step, 0) == doctest::Approx(0.5 * 8 + 0.5 * 8 * 1.2));
    CHECK(price_of(step, 2) == doctest::Approx(0.5 * 2.5 + 0.5 * 8 * 1.16));
    CHECK(price_of(step, 9) == doctest::Approx(0.5 * 2.5 + 0.5 * 8 * 1.02));
    // Steeper from 5 cores on: a node is filled up to there at 2 W a core in the mean, and then costs 12 W.
    const auto bent = node({100, 102, 104, 106, 108, 110, 122, 134, 146, 158, 170}, 10);
    CHECK(price_of(bent, 2) == doctest::Approx(2 * 1.08));
    CHECK(price_of(bent, 5) == doctest::Approx(12 * 1.05));
    // A pod that crosses the corner costs no less than its own watts.
    CHECK(run(objective::best_chord, {.cores = 6}, {{&bent, 4}}).placings[0].per_core ==
          doctest::Approx(62.0 / 6 * 1.06));
    SUBCASE("a fuller node of the same kind costs less, up to where its watts become expensive") {
      for (double load = 0; load < 8.5; load += 0.5) CHECK(price_of(step, load + 0.5) < price_of(step, load));
    }
    SUBCASE("the cap counts as full") {
      const auto capped = node({100, 200}, 10, 0.5);
      CHECK(price_of(capped, 4) == doctest::Approx(10 * 1.02));
    }
  }

  TEST_CASE("defect: a pod that ends behind a step does not count as if it ended before the step") {
    // Up to 4 cores the first node costs nothing. A pod of 6 cores wakes all of it.
    const auto step = node({100, 100, 100, 300, 300, 300}, 10), straight = node({100, 200}, 10);
    const std::vector<candidate> both{{&step, 0}, {&straight, 0}};
    CHECK(run(objective::best_chord, {.cores = 2}, both).scores == std::vector<std::uint8_t>{10, 2});
    const auto r = run(objective::best_chord, {.cores = 6}, both);
    CHECK(r.scores == std::vector<std::uint8_t>{2, 10});
    CHECK(r.placings[0].per_core == doctest::Approx(1.1 * 20));
    CHECK(r.placings[0].costs.watts == doctest::Approx(6 * 1.1 * 20));
  }

  TEST_CASE(
      "defect: a pod that counts no cores cost nothing anywhere, so an idle node was as good as a busy one") {
    const auto kind = node({100, 160, 165, 170, 175, 180}, 10, 0.9);
    const std::vector<candidate> nodes{{&kind, 4}, {&kind, 0}, {&kind, 8.95}};
    for (const auto by : {objective::best_chord, objective::marginal}) {
      CAPTURE(to_string(by));
      // Up to the cap a core costs 77.5 W / 9 in the mean.
      const double core = by == objective::marginal ? 2.5 : 0.5 * 2.5 + 0.5 * 77.5 / 9 * (1 + 0.2 * 5 / 9);
      for (const double cores : {0.0, 0.01, 0.1}) {
        CAPTURE(cores);
        const auto r = run(by, {.cores = cores}, nodes);
        CHECK(r.scores[0] == 10);
        CHECK(r.scores[1] == 2);
        CHECK_MESSAGE(r.scores[2] == 1, "it has no room for a tenth of a core");
        CHECK(r.placings[0].costs.watts == doctest::Approx(0.1 * core));
        // What people are told is what the pod itself would draw.
        CHECK(r.placings[0].with == doctest::Approx(165 + cores * 2.5));
      }
    }
  }

  TEST_CASE("a pod of less than a tenth of a core is ranked by the chord of a tenth") {
    const auto step = node({100, 100, 100, 300, 300, 300}, 10);
    for (const double cores : {0.0, 0.01, 0.1}) {
      CAPTURE(cores);
      const auto r = run(objective::best_chord, {.cores = cores}, {{&step, 3.95}});
      CHECK(r.placings[0].costs.watts ==
            doctest::Approx(
                run(objective::best_chord, {.cores = 0.1}, {{&step, 3.95}}).placings[0].costs.watts));
      CHECK(r.placings[0].costs.watts > 1);
      CHECK(r.placings[0].costs.watts == doctest::Approx(0.1 * r.placings[0].per_core));
    }
  }

  TEST_CASE("no model is below a full node, and that is below the dearest") {
    const auto a = node({100, 200}, 10, 0.9), b = node({100, 300}, 10, 0.9);
    const auto r = run(objective::best_chord, {.cores = 2}, {{nullptr, 0}, {&a, 8}, {&a, 3}, {&b, 3}});
    CHECK(r.scores == std::vector<std::uint8_t>{0, 1, 10, 2});
    CHECK(r.placings[0].costs.is == cost::known::no);
    CHECK(r.placings[1].costs.is == cost::known::over);
  }

  TEST_CASE("defect: of a node beyond the cap people were told the watts at the cap") {
    const auto c = curve::through(std::vector<double>{100, 160, 165, 170, 200, 300}, 10).value();
    const chords capped(c, 0.9);
    for (const auto by : {objective::best_chord, objective::marginal}) {
      CAPTURE(to_string(by));
      const auto r = run(by, {.cores = 1}, {{&capped, 9.5}, {&capped, 8.5}, {&capped, 7.5}, {&capped, 50}});
      CHECK(r.placings[0].now == doctest::Approx(c.watts(9.5)));
      CHECK(r.placings[0].with == doctest::Approx(300));
      CHECK(r.placings[1].now == doctest::Approx(c.watts(8.5)));
      CHECK(r.placings[1].with == doctest::Approx(c.watts(9.5)));
      CHECK(r.placings[2].with == doctest::Approx(c.watts(8.5)));
      CHECK(r.placings[3].now == doctest::Approx(300));
      CHECK(r.scores == std::vector<std::uint8_t>{1, 1, 10, 1});  // as before
    }
  }

  TEST_CASE("a pod of a hundredth of a node is ranked still, where WAO's whole watts tie") {
    const auto a = node({100, 150}, 100), b = node({100, 145}, 100);
    const std::vector<candidate> both{{&a, 10}, {&b, 10}};
    CHECK(run(objective::marginal, {.cores = 1, .wao_need = 1}, both).scores ==
          std::vector<std::uint8_t>{2, 10});
    CHECK(run(objective::wao_v2, {.cores = 1, .wao_need = 1}, both).scores ==
          std::vector<std::uint8_t>{2, 2});
  }

  TEST_CASE("WAO's scores come in tenths of theirs") {
    // WAO v2 gives the raw values error, overload, 10, 20 and 30 W, with base 20, the scores 0, 1, 100, 60
    // and 20.
    const auto ten = node({100, 110}, 1), twenty = node({100, 120}, 1), thirty = node({100, 130}, 1);
    const std::vector<candidate> all{{nullptr, 0}, {&ten, 0.5}, {&ten, 0}, {&twenty, 0}, {&thirty, 0}};
    CHECK(run(objective::wao_v2, {.cores = 1, .wao_need = 1}, all).scores ==
          std::vector<std::uint8_t>{0, 1, 10, 6, 2});
    // WAO v1 gives 0 to the worst node and to one that failed. Here the worst node gets at least 1, since it
    // is known.
    CHECK(run(objective::wao_v1, {.cores = 1, .wao_need = 1, .wao_container = {1, 0}},
              {{nullptr, 0}, {&ten, 0}, {&twenty, 0}, {&thirty, 0}})
              .scores == std::vector<std::uint8_t>{0, 10, 5, 1});
  }

  TEST_CASE("by WAO's rules a node that failed is below every one that did not, equals included") {
    const auto ten = node({100, 110}, 1), other = node({100, 110}, 1);
    // WAO v1: the pod's limit does not fit on the node that is half full.
    const demand limited{.cores = 0.8, .wao_need = 0.8, .wao_container = {0, 0.8}};
    CHECK(run(objective::wao_v1, limited, {{&ten, 0.5}, {&ten, 0}, {&other, 0}}).scores ==
          std::vector<std::uint8_t>{0, 1, 1});
    // A pod that names no CPU is a separate error, not a pod that fills a node.
    for (const auto by : {objective::wao_v1, objective::wao_v2}) {
      CAPTURE(to_string(by));
      const auto r = run(by, {}, {{&ten, 0.5}, {&other, 0}});
      CHECK(r.scores == std::vector<std::uint8_t>{0, 0});
      CHECK(r.placings[0].costs.is != cost::known::over);
    }
  }

  TEST_CASE("of a pod WAO sees its app containers, of which the first version takes the first alone") {
    pod_cpu pod;
    pod.containers = {{container_cpu::kind::app, 0.1, 0.2},
                      {container_cpu::kind::app, {}, 0.4},
                      {container_cpu::kind::sidecar, 1.0, {}}};
    pod.overhead = 0.5;
    const auto d = demand_of(pod, 0.5);
    CHECK(d.cores == doctest::Approx(0.5 * 2.0));
    CHECK(d.in_flight == doctest::Approx(0.5 * 2.0));
    CHECK(d.wao_need == doctest::Approx(0.5));
    CHECK(d.wao_container.request == doctest::Approx(0.1));
    // What they take it to use, with the usage that is assumed of others.
    CHECK(demand_of(pod, 0.5, objective::wao_v1).cores == doctest::Approx(0.1));
    CHECK(demand_of(pod, 0.5, objective::wao_v2).cores == doctest::Approx(0.5));
    CHECK(demand_of(pod, 0.5, objective::wao_v1).in_flight == doctest::Approx(0.5 * 2.0));
    CHECK(demand_of(pod, 0.5, objective::wao_v2).in_flight == doctest::Approx(0.5 * 2.0));
    CHECK(d.wao_container.limit == doctest::Approx(0.2));
  }

  std::shared_ptr<const model> made(double peak) {
    return std::make_shared<const model>(model{curve::through(std::array{100.0, peak}, 10).value()});
  }

  TEST_CASE("a table makes a node's chords once for each model and cap") {
    model_table models;
    const model_sources learned{{&models}};
    chord_table table;
    CHECK(table.up_to(0.9, learned).find(3) == nullptr);
    models.set(3, made(200));
    const known_power* first = table.up_to(0.9, learned).find(3);
    REQUIRE(first != nullptr);
    CHECK(first->best.cap() == doctest::Approx(9));
    CHECK(first->best.from(0, 1) == doctest::Approx(10));
    CHECK(table.up_to(0.9, learned).find(3) == first);
    CHECK(table.up_to(0.9, learned).find(2) == nullptr);
    CHECK(table.up_to(0.9, learned).find(4) == nullptr);
    CHECK(table.up_to(0.5, learned).find(3)->best.cap() == doctest::Approx(5));
    models.set(3, made(300));
    CHECK(table.up_to(0.9, learned).find(3)->best.from(0, 1) == doctest::Approx(20));
    models.set(3, nullptr);
    CHECK(table.up_to(0.9, learned).find(3) == nullptr);
    models.set(9000, nullptr);  // removes no model, and the table does not grow
    CHECK(models.size() == 4);
    for (std::size_t i = 0; i < 3 * chord_table::most_kept; ++i)
      CHECK(table.up_to(0.1 + 0.01 * static_cast<double>(i), learned).find(3) == nullptr);
  }

  TEST_CASE(
      "a table of models names the nodes that were set since a version, or says that it no longer can") {
    model_table models;
    const auto set_since = [&](std::uint64_t version) {
      std::vector<std::uint32_t> out;
      const bool known = models.each_set_since(version, [&](std::uint32_t n) { out.push_back(n); });
      return std::pair(known, out);
    };
    using nodes = std::vector<std::uint32_t>;
    CHECK(set_since(0) == std::pair(true, nodes{}));
    models.set(3, made(200));
    models.set(5, made(200));
    const std::uint64_t before = models.version();
    models.set(3, nullptr);
    models.set(9000, nullptr);  // removes no model
    CHECK(set_since(0) == std::pair(true, nodes{3, 5, 3}));
    CHECK(set_since(before) == std::pair(true, nodes{3}));
    CHECK(set_since(models.version()) == std::pair(true, nodes{}));
    SUBCASE("it knows the last thousand") {
      const auto same = made(300);
      for (std::uint32_t i = 1; i < model_table::changes_known; ++i) models.set(i, same);
      CHECK(set_since(before).second.size() == model_table::changes_known);
      CHECK(set_since(before).second.front() == 3);
      models.set(7, same);
      CHECK(set_since(before) == std::pair(false, nodes{}));
      CHECK(set_since(before + 1).second.back() == 7);
    }
    SUBCASE("of a table that was cleared any node may have changed") {
      const std::uint64_t last = models.version();
      models.clear();
      models.set(3, made(400));
      CHECK(set_since(last) == std::pair(false, nodes{}));
      CHECK(set_since(0) == std::pair(false, nodes{}));
      CHECK(set_since(models.version() - 1) == std::pair(true, nodes{3}));
    }
  }

  TEST_CASE("chords follow their models, whether a few changed or more than a table of models remembers") {
    constexpr std::uint32_t nodes = 3 * model_table::changes_known;
    model_table models;
    const model_sources learned{{nullptr, &models}};
    chord_table table;
    const auto slope_of = [&](std::uint32_t node) {
      return table.up_to(1, learned).find(node)->best.from(0, 1);
    };
    const auto first = made(200), second = made(300), third = made(400);
    for (std::uint32_t i = 0; i < nodes; ++i) models.set(i, first);
    CHECK(slope_of(0) == doctest::Approx(10));
    const known_power* untouched = table.up_to(1, learned).find(8);
    models.set(7, second);
    models.set(nodes - 1, second);
    CHECK(slope_of(7) == doctest::Approx(20));
    CHECK(slope_of(nodes - 1) == doctest::Approx(20));
    CHECK(slope_of(8) == doctest::Approx(10));
    CHECK(table.up_to(1, learned).find(8) == untouched);
    for (std::uint32_t i = 0; i < nodes; ++i) models.set(i, third);
    for (const std::uint32_t i : {0U, 7U, nodes - 1}) CHECK(slope_of(i) == doctest::Approx(30));
    models.set(nodes, first);  // one more node
    CHECK(slope_of(nodes) == doctest::Approx(10));
  }

  TEST_CASE("a node has the model of the first table that knows it, and of the next once that forgets it") {
    model_table served, learned;
    chord_table table;
    const auto slope_of = [&](const model_sources& by, std::uint32_t node) {
      const known_power* known = table.up_to(1, by).find(node);
      return known == nullptr ? -1 : known->best.from(0, 1);
    };
    const model_sources both{{&served, &learned}}, measured{{nullptr, &learned}}, external{{&served}};
    learned.set(3, made(200));
    learned.set(4, made(300));
    served.set(3, made(900));
    CHECK(slope_of(both, 3) == doctest::Approx(80));
    CHECK(slope_of(both, 4) == doctest::Approx(20));
    CHECK(slope_of(measured, 3) == doctest::Approx(10));
    CHECK(slope_of(external, 3) == doctest::Approx(80));
    CHECK(slope_of(external, 4) == -1);
    served.clear();
    CHECK(slope_of(both, 3) == doctest::Approx(10));
    CHECK(slope_of(external, 3) == -1);
    served.set(3, made(500));
    CHECK(slope_of(both, 3) == doctest::Approx(40));
    CHECK(both.share(3) == served.share(3));
    CHECK(both.share(4) == learned.share(4));
    CHECK(both.share(5) == nullptr);
  }
}

}  // namespace placing_test
