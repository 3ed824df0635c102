#include "aggregator/policy/published/scores.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace scores_test {

using namespace binnacle;
using namespace binnacle::policy;

namespace {

using candidates = std::vector<std::optional<decimal>>;

candidates tenths(std::initializer_list<std::int64_t> mantissas) {
  candidates out;
  for (const auto m : mantissas) out.push_back(decimal{m, -1});
  return out;
}

std::vector<int> by_value(const candidates& values, const preference& better) {
  std::vector<std::uint8_t> scores(values.size(), 99);
  score_by_value(values, better, scores);
  return {scores.begin(), scores.end()};
}

std::vector<int> by_rank(const candidates& values, const std::vector<std::string>& names,
                         const preference& better) {
  std::vector<std::uint8_t> scores(values.size(), 99);
  const std::vector<std::string_view> views(names.begin(), names.end());
  score_by_rank(values, views, better, scores);
  return {scores.begin(), scores.end()};
}

constexpr preference smaller{comparison::less_than};
constexpr preference larger{comparison::greater_than};

}  // namespace

TEST_SUITE("aggregator/policy/published/scores") {
  TEST_CASE("the best gets 10, the worst 0, the others in proportion") {
    CHECK(by_value(tenths({1000, 2000, 1500}), smaller) == std::vector{10, 0, 5});
    CHECK(by_value(tenths({1000, 2000, 1500}), larger) == std::vector{0, 10, 5});
    // The power demo's three nodes, lowest power first.
    CHECK(by_value({decimal{72'133, -3}, decimal{40'821, -3}, decimal{51'774, -3}}, smaller) ==
          std::vector{0, 10, 7});
  }

  TEST_CASE("scores go by the operator's direction, strict or not") {
    CHECK(by_value(tenths({100, 200}), {comparison::less_or_equal}) == std::vector{10, 0});
    CHECK(by_value(tenths({100, 200}), {comparison::greater_or_equal}) == std::vector{0, 10});
    CHECK(could_be_worse(comparison::less_or_equal, store::certainty::at_least));
    CHECK_FALSE(could_be_worse(comparison::greater_or_equal, store::certainty::at_least));
  }

  TEST_CASE("halves round up") {
    CHECK(by_value(tenths({0, 5, 15, 100}), larger) == std::vector{0, 1, 2, 10});
    CHECK(by_value(tenths({0, 4, 14, 100}), larger) == std::vector{0, 0, 1, 10});
  }

  TEST_CASE("a spread below 5 % of the largest magnitude is noise and counts as 5 %") {
    // The values are 1 % apart: a fifth of the smallest spread that gets the full range of scores.
    CHECK(by_value(tenths({1000, 990}), larger) == std::vector{10, 8});
    CHECK(by_value(tenths({1000, 999}), larger) == std::vector{10, 10});
    CHECK(by_value(tenths({1000, 950}), larger) == std::vector{10, 0});
    CHECK(by_value(tenths({-1000, -990}), larger) == std::vector{8, 10});
  }

  TEST_CASE("equal values all get 10, so that a known node beats an unknown one") {
    CHECK(by_value(tenths({7, 7, 7}), smaller) == std::vector{10, 10, 10});
    CHECK(by_value(tenths({0, 0}), smaller) == std::vector{10, 10});
    CHECK(by_value({decimal{7, 0}, std::nullopt}, smaller) == std::vector{10, 0});
  }

  TEST_CASE("a candidate without a value gets 0 and moves no other score") {
    CHECK(by_value({decimal{100, 0}, std::nullopt, decimal{200, 0}}, smaller) == std::vector{10, 0, 0});
    CHECK(by_value({std::nullopt, std::nullopt}, smaller) == std::vector{0, 0});
    CHECK(by_value({}, smaller).empty());
  }

  TEST_CASE("a partial value that could turn out worse is not to be preferred for what it says") {
    using store::certainty;
    struct {
      comparison better;
      bool exact, at_least, at_most, unsure;
    } const table[] = {{comparison::less_than, false, true, false, true},
                       {comparison::greater_than, false, false, true, true},
                       {comparison::equals, false, true, true, true}};
    for (const auto& row : table) {
      CAPTURE(to_string(row.better));
      CHECK(could_be_worse(row.better, certainty::exact) == row.exact);
      CHECK(could_be_worse(row.better, certainty::at_least) == row.at_least);
      CHECK(could_be_worse(row.better, certainty::at_most) == row.at_most);
      CHECK(could_be_worse(row.better, certainty::unsure) == row.unsure);
    }
  }

  TEST_CASE("values of different exponents compare by what they are worth") {
    CHECK(by_value({decimal{1, 3}, decimal{10'000, -1}, decimal{500, 0}}, larger) == std::vector{10, 10, 0});
    CHECK(by_value({decimal{9'000'000'000'000'000'000, 18}, decimal{1, -18}}, larger) == std::vector{10, 0});
    CHECK(by_value({decimal{INT64_MIN, 18}, decimal{INT64_MAX, -18}}, larger) == std::vector{0, 10});
  }

  TEST_CASE("defect_20_equals_prefers_the_value_nearest_to_the_target") {
    const preference at_fifty{comparison::equals, quantity{50'000'000'000}};
    CHECK(by_value(tenths({500, 400, 620, 0}), at_fifty) == std::vector{10, 8, 8, 0});
    CHECK(by_rank(tenths({500, 400, 620, 0}), {"a", "b", "c", "d"}, at_fifty) == std::vector{10, 9, 8, 7});
    const preference fine{comparison::equals, quantity{1}};
    CHECK(by_value({decimal{1, -9}, decimal{1, 0}}, fine) == std::vector{10, 0});
  }

  TEST_CASE("defect_19_no_score_is_below_zero_and_no_unscored_node_outranks_a_scored_one") {
    candidates values;
    std::vector<std::string> names;
    for (int i = 0; i < 13; ++i) {
      values.emplace_back(decimal{i, 0});
      names.push_back("node" + std::to_string(i));
    }
    values.emplace_back(std::nullopt);
    names.emplace_back("unknown");
    CHECK(by_rank(values, names, smaller) == std::vector{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0});
    for (const int score : by_value(values, smaller)) {
      CHECK(score >= 0);
      CHECK(score <= 10);
    }
  }

  TEST_CASE("one node's lie leaves the other nodes the differences between their scores") {
    // A hundred nodes between 100.0 and 199.0 W, in no order.
    candidates honest;
    for (int i = 0; i < 100; ++i) honest.emplace_back(decimal{1000 + i * 37 % 100 * 10, -1});
    const auto before = by_value(honest, smaller);
    struct {
      const char* what;
      decimal lie;
      int gets;
    } const lies[] = {{"zero", {0, 0}, 10},
                      {"below zero", {-5'000, 0}, 10},
                      {"the least number", {INT64_MIN, 18}, 10},
                      {"a megawatt", {1, 6}, 0},
                      {"the largest number", {INT64_MAX, 18}, 0}};
    for (const auto& row : lies) {
      CAPTURE(row.what);
      candidates values = honest;
      values.emplace_back(row.lie);
      std::vector<std::uint8_t> scores(values.size());
      const auto odd = score_by_value(values, smaller, scores);
      CHECK(scores.back() == row.gets);
      CHECK(odd.beyond == std::vector<std::uint32_t>{100});
      CHECK(odd.suspicious == odd.beyond);
      const auto [least, most] = std::minmax_element(scores.begin(), scores.end() - 1);
      CHECK(*most - *least >= 3);
      for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
          if (before[i] >= before[k] + 4) REQUIRE(scores[i] > scores[k]);
        }
      }
    }
  }

  TEST_CASE("a twentieth of the nodes may lie together, and both ends at once") {
    candidates values;
    for (int i = 0; i < 94; ++i) values.emplace_back(decimal{1000 + i * 37 % 94 * 10, -1});
    for (int i = 0; i < 3; ++i) values.emplace_back(decimal{-1, 12});
    for (int i = 0; i < 3; ++i) values.emplace_back(decimal{1, 12});
    std::vector<std::uint8_t> scores(values.size());
    CHECK(score_by_value(values, larger, scores).beyond.size() == 6);
    const auto [least, most] = std::minmax_element(scores.begin(), scores.begin() + 94);
    CHECK(*most - *least >= 3);
  }

  TEST_CASE("values that belong together score as they always did, however many, and none is called a lie") {
    for (const int many : {3, 19, 20, 21, 100, 512, 513, 5'000}) {
      CAPTURE(many);
      candidates values;
      for (int i = 0; i < many; ++i) values.emplace_back(decimal{(i * 7919) % 3'000 + 500, -1});
      std::vector<std::uint8_t> scores(values.size());
      CHECK(score_by_value(values, smaller, scores).beyond.empty());
      std::int64_t least = INT64_MAX, most = 0;
      for (const auto& v : values) {
        least = std::min(least, v->mantissa);
        most = std::max(most, v->mantissa);
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double below =
            10.0 * static_cast<double>(values[i]->mantissa - least) / static_cast<double>(most - least);
        REQUIRE(scores[i] == static_cast<int>(std::floor(10 - below + 0.5)));
      }
    }
  }

  TEST_CASE("among few, a value up to five times the others' may be an honest node's") {
    for (const std::size_t many : {3, 4, 19}) {
      CAPTURE(many);
      candidates values(many, decimal{100, 0});
      values.back() = decimal{500, 0};
      std::vector<std::uint8_t> scores(values.size());
      CHECK(score_by_value(values, smaller, scores).beyond.empty());
      CHECK(scores.front() == 10);
      CHECK(scores.back() == 0);
      values.back() = decimal{501, 0};
      CHECK(score_by_value(values, smaller, scores).beyond.size() == 1);
    }
  }

  TEST_CASE("issue_16_a8_of_three_nodes_one_lies_and_the_others_are_still_ranked") {
    // Two honest nodes of 100 and 200 W. A value beyond five times the larger one is clamped.
    struct {
      const char* what;
      decimal lie;
      preference better;
      std::vector<int> scores;
    } const lies[] = {{"a megawatt", {1, 6}, smaller, {10, 9, 0}},
                      {"the largest number", {INT64_MAX, 18}, smaller, {10, 9, 0}},
                      {"the largest number, where more is better", {INT64_MAX, 18}, larger, {0, 1, 10}},
                      {"the least number", {INT64_MIN, 18}, smaller, {2, 0, 10}},
                      {"zero, which an idle node could say", {0, 0}, smaller, {5, 0, 10}}};
    for (const auto& row : lies) {
      CAPTURE(row.what);
      CHECK(by_value({decimal{100, 0}, decimal{200, 0}, row.lie}, row.better) == row.scores);
      // The result does not depend on the liar's place.
      CHECK(by_value({row.lie, decimal{100, 0}, decimal{200, 0}}, row.better) ==
            std::vector{row.scores[2], row.scores[0], row.scores[1]});
    }
    CHECK(by_value(tenths({1000, 1200, 1400, 1600, INT64_MAX}), smaller) == std::vector{10, 10, 9, 9, 0});
  }

  TEST_CASE("among few, the one that stands out is suspicious only when no machine differs so much") {
    std::vector<std::uint8_t> scores(3);
    // A busy server among idle ones: its score is clamped, since nobody can tell it from a liar, but it
    // causes no warning.
    candidates values = tenths({600, 650, 4'000});
    auto odd = score_by_value(values, smaller, scores);
    CHECK(odd.beyond == std::vector<std::uint32_t>{2});
    CHECK(odd.suspicious.empty());
    CHECK(std::vector<int>(scores.begin(), scores.end()) == std::vector{10, 10, 0});
    values.back() = decimal{1, 6};
    odd = score_by_value(values, smaller, scores);
    CHECK(odd.suspicious == std::vector<std::uint32_t>{2});
  }

  TEST_CASE("how far apart honest nodes usually are is never clamped") {
    preference load = smaller;
    load.plausible = {0, 1, 1};
    std::vector<std::uint8_t> scores(3);
    candidates values{decimal{2, -2}, decimal{4, -2}, decimal{95, -2}};
    CHECK(score_by_value(values, load, scores).beyond.empty());
    CHECK(std::vector<int>(scores.begin(), scores.end()) == std::vector{10, 10, 0});
  }

  TEST_CASE("heterogeneous fleets keep their order, however far their values lie apart") {
    // Boards of 5 W, a server, and one full of accelerators.
    CHECK(by_value(tenths({50, 60, 3'000, 30'000}), smaller) == std::vector{10, 10, 9, 0});
    std::uint64_t state = 7;
    for (int round = 0; round < 500; ++round) {
      candidates values;
      const std::size_t many = 3 + static_cast<std::size_t>(round) % 17;
      for (std::size_t i = 0; i < many; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        values.emplace_back(
            decimal{static_cast<std::int64_t>(state >> 40) + 1, static_cast<std::int8_t>(state >> 33 & 3)});
      }
      const auto scores = by_value(values, smaller);
      for (std::size_t i = 0; i < many; ++i) {
        for (std::size_t k = 0; k < many; ++k) {
          if (*values[i] < *values[k]) REQUIRE(scores[i] >= scores[k]);
        }
      }
    }
  }

  TEST_CASE("a value that cannot be counts as none, at both ends and in both ways to score") {
    preference watts = smaller;
    watts.plausible = {0, 100'000, 0};
    const candidates values{decimal{2000, -1}, decimal{-1, 0}, decimal{1000, -1}, decimal{100'001, 0}};
    const std::vector<std::string_view> names{"a", "b", "c", "d"};
    const std::vector<std::uint32_t> lies{1, 3};
    std::vector<std::uint8_t> scores(4);
    CHECK(score_by_value(values, watts, scores).implausible == lies);
    CHECK(std::vector<int>(scores.begin(), scores.end()) == std::vector{0, 0, 10, 0});
    CHECK(score_by_rank(values, names, watts, scores).implausible == lies);
    CHECK(std::vector<int>(scores.begin(), scores.end()) == std::vector{9, 0, 10, 0});
    // The ends of the plausible range are plausible.
    const candidates ends{decimal{0, 3}, decimal{1, 5}, decimal{1'000'000, -1}};
    scores.resize(ends.size());
    CHECK(score_by_value(ends, watts, scores).implausible.empty());
    CHECK(score_by_value({}, watts, {}).implausible.empty());
  }

  TEST_CASE("in TAS's order a lie within what can be moves every other node by one place at most") {
    const std::vector<std::string> names{"a", "b", "c", "liar"};
    const auto honest = by_rank(tenths({10, 20, 30}), {"a", "b", "c"}, smaller);
    for (const std::int64_t lie : {0, 15, 25, 1'000'000}) {
      CAPTURE(lie);
      const auto scores = by_rank(tenths({10, 20, 30, lie}), names, smaller);
      for (std::size_t i = 0; i < 3; ++i) CHECK(honest[i] - scores[i] <= 1);
      CHECK(scores[0] > scores[1]);
      CHECK(scores[1] > scores[2]);
    }
  }

  TEST_CASE("where nearly all are equal the odd one is the worst, and the others stay equal") {
    candidates values(100, decimal{100, 0});
    values.back() = decimal{300, 0};
    std::vector<std::uint8_t> scores(values.size());
    CHECK(score_by_value(values, smaller, scores).beyond == std::vector<std::uint32_t>{99});
    CHECK(std::count(scores.begin(), scores.end() - 1, 10) == 99);
    CHECK(scores.back() == 0);
  }

  TEST_CASE("rank breaks ties by name, whatever the order of the candidates") {
    CHECK(by_rank(tenths({5, 5, 5}), {"c", "a", "b"}, smaller) == std::vector{8, 10, 9});
    CHECK(by_rank({decimal{5, 0}, decimal{50, -1}, std::nullopt}, {"b", "a", "c"}, larger) ==
          std::vector{9, 10, 0});
    CHECK(by_rank({}, {}, larger).empty());
  }
}

}  // namespace scores_test
