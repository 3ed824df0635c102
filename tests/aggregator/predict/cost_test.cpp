#include "aggregator/predict/cost.hpp"

#include "aggregator/predict/placing.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace predict_cost_test {

using namespace binnacle::predict;

namespace {

using known = cost::known;

chords node(const std::vector<double>& watts, double cores, double cap = 1) {
  return {curve::through(watts, cores).value(), cap};
}

std::vector<int> scored(const std::vector<cost>& costs) {
  std::vector<std::uint8_t> scores(costs.size(), 99);
  score_costs(costs, scores);
  return {scores.begin(), scores.end()};
}

cost cost_by(objective by, const chords& n, double load, double pod) {
  return placing_on(by, {.cores = pod}, {&n, load}).costs;
}
cost by_chord(const chords& n, double load, double pod) {
  return cost_by(objective::best_chord, n, load, pod);
}
cost by_increase(const chords& n, double load, double pod) {
  return cost_by(objective::marginal, n, load, pod);
}

constexpr cost full{known::over, 0};
constexpr cost unknown{};
constexpr cost of(double watts) { return {known::yes, watts}; }

}  // namespace

TEST_SUITE("aggregator/predict/cost") {
  TEST_CASE("the started node is cheaper than an idle one like it, which the pod's own watts do not see") {
    // The first core of an idle node costs 50 W, the second one 6 W.
    const auto a = node({100, 150, 156, 166, 180}, 4);
    CHECK(by_chord(a, 1, 1).watts < by_chord(a, 0, 1).watts);
    CHECK(by_increase(a, 0, 1).watts == doctest::Approx(50));
    CHECK(by_increase(a, 1, 1).watts == doctest::Approx(6));
  }

  TEST_CASE("nodes of different size compare by the pod's watts, not by their shares") {
    // Both rise from 100 to 200 W. The large node needs eight times as many cores for that.
    const auto small = node({100, 200}, 8), large = node({100, 200}, 64);
    CHECK(by_chord(small, 4, 2).watts == doctest::Approx(25));
    CHECK(by_chord(large, 32, 2).watts == doctest::Approx(25.0 / 8));
  }

  TEST_CASE(
      "a pod that would fill a node beyond its cap costs nothing known; one that fills it exactly fits") {
    const auto capped = node({100, 200}, 10, 0.9);
    CHECK(by_chord(capped, 5, 4).is == known::yes);
    CHECK(by_chord(capped, 5.1, 4).is == known::over);
    CHECK(by_increase(capped, 5.1, 4).is == known::over);
    const auto whole = node({100, 200}, 3, 1);
    CHECK(by_chord(whole, 0.1 + 0.2, 2.7).is == known::yes);
  }

  TEST_CASE("the cheapest gets 10, the dearest 2, the others in proportion, rounded away from 10") {
    CHECK(scored({of(10), of(20), of(15)}) == std::vector{10, 2, 6});
    CHECK(scored({of(10), of(10.01), of(20)}) == std::vector{10, 10, 2});
    CHECK(scored({of(10), of(10.2), of(20)}) == std::vector{10, 9, 2});
  }

  TEST_CASE("failed is below full, full below the dearest") {
    CHECK(scored({of(1), of(100), full, unknown}) == std::vector{10, 2, 1, 0});
    CHECK(scored({full, unknown}) == std::vector{1, 0});
    CHECK(scored({}).empty());
  }

  TEST_CASE("equal costs all get 10, also when they are nothing") {
    CHECK(scored({of(7), of(7), of(7)}) == std::vector{10, 10, 10});
    CHECK(scored({of(0), of(0), unknown}) == std::vector{10, 10, 0});
  }

  TEST_CASE("a spread below 5 % of the dearest decides little") {
    CHECK(scored({of(100), of(101)}) == std::vector{10, 9});
    CHECK(scored({of(100), of(102)}) == std::vector{10, 7});
  }

  TEST_CASE("one very dear node does not make the others equal") {
    CHECK(scored({of(5), of(6), of(1000)}) == std::vector{10, 9, 2});
  }
}

}  // namespace predict_cost_test
