#include "aggregator/predict/chords.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace chords_test {

using namespace binnacle;
using predict::chords;
using predict::curve;

namespace {

curve of(const std::vector<double>& watts, double cores) { return curve::through(watts, cores).value(); }

/// The definition, point by point: the smallest slope to the end of the pod or any later load.
double by_definition(const curve& c, double load, double pod, double cap) {
  const double end = std::min(load + pod, cap);
  const auto slope_to = [&](double y) { return (c.watts(y) - c.watts(load)) / (y - load); };
  double best = slope_to(cap);
  if (end > load) best = std::min(best, slope_to(end));
  for (std::size_t i = 0; i < c.points().size(); ++i) {
    const double y = static_cast<double>(i) * c.step();
    if (y > load + 1e-9 && y >= end && y < cap) best = std::min(best, slope_to(y));
  }
  return best;
}

/// The slope of the envelope from idle on, behind `load`: of the lines from a point at or before the load,
/// each to the lowest later one, the steepest.
double long_run_by_definition(const curve& c, double load, double cap) {
  double steepest = 0;
  for (std::size_t i = 0; static_cast<double>(i) * c.step() <= load; ++i) {
    const double x = static_cast<double>(i) * c.step();
    double lowest = (c.watts(cap) - c.watts(x)) / (cap - x);
    for (std::size_t k = i + 1; k < c.points().size(); ++k) {
      const double y = static_cast<double>(k) * c.step();
      if (y > load && y < cap) lowest = std::min(lowest, (c.watts(y) - c.watts(x)) / (y - x));
    }
    steepest = std::max(steepest, lowest);
  }
  return steepest;
}

}  // namespace

TEST_SUITE("aggregator/predict/chords") {
  TEST_CASE("a step is spread over what the node can still take") {
    // 100 W idle, 160 W with one core of ten, then 4 W a core, and 20 W for the last.
    const chords node(of({100, 160, 164, 168, 172, 176, 180, 184, 188, 192, 212}, 10), 1);
    CHECK(node.from(0, 1) == doctest::Approx(92.0 / 9));
    CHECK(node.from(1, 1) == doctest::Approx(4));
    CHECK(node.from(5, 1) == doctest::Approx(4));
    CHECK(node.from(9, 1) == doctest::Approx(20));
    CHECK(node.from(9.5, 0.1) == doctest::Approx(20));
  }

  TEST_CASE("defect: a chord that ends before the pod does leaves out what the rest of the pod costs") {
    // Flat up to 4 cores of ten, then a step of 60 W, then flat again.
    const chords node(of({100, 100, 100, 100, 100, 160, 160, 160, 160, 160, 180}, 10), 1);
    CHECK(node.from(0, 4) == 0);
    CHECK(node.from(0, 5) == doctest::Approx(60.0 / 9));
    CHECK(node.from(3, 1) == 0);
    CHECK(node.from(3, 2) == doctest::Approx(60.0 / 6));
    SUBCASE("the pod's own end counts, where every later one is worse") {
      const chords bent(of({100, 101, 102, 112, 132, 172}, 5), 1);
      CHECK(bent.from(0, 2.5) == doctest::Approx(7.0 / 2.5));
      CHECK(bent.from(1, 3) == doctest::Approx(31.0 / 3));
    }
    SUBCASE("a pod beyond the cap ends at the cap") {
      CHECK(node.from(3, 50) == doctest::Approx(80.0 / 7));
      CHECK(node.from(10, 50) == doctest::Approx(20));
    }
    SUBCASE("for a pod of nothing it is the best chord to any later load") {
      CHECK(node.from(3.5, 0) == 0);
      CHECK(node.from(4.5, 0) == doctest::Approx(30.0 / 4.5));
    }
  }

  TEST_CASE("it is zero only where the curve stays flat") {
    const chords node(of({100, 140, 140, 140, 150}, 4), 1);
    CHECK(node.from(1, 0.5) == 0);
    CHECK(node.from(2.5, 0.5) == 0);
    CHECK(node.from(3, 0.5) == doctest::Approx(10));
    CHECK(node.from(0, 0.5) == doctest::Approx(50.0 / 4));  // 50 W over 4 cores; 40 W over 3 cores is more
  }

  TEST_CASE("in the long run a step is never spent: a started node costs what it costs from idle on") {
    const chords node(of({100, 160, 164, 168, 172, 176, 180, 184, 188, 192, 212}, 10), 1);
    const auto long_run = [](const chords& n, double load) { return n.in_the_long_run(n.at(load)); };
    for (const double load : {0.0, 1.0, 5.0, 8.9}) {
      CAPTURE(load);
      CHECK(long_run(node, load) == doctest::Approx(92.0 / 9));
    }
    CHECK(long_run(node, 9.5) == doctest::Approx(20));
    CHECK(long_run(node, 50) == doctest::Approx(20));
    CHECK(node.share_free(node.at(0)) == doctest::Approx(1));
    CHECK(node.share_free(node.at(4)) == doctest::Approx(0.6));
    CHECK(node.share_free(node.at(50)) == doctest::Approx(0));
    const chords capped(of({100, 160, 164, 168, 172, 176, 180, 184, 188, 192, 212}, 10), 0.5);
    CHECK(long_run(capped, 3) == doctest::Approx(76.0 / 5));
    CHECK(capped.share_free(capped.at(4)) == doctest::Approx(0.2));
  }

  TEST_CASE("the cap bounds what a step is spread over") {
    const auto c = of({100, 160, 164, 168, 172, 176, 180, 184, 188, 192, 212}, 10);
    CHECK(chords(c, 0.5).from(0, 1) == doctest::Approx(76.0 / 5));
    CHECK(chords(c, 0.9).cap() == doctest::Approx(9));
    SUBCASE("also between two points of the curve") {
      const chords node(c, 0.925);
      CHECK(node.cap() == doctest::Approx(9.25));
      CHECK(node.from(9, 0.1) == doctest::Approx(20));
      CHECK(node.from(0, 1) == doctest::Approx(92.0 / 9));
    }
    SUBCASE("at the cap and beyond it is the last slope before it, and a number") {
      const chords node(c, 0.5);
      CHECK(node.from(5, 1) == doctest::Approx(4));
      CHECK(node.from(50, 1) == doctest::Approx(4));
    }
    SUBCASE("a cap of nothing gives a number, too") { CHECK(chords(c, 0).from(0, 1) >= 0); }
  }

  TEST_CASE("at every load it is what the definition says, whatever the curve") {
    std::uint64_t state = 1;
    const auto random = [&state] {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
    };
    for (int round = 0; round < 200; ++round) {
      std::vector<double> watts{50};
      const std::size_t points = 3 + static_cast<std::size_t>(random() * 98);
      while (watts.size() < points)
        watts.push_back(watts.back() + (random() < 0.3 ? 0 : random() * random() * 40));
      const auto c = of(watts, 64);
      const double cap = 0.3 + 0.7 * random();
      const chords node(c, cap);
      for (int i = 0; i < 50; ++i) {
        const double load = random() * 0.999 * cap * 64;
        CAPTURE(round);
        CAPTURE(load);
        // A point is rounded to a tenth of a milliwatt; neighbouring points of a curve of 100 points are 0.65
        // cores apart.
        const double pod = random() < 0.2 ? 0 : random() * random() * 20;
        CAPTURE(pod);
        const double expected = by_definition(c, load, pod, cap * 64);
        CHECK(std::abs(node.from(load, pod) - expected) <= 1e-6 * expected + 5e-4);
        if (i >= 5) continue;
        const double mean = long_run_by_definition(c, load, cap * 64);
        CHECK(std::abs(node.in_the_long_run(node.at(load)) - mean) <= 3e-5 * mean + 5e-4);
      }
    }
  }

  TEST_CASE("defect: a model of steps ranks a pod of one hundredth of a node") {
    // WAO's published models are trees: the watts do not change over many loads, so the pod's own watts are 0
    // on both nodes.
    const chords steep(of({100, 100, 100, 100, 200, 200, 200, 200, 300}, 100), 1);
    const chords flat(of({100, 100, 100, 100, 110, 110, 110, 110, 120}, 100), 1);
    CHECK(steep.watts(13.5) == steep.watts(12.5));
    CHECK(steep.from(40, 1) > flat.from(40, 1));
  }
}

}  // namespace chords_test
