#include "aggregator/predict/rated.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

namespace rated_test {

using namespace binnacle::predict;

TEST_SUITE("aggregator/predict/rated") {
  TEST_CASE("rated watts make a straight line over all cores") {
    const auto line = rated_line(90, 410, 16);
    REQUIRE(line.has_value());
    CHECK(line->watts(0) == doctest::Approx(90));
    CHECK(line->watts(4) == doctest::Approx(170));
    CHECK(line->watts(16) == doctest::Approx(410));
    CHECK(line->points().size() >= curve::least_points);
  }

  TEST_CASE("watts that are no rated ones make no line, and the sentence names them") {
    const double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    using pair = std::pair<double, double>;
    for (const pair& bad : {pair{410, 90}, {90, 90}, {0, 90}, {-5, 90}, {90, inf}, {nan, 90}, {90, nan}}) {
      CAPTURE(bad.first);
      CAPTURE(bad.second);
      CHECK(rated_line(bad.first, bad.second, 16).has_error());
    }
    const auto mixed_up = rated_line(410, 90, 16);
    CHECK_MESSAGE(mixed_up.error().message.find("rated watts of 410 idle and 90") == 0,
                  mixed_up.error().message);
  }
}

}  // namespace rated_test
