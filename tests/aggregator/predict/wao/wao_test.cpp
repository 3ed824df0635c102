#include "aggregator/predict/curve.hpp"
#include "aggregator/predict/wao/wao_v1.hpp"
#include "aggregator/predict/wao/wao_v2.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace wao_test {

using namespace binnacle;
namespace v1 = predict::wao_v1;
namespace v2 = predict::wao_v2;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<int> v1_scores(const std::vector<std::int64_t>& watts) {
  std::vector<int> out(watts.size(), -9);
  v1::normalise(watts, out);
  return out;
}

std::vector<int> v2_scores(const std::vector<std::int64_t>& watts, int base = v2::base_score) {
  std::vector<int> out(watts.size(), -9);
  v2::normalise(watts, out, base);
  return out;
}

}  // namespace

// The figures come from the unit tests of WAO itself, and from its published model.
TEST_SUITE("aggregator/predict/wao/wao_v1") {
  TEST_CASE("the node's shares before and with the pod") {
    const auto both = v1::shares_of(25.5, 30, {.request = 1, .limit = 1});
    REQUIRE(both);
    CHECK(both->before == doctest::Approx(.85));
    CHECK(both->after == doctest::Approx(.8833333));
    CHECK_FALSE(v1::shares_of(25.5, 30, {.request = 0, .limit = 5}));
    const auto limit_only = v1::shares_of(5, 30, {.request = 0, .limit = 1});
    REQUIRE(limit_only);
    CHECK(limit_only->before == doctest::Approx(.16666667));
    CHECK(limit_only->after == doctest::Approx(.195));
    CHECK_FALSE(v1::shares_of(5, 30, {}));
    CHECK(v1::shares_of(29.5, 30, {.request = 4, .limit = 0}));  // a request is not checked
  }

  TEST_CASE("inputs are rounded to a tenth, halves away from zero") {
    CHECK(v1::rounded(.85) == .9F);
    CHECK(v1::rounded(.8833) == .9F);
    CHECK(v1::rounded(-.25) == -.3F);
    CHECK(v1::rounded(.04) == 0);
  }

  TEST_CASE("watts are rounded towards zero, and a fall of a whole watt is a failure") {
    CHECK(v1::increase(106.89, 114.62) == 7);
    CHECK(v1::increase(100, 99.5) == 0);
    CHECK(v1::increase(100, 99) == v1::failed);
    CHECK(v1::increase(nan, 100) == v1::failed);
  }

  TEST_CASE("scores of whole watts") {
    CHECK(v1_scores({-1, 1, 4, 5, 7, 9}) == std::vector{0, 100, 63, 50, 25, 0});
    CHECK(v1_scores({5, -1, 5}) == std::vector{10, 0, 10});
    CHECK(v1_scores({-1, -1}) == std::vector{0, 0});
    CHECK(v1_scores({0, 0}) == std::vector{10, 10});
  }

  TEST_CASE("a pod of 5 % of the published model's server 1218 costs 0 W or 4, by how its tenths round") {
    // The model's watts at 0, 10 … 100 % CPU, with temperatures in the middle of their ranges.
    const std::vector<double> model{78.707,  90.052,  95.946,  99.710,  103.475, 107.834,
                                    112.773, 118.477, 124.071, 129.543, 134.969};
    const auto curve = predict::curve::through(model, 1).value();
    const auto watts = [&](double use, double request) {
      const auto both = v1::shares_of(use, 1, {.request = request, .limit = 0});
      return v1::increase(curve.watts(static_cast<double>(v1::rounded(both->before))),
                          curve.watts(static_cast<double>(v1::rounded(both->after))));
    };
    CHECK(watts(.46, .03) == 0);
    CHECK(watts(.42, .05) == 4);
    CHECK(watts(0, .1) == 11);
  }
}

TEST_SUITE("aggregator/predict/wao/wao_v2") {
  TEST_CASE("what a pod needs: of each container the request, else the limit") {
    using list = std::vector<v2::container_cpu>;
    CHECK(v2::need(list{{.1, .2}}) == doctest::Approx(.1));
    CHECK(v2::need(list{{.1, .2}, {.2, .4}}) == doctest::Approx(.3));
    CHECK(v2::need(list{{0, .2}, {0, .4}}) == doctest::Approx(.6));
    CHECK(v2::need(list{{.1, 0}, {0, .4}}) == doctest::Approx(.5));
    CHECK(v2::need(list{{0, 0}}) == 0);
    CHECK(v2::need({}) == 0);
  }

  TEST_CASE("scores of whole watts") {
    CHECK(v2_scores({0, 50, 100}) == std::vector{100, 60, 20});
    CHECK(v2_scores({7, 7}) == std::vector{20, 20});
    CHECK(v2_scores({v2::error, v2::overload, 10, 20, 30}, 50) == std::vector{0, 1, 100, 75, 50});
    CHECK(v2_scores({v2::error, v2::overload}) == std::vector{0, 1});
    CHECK(v2_scores({v2::error, 4, 4}) == std::vector{0, 20, 20});
  }

  TEST_CASE("watts are whole and never below 0") {
    CHECK(v2::increase(132.47, 151.598) == 19);
    CHECK(v2::increase(151, 150) == 0);
    CHECK(v2::increase(100, 100.99) == 0);
    CHECK(v2::increase(100, nan) == v2::error);
  }
}

}  // namespace wao_test
