#include "aggregator/predict/learning/learner.hpp"

#include "aggregator/predict/learning/estimate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace learner_test {

using namespace binnacle::predict;
using outcome = learner::outcome;

namespace {

/// A node with a step at idle, and a meter that is off by up to 1 %, in a fixed order.
double watts_at(double load, int i) {
  const double truth = 100 + (load > 0.01 ? 60 : 0) + 150 * load + 50 * load * load;
  return truth * (1 + 0.01 * std::sin(12.9898 * i));
}
double wandering(int i) { return 0.5 + 0.5 * std::sin(0.01 * i); }

learner taught(int samples = 1200) {
  learner l;
  for (int i = 0; i < samples; ++i) l.add(wandering(i), watts_at(wandering(i), i));
  return l;
}

double off_at(const learner& l, double load) {
  return std::abs(estimate(l.learned(), nullptr, 1).value().watts(load) / watts_at(load, 0) - 1);
}

}  // namespace

TEST_SUITE("aggregator/predict/learning/learner") {
  TEST_CASE("a node's curve is known within 3 % where its load has been") {
    const auto l = taught();
    for (const double load : {0.0, 0.1, 0.3, 0.5, 0.75, 1.0}) {
      CAPTURE(load);
      CHECK(off_at(l, load) < 0.03);
    }
    CHECK(l.covered() == 1);
    CHECK(l.noise() < 0.05);
    CHECK(l.outliers() == 0);
  }

  TEST_CASE("a value that is not a reading is refused and leaves nothing behind") {
    learner l;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(l.add(0.5, 0) == outcome::refused);
    CHECK(l.add(0.5, -20) == outcome::refused);
    CHECK(l.add(0.5, nan) == outcome::refused);
    CHECK(l.add(0.5, 1 / 0.0) == outcome::refused);
    CHECK(l.add(nan, 100) == outcome::refused);
    CHECK(l.add(-0.1, 100) == outcome::refused);
    CHECK(l.add(1.5, 100) == outcome::refused);
    CHECK(l.samples() == 0);
    CHECK(l.learned().empty());
    CHECK_FALSE(estimate(l.learned(), nullptr, 4));
  }

  TEST_CASE("a day at one load leaves the rest of the curve as it was") {
    auto l = taught();
    const double before = estimate(l.learned(), nullptr, 1).value().watts(0.8);
    for (int i = 0; i < 86'400; ++i) l.add(0.3, watts_at(0.3, i));
    CHECK(estimate(l.learned(), nullptr, 1).value().watts(0.8) == doctest::Approx(before).epsilon(0.01));
    CHECK(off_at(l, 0.3) < 0.01);
  }

  TEST_CASE("a curve that creeps is followed") {
    auto l = taught();
    // Fans and dust: the watts rise by a tenth within some hours.
    for (int i = 0; i < 60'000; ++i) {
      const double more = 1 + 0.1 * std::min(1.0, i / 10'000.0);
      CHECK(l.add(wandering(i), more * watts_at(wandering(i), i)) == outcome::learned);
    }
    CHECK(estimate(l.learned(), nullptr, 1).value().watts(0.5) ==
          doctest::Approx(1.1 * watts_at(0.5, 0)).epsilon(0.02));
  }

  TEST_CASE("a spike is left out and counted") {
    auto l = taught();
    CHECK(l.add(0.5, 3 * watts_at(0.5, 0)) == outcome::outlier);
    CHECK(l.add(0.5, 0.2 * watts_at(0.5, 0)) == outcome::outlier);
    CHECK(l.add(0.5, watts_at(0.5, 0)) == outcome::learned);
    CHECK(l.outliers() == 2);
    CHECK(off_at(l, 0.5) < 0.02);
  }

  TEST_CASE("a spike at a load that was new does not stay, though the load moves on") {
    learner l;
    for (int i = 0; i < 10; ++i) CHECK(l.add(0.2, 5 * watts_at(0.2, i)) == outcome::learned);
    for (int i = 0; i < 1200; ++i) {
      const double load = wandering(i);
      REQUIRE(l.add(load, watts_at(load, i)) != outcome::anew_outliers);
    }
    CHECK(l.outliers() == learner::most_outliers);
    for (const double load : {0.2, 0.5, 0.9}) CHECK(off_at(l, load) < 0.03);
  }

  TEST_CASE("watts that hardly rise over half of all loads are not the node's") {
    learner stuck, narrow, lenovo;
    for (int i = 0; i < 1200; ++i) {
      const double jitter = 10 * std::sin(12.9898 * i), load = wandering(i);
      stuck.add(load, 200 + jitter);
      narrow.add(0.5 + 0.4 * (load - 0.5), 200 + jitter);
      lenovo.add(load, 200 + 300 * std::min(load, 0.6) + jitter);
    }
    CHECK(stands_still(stuck.learned()));
    CHECK_FALSE(stands_still(narrow.learned()));  // over fewer loads a server may be flat
    CHECK_FALSE(stands_still(lenovo.learned()));
    CHECK_FALSE(stands_still(taught().learned()));
    CHECK_FALSE(stands_still(learner().learned()));
  }

  TEST_CASE("defect: watts that fall as the load rises, or follow nothing, made a node free of charge") {
    learner falls, humps, random;
    for (int i = 0; i < 3600; ++i) {
      const double load = wandering(i);
      falls.add(load, 600 - watts_at(load, i));
      humps.add(load, 300 - 300 * std::abs(load - 0.45));
      random.add(load, 250 + 150 * std::sin(12.9898 * i * i));
    }
    CHECK(stands_still(falls.learned()));
    CHECK(stands_still(humps.learned()));
    CHECK(stands_still(random.learned()));
  }

  TEST_CASE("a meter that begins to measure something else makes it begin again, and say so") {
    // The meter now measures the CPU packages instead of the whole machine (0.4), or reports kilowatts, or
    // milliwatts.
    double factor = 0.4;
    SUBCASE("another part of the machine") {}
    SUBCASE("kilowatts") { factor = 1e-3; }
    SUBCASE("milliwatts") { factor = 1e3; }
    CAPTURE(factor);
    auto l = taught();
    int rejected = 0;
    for (;; ++rejected) {
      const auto what = l.add(0.5, factor * watts_at(0.5, rejected));
      if (what == outcome::anew_outliers) break;
      REQUIRE(what == outcome::outlier);
      REQUIRE(rejected < 100);
    }
    CHECK(rejected == learner::most_outliers - 1);
    CHECK(l.samples() == 1);
    for (int i = 0; i < 1200; ++i) l.add(wandering(i), factor * watts_at(wandering(i), i));
    CHECK(estimate(l.learned(), nullptr, 1).value().watts(0.5) ==
          doctest::Approx(factor * watts_at(0.5, 0)).epsilon(0.02));
  }

  TEST_CASE(
      "a meter that stands still while the load moves teaches nothing, and at last makes it begin again") {
    auto l = taught();
    const auto before = l.samples();
    int repeats = 0;
    outcome what = outcome::learned;
    for (int i = 0; i < 200; ++i) {
      what = l.add(wandering(2000 + 3 * i), 222);
      if (what == outcome::anew_stuck) break;
      repeats += what == outcome::repeated ? 1 : 0;
      CHECK(l.samples() <= before + 2);
    }
    CHECK(what == outcome::anew_stuck);
    CHECK(repeats >= learner::usual_repeats - 1);
    CHECK(l.stuck());
    CHECK(l.samples() == 0);
    CHECK(l.add(0.9, 222) == outcome::repeated);  // anew_stuck comes once
    CHECK(l.add(0.9, watts_at(0.9, 0)) == outcome::learned);
    CHECK_FALSE(l.stuck());
  }

  TEST_CASE("defect: a stuck meter whose value dithers threw a good curve away, or taught a flat one") {
    auto l = taught();
    double watts = 175;
    bool jobs = false;
    SUBCASE("the load wanders over less than half of all loads") {}
    SUBCASE("the load jumps") {
      watts = 183;
      jobs = true;
    }
    CAPTURE(jobs);
    for (int i = 0; i < 628; ++i) {
      const double load = jobs ? (i / 40 % 2 == 0 ? 0.15 : 0.8) : 0.3 - 0.23 * std::cos(0.01 * i);
      const auto what = l.add(load, watts + std::sin(12.9898 * i));
      const bool kept = what == outcome::learned || what == outcome::repeated;
      REQUIRE(kept);
    }
    CHECK(l.stuck());
    for (const double load : {0.1, 0.3, 0.4, 0.5, 0.8}) {
      CAPTURE(load);
      CHECK(off_at(l, load) < 0.05);
    }
    for (int i = 0; i < 300; ++i) CHECK(l.add(wandering(i), watts_at(wandering(i), i)) == outcome::learned);
    CHECK_FALSE(l.stuck());
  }

  TEST_CASE("defect: a meter that was found stuck went on teaching loads that were new") {
    learner l;
    for (int i = 0; i < 600; ++i) {
      const double load = i / 2 % 2 == 0 ? 0.15 : 0.85;
      l.add(load, watts_at(load, i));
    }
    const auto stuck = [](int i) { return watts_at(0.15, 0) * (1 + 0.005 * std::sin(12.9898 * i)); };
    for (int i = 0; i < 400; ++i) l.add(i / 40 % 2 == 0 ? 0.15 : 0.85, stuck(i));
    for (int i = 0; i < 40; ++i) CHECK(l.add(0.4, stuck(i)) == outcome::repeated);
    CHECK(l.learned().samples(statistics::bin_of(0.4)) == 0);
    for (int i = 0; i < 40; ++i) CHECK(l.add(0.85, watts_at(0.85, i)) == outcome::learned);
    for (int i = 0; i < 40; ++i) CHECK(l.add(0.4, watts_at(0.4, i)) == outcome::learned);
  }

  TEST_CASE(
      "a server that is flat over a third of its loads, in whole watts, is not taken for a stuck meter") {
    // As in WAO's model of a Lenovo server: the watts do not rise from 60 to 90 % load.
    const auto flat = [](double load) {
      return std::round(200 + 300 * std::min(load, 0.6) + 100 * std::max(0.0, load - 0.9));
    };
    learner l;
    for (int i = 0; i < 20'000; ++i) CHECK(l.add(wandering(i), flat(wandering(i))) != outcome::anew_stuck);
    // A day of it between 62 and 88 %.
    for (int i = 0; i < 86'400; ++i) {
      const double load = 0.75 + 0.13 * std::sin(0.01 * i);
      REQUIRE(l.add(load, flat(load)) != outcome::anew_stuck);
    }
    CHECK_FALSE(l.stuck());
    const auto c = estimate(l.learned(), nullptr, 1).value();
    for (const double load : {0.1, 0.3, 0.5, 0.65, 0.8, 0.95}) {
      CAPTURE(load);
      CHECK(c.watts(load) == doctest::Approx(flat(load)).epsilon(0.03));
    }
  }

  TEST_CASE("a meter of whole watts may repeat itself while the load stands still") {
    learner l;
    for (int i = 0; i < 1000; ++i) CHECK(l.add(0.3 + 0.005 * std::sin(i), 200) == outcome::learned);
    CHECK_FALSE(l.stuck());
  }

  TEST_CASE("coverage says at which loads the node was measured") {
    learner l;
    for (int i = 0; i < 300; ++i)
      l.add(0.25 + 0.25 * std::sin(0.02 * i), watts_at(0.25 + 0.25 * std::sin(0.02 * i), i));
    CHECK(l.covered() == doctest::Approx(11.0 / 21));
    CHECK(l.covered(0.5) == 1);
    CHECK(learner().covered() == 0);
  }
}

}  // namespace learner_test
