#include "aggregator/predict/cost.hpp"

#include "aggregator/predict/placing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
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
    // At half load, where a core costs a twentieth more than the line says: price() in predict/placing.hpp.
    CHECK(by_chord(small, 4, 2).watts == doctest::Approx(1.05 * 25));
    CHECK(by_chord(large, 32, 2).watts == doctest::Approx(1.05 * 25 / 8));
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

  TEST_CASE("one node's lie about its watts takes the differences out of nobody's scores") {
    // A hundred nodes on which the pod costs between 10.0 and 19.9 W, in no order.
    std::vector<cost> honest;
    for (int i = 0; i < 100; ++i) honest.push_back(of(10 + 0.1 * (i * 37 % 100)));
    const auto before = scored(honest);
    struct {
      double lie;
      int gets;
    } const lies[] = {{0, 10}, {-1e6, 10}, {1e5, 2}, {1e300, 2}};
    for (const auto& row : lies) {
      CAPTURE(row.lie);
      auto costs = honest;
      costs.push_back(of(row.lie));
      costs.push_back(full);
      std::vector<std::uint8_t> scores(costs.size());
      CHECK(score_costs(costs, scores) == std::vector<std::uint32_t>{100});
      CHECK(scores[100] == row.gets);
      CHECK(scores[101] == 1);
      const auto [least, most] = std::minmax_element(scores.begin(), scores.begin() + 100);
      CHECK(*most - *least >= 2);
      for (std::size_t i = 0; i < 100; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
          if (before[i] >= before[k] + 4) REQUIRE(scores[i] > scores[k]);
        }
      }
    }
  }

  TEST_CASE("of three nodes one lies, and the others are still ranked") {
    CHECK(scored({of(10), of(30), of(1e5)}) == std::vector{10, 8, 2});
    CHECK(scored({of(10), of(11), of(1e5)}) == std::vector{10, 9, 2});
    std::vector<std::uint8_t> scores(4);
    const std::vector<cost> four{of(10), of(30), of(60), of(1e5)};
    CHECK(score_costs(four, scores) == std::vector<std::uint32_t>{3});
    CHECK(std::vector<int>(scores.begin(), scores.end()) == std::vector{10, 9, 8, 2});
    // Without the liar's end nobody is beyond.
    CHECK(score_costs(std::vector{of(10), of(30), of(60)}, std::span(scores).first(3)).empty());
  }

  TEST_CASE("started nodes and idle ones, which are dear to start, keep their order") {
    std::vector<cost> costs;
    for (int i = 0; i < 40; ++i) costs.push_back(of(i < 2 ? 60 : 3 + 0.05 * i));
    std::vector<std::uint8_t> scores(costs.size());
    CHECK(score_costs(costs, scores) == std::vector<std::uint32_t>{0, 1});
    for (std::size_t i = 3; i < costs.size(); ++i) CHECK(scores[i] <= scores[i - 1]);
    CHECK(scores[2] == 10);
    CHECK(scores[0] == 2);
    CHECK(scores[1] == 2);
  }
}

}  // namespace predict_cost_test
