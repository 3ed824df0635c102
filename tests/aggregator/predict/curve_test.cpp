#include "aggregator/predict/curve.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace curve_test {

using namespace binnacle;
using predict::curve;

TEST_SUITE("aggregator/predict/curve") {
  TEST_CASE("a curve goes through the points given, on straight lines, in cores") {
    const auto made = curve::through(std::vector<double>{100, 200, 250}, 8);
    REQUIRE(made.has_value());
    CHECK(made->points().size() == 21);
    CHECK(made->watts(0) == 100);
    CHECK(made->watts(2) == doctest::Approx(150));
    CHECK(made->watts(4) == doctest::Approx(200));
    CHECK(made->watts(5) == doctest::Approx(212.5));
    CHECK(made->watts(8) == doctest::Approx(250));
  }

  TEST_CASE("loads outside the node count as idle and as full") {
    const auto made = curve::through(std::vector<double>{100, 250}, 8).value();
    CHECK(made.watts(-1) == 100);
    CHECK(made.watts(80) == 250);
  }

  TEST_CASE("few points are refined so that each stays a point, many are kept") {
    const auto points = [](std::size_t n) {
      return curve::through(std::vector<double>(n, 100), 1).value().points().size();
    };
    CHECK(points(2) == 21);
    CHECK(points(8) == 22);  // seven gaps of three steps
    CHECK(points(11) == 21);
    CHECK(points(12) == 23);
    CHECK(points(21) == 21);
    CHECK(points(101) == 101);
  }

  TEST_CASE("watts never fall: a dip is lifted to the point before it") {
    const auto made = curve::through(std::vector<double>{201.6, 198.6, 205.2, 200}, 3).value();
    CHECK(made.watts(1) == doctest::Approx(201.6));
    CHECK(made.watts(2) == doctest::Approx(205.2));
    CHECK(made.watts(3) == doctest::Approx(205.2));
    CHECK(made.watts(1.5) == doctest::Approx(203.4));
  }

  TEST_CASE("something that is not a curve is refused in one sentence") {
    const auto refusal = [](std::vector<double> watts, double cores) {
      const auto made = curve::through(watts, cores);
      return made ? std::string("taken") : made.error().message;
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(refusal({100, -3, 120}, 4) ==
          "a power curve whose point 2 of 3 is -3 W: watts are finite and above 0");
    CHECK(refusal({0, 100}, 4) == "a power curve whose point 1 of 2 is 0 W: watts are finite and above 0");
    CHECK(refusal({100, nan}, 4) ==
          "a power curve whose point 2 of 2 is nan W: watts are finite and above 0");
    CHECK(refusal({100, 1 / 0.0}, 4) ==
          "a power curve whose point 2 of 2 is inf W: watts are finite and above 0");
    CHECK(refusal({100}, 4) == "a power curve of 1 points: give 2 to 101 at evenly spaced loads");
    CHECK(refusal(std::vector<double>(102, 1), 4) ==
          "a power curve of 102 points: give 2 to 101 at evenly spaced loads");
    CHECK(refusal({100, 200}, 0) == "a power curve of a node with 0 cores: a node has some");
    CHECK(refusal({100, 200}, nan) == "a power curve of a node with nan cores: a node has some");
  }
}

}  // namespace curve_test
