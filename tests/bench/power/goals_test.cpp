#include "tests/bench/power/churn.hpp"
#include "tests/bench/power/day.hpp"
#include "tests/bench/power/fill.hpp"
#include "tests/bench/power/learned.hpp"

#include <doctest/doctest.h>

#include <cmath>

// Tests what the tables of binnacle-power promise, with the same fleets and fewer runs.
namespace power_goals_test {

using namespace binnacle::bench;

namespace {

constexpr wish four_cores{4, false};
constexpr wish hundredth{0.01, true};

struct savings {
  by_load<double> base;
  by_load<double> of(const fleet& nodes, rule by, wish pod, ties t = ties::random) const {
    return saved(base, fill(nodes, by, pod, t, 1).watts);
  }
};
savings against_spreading(const fleet& truth, wish pod, ties t = ties::random) {
  return {fill(truth, rule::spread, pod, t, 1).watts};
}

}  // namespace

TEST_SUITE("bench/power") {
  TEST_CASE(
      "by the best chord a mixed fleet is within a point of the optimum at every load, and at most 0.2 "
      "points behind WAO's second version") {
    const auto nodes = make_fleet(spec_servers(), 8);
    const auto base = against_spreading(nodes, four_cores);
    const auto chord = base.of(nodes, rule::chord, four_cores),
               wao = base.of(nodes, rule::wao_v2, four_cores);
    const auto best = saved(base.base, least_by_load(nodes, four_cores));
    for (std::size_t i = 0; i < loads; ++i) {
      CAPTURE(10 * (i + 1));
      CHECK(chord[i] > best[i] - 1);
      CHECK(chord[i] <= best[i] + 1e-9);
      CHECK(chord[i] > wao[i] - 0.2);
    }
    CHECK(chord[5] > wao[5] + 10);
  }

  TEST_CASE("spreading draws what the reference says, and WAO's rules and the best chord save what it says") {
    const auto nodes = make_fleet(spec_servers(), 8);
    const auto base = against_spreading(nodes, four_cores);
    // kW and percent at 10, 20 … 90 % of the load: an independent program's figures for this fleet.
    const by_load<double> kilowatts{9.71, 11.25, 12.53, 13.91, 15.23, 16.70, 18.46, 20.49, 23.40};
    const by_load<double> v1{16.4, 17.8, 15.5, 5.9, -5.7, -6.0, -4.6, -10.1, -1.7};
    const by_load<double> v2{25.4, 25.3, 21.8, 15.3, 12.2, 3.9, 4.5, 6.7, 4.9};
    const by_load<double> chord{25.5, 25.6, 23.2, 21.7, 19.0, 18.0, 13.2, 9.3, 8.5};
    const by_load<double> optimum{25.5, 25.6, 23.4, 21.7, 19.5, 18.0, 13.2, 9.4, 8.5};
    const auto got_v1 = base.of(nodes, rule::wao_v1, four_cores),
               got_v2 = base.of(nodes, rule::wao_v2, four_cores),
               got_chord = base.of(nodes, rule::chord, four_cores);
    const auto got_optimum = saved(base.base, least_by_load(nodes, four_cores));
    for (std::size_t i = 0; i < loads; ++i) {
      CAPTURE(10 * (i + 1));
      CHECK(base.base[i] / 1000 == doctest::Approx(kilowatts[i]).epsilon(0.005));
      CHECK(std::abs(got_v1[i] - v1[i]) < 2);
      CHECK(std::abs(got_v2[i] - v2[i]) < 1);
      CHECK(std::abs(got_chord[i] - chord[i]) < 1);
      CHECK(std::abs(got_optimum[i] - optimum[i]) < 1);
    }
  }

  TEST_CASE(
      "WAO's own fleets: the best chord is at most 0.1 points behind WAO's second version, and far ahead "
      "where that is blind") {
    auto nodes = make_fleet({&wao_lenovo(), 1}, 16);
    for (const node& n : make_fleet({&wao_supermicro(), 1}, 16)) nodes.push_back(n);
    const auto base = against_spreading(nodes, {1}, ties::emptier);
    const auto chord = base.of(nodes, rule::chord, {1}, ties::emptier);
    const auto wao = base.of(nodes, rule::wao_v2, {1}, ties::emptier);
    for (std::size_t i = 0; i < loads; ++i) {
      CAPTURE(10 * (i + 1));
      CHECK(chord[i] > wao[i] - 0.1);
    }
    CHECK(chord[5] > wao[5] + 3);
  }

  TEST_CASE(
      "fleets of made-up servers: at most 1.4 points behind the optimum, and 0.6 behind WAO's second "
      "version") {
    constexpr wish two_cores{2, false};
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {  // the seeds of the tables
      const auto nodes = make_fleet(made_up_servers(8, seed), 4);
      const auto base = against_spreading(nodes, two_cores);
      const auto chord = base.of(nodes, rule::chord, two_cores),
                 wao = base.of(nodes, rule::wao_v2, two_cores);
      const auto best = saved(base.base, least_by_load(nodes, two_cores));
      for (std::size_t i = 0; i < loads; ++i) {
        CAPTURE(seed);
        CAPTURE(10 * (i + 1));
        CHECK(chord[i] > best[i] - 1.4);
        CHECK(chord[i] > wao[i] - 0.6);
      }
    }
  }

  TEST_CASE(
      "defect: fleets of odd curves, whose steps are shorter than a pod: near the optimum in the mean, at "
      "most "
      "0.8 points behind WAO's second version, and ahead of spreading") {
    constexpr wish eight_cores{8, false};
    constexpr int fleets = 20;  // the seeds of the tables
    double behind = 0;
    for (std::uint64_t seed = 1; seed <= fleets; ++seed) {
      const auto nodes = make_fleet(odd_servers(8, seed), 4);
      const auto base = against_spreading(nodes, eight_cores);
      const auto chord = base.of(nodes, rule::chord, eight_cores),
                 wao = base.of(nodes, rule::wao_v2, eight_cores);
      const auto best = saved(base.base, least_by_load(nodes, eight_cores));
      for (std::size_t i = 0; i < loads; ++i) {
        CAPTURE(seed);
        CAPTURE(10 * (i + 1));
        CHECK(chord[i] > best[i] - 2.2);
        CHECK(chord[i] > wao[i] - 0.8);
        CHECK(chord[i] > 0);
        behind += (best[i] - chord[i]) / (fleets * loads);
      }
    }
    CHECK(behind < 0.5);
  }

  TEST_CASE("curves learned in ten minutes save within 1.5 points of what the true ones do") {
    const auto truth = make_fleet(spec_servers(), 8);
    const auto base = against_spreading(truth, hundredth);
    const auto known = base.of(truth, rule::chord, hundredth);
    for (const double noise : {0.01, 0.03}) {
      const auto learned = base.of(after({.noise = noise}, truth, spec_servers()), rule::chord, hundredth);
      for (std::size_t i = 0; i < loads; ++i) {
        CAPTURE(noise);
        CAPTURE(10 * (i + 1));
        CHECK(learned[i] > known[i] - 1.5);
      }
    }
  }

  TEST_CASE("hours of meters that lag, stick and lie teach curves that save nearly what the true ones do") {
    constexpr int hours = 3;
    const auto kinds = spec_servers().first(4);
    const auto known = after_hours(hours, make_fleet(kinds, 8), kinds);
    auto truth = known.nodes;
    for (node& n : truth) n.believe(spec_servers()[n.kind].watts, 1);
    CHECK(known.unknown == 0);
    CHECK(known.median_off < 0.02);
    CHECK(known.worst_off < 0.04);
    CHECK_MESSAGE(known.anew_with_jobs == 0, "a mean over five minutes is no other machine");
    CHECK(known.learned > known.samples / 2);
    const auto base = against_spreading(truth, hundredth);
    const auto by_truth = base.of(truth, rule::chord, hundredth),
               learned = base.of(known.nodes, rule::chord, hundredth);
    for (std::size_t i = 0; i < loads; ++i) {
      CAPTURE(10 * (i + 1));
      CHECK(learned[i] > by_truth[i] - 5);
    }
  }

  TEST_CASE("a scheduler that looks at a part of the nodes goes round, and passes those without room") {
    CHECK(nodes_enough(100, 0) == 100);
    CHECK(nodes_enough(1000, 0) == 420);
    CHECK(nodes_enough(5000, 0) == 500);
    CHECK(nodes_enough(7000, 0) == 350);
    CHECK(nodes_enough(1000, 100) == 1000);
    auto nodes = make_fleet(spec_servers(), 1);
    nodes[1].used = nodes[1].truth.cores();
    rotation part{.enough = 2};
    dice random(1);
    const auto first = choose(nodes, rule::spread, four_cores, ties::random, random, -1, &part);
    CHECK((first == 0 || first == 2));
    CHECK(part.next == 3);
    const auto second = choose(nodes, rule::spread, four_cores, ties::random, random, -1, &part);
    CHECK((second == 3 || second == 4));
    part.next = nodes.size() - 1;
    (void)choose(nodes, rule::spread, four_cores, ties::random, random, -1, &part);
    CHECK(part.next == 1);
  }

  TEST_CASE("no node is filled beyond the cap while others are below it") {
    const auto nodes = make_fleet(spec_servers(), 8, 0.8);
    const auto filled = fill(nodes, rule::chord, four_cores, ties::random, 1);
    for (std::size_t i = 0; i < 7; ++i) CHECK(filled.fullest[i] <= 0.8 + 1e-9);
  }

  TEST_CASE("with pods that come and go the best chord stays within two and a half points of the optimum") {
    const auto nodes = make_fleet(spec_servers(), 8);
    const churn how{.load = 0.5, .sizes = {1, 2, 4, 8}};
    const double spread = live(nodes, rule::spread, how).watts, least = least_while_living(nodes, how);
    const double chord = live(nodes, rule::chord, how).watts;
    CHECK(chord >= least);
    CHECK((chord - least) / spread < 0.025);
    CHECK(chord < live(nodes, rule::wao_v2, how).watts);
  }

  TEST_CASE("defect: the best chord alone kept nodes of a dear kind awake as long as pods came") {
    const auto nodes = make_fleet(spec_servers(), 8);
    constexpr std::uint64_t runs = 4;
    const auto saving = [&](rule by, const churn& how) {
      return 100 * (1 - live(nodes, by, how, runs).watts / live(nodes, rule::spread, how, runs).watts);
    };
    const churn half{.load = 0.5, .sizes = {1, 2, 4, 8}};
    CHECK(saving(rule::chord, half) > saving(rule::chord_alone, half) + 0.2);
    // At 30 % load with pods of one size WAO's rule is ahead still.
    const churn third{.load = 0.3};
    CHECK(saving(rule::chord, third) > saving(rule::wao_v2, third) - 0.4);
  }

  TEST_CASE("after an evening nodes empty, and a descheduler brings back part of what stragglers cost") {
    const auto nodes = make_fleet(spec_servers(), 8);
    constexpr std::uint64_t runs = 4;
    churn how{.load = 0.1, .sizes = {1, 2, 4, 8}, .begins_at = 0.8};
    const double spread = live(nodes, rule::spread, how, runs).watts;
    const auto saving = [&](double watts) { return 100 * (1 - watts / spread); };
    const double alone = saving(live(nodes, rule::chord, how, runs).watts);
    how.empty_below = 0.2;
    const auto swept = live(nodes, rule::chord, how, runs);
    CHECK(saving(swept.watts) > alone + 2);
    CHECK(swept.moved > 0);
    // The best chord alone refills the nodes that are to empty.
    CHECK(saving(swept.watts) > saving(live(nodes, rule::chord_alone, how, runs).watts) + 0.7);
  }
}

}  // namespace power_goals_test
