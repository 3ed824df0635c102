#include "aggregator/predict/rated.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
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

  TEST_CASE("defect: kilowatts and milliwatts were believed, so that a node was free of charge") {
    struct sheet {
      double idle, peak, cores;
      const char* says;
    };
    for (const sheet& s : {sheet{0.05, 0.2, 8, "are they kilowatts?"},
                           {0.9, 2.4, 256, "are they kilowatts?"},
                           {1.2, 10, 48, "are they kilowatts?"},
                           {50, 0.2, 8, "are they kilowatts?"},
                           {0.05, 200, 8, "is the first one in kilowatts?"},
                           {50, 250'000, 8, "are they milliwatts?"}}) {
      CAPTURE(s.idle);
      CAPTURE(s.peak);
      const auto line = rated_line(s.idle, s.peak, s.cores);
      REQUIRE(line.has_error());
      CHECK_MESSAGE(line.error().message.find(s.says) != std::string::npos, line.error().message);
    }
    // Boards with one and with four Arm cores, the server with the most CPUs, a host full of accelerators.
    for (const sheet& s :
         {sheet{0.4, 1.2, 1, ""}, {0.6, 2.5, 4, ""}, {180, 800, 512, ""}, {2'000, 14'000, 224, ""}}) {
      CAPTURE(s.peak);
      CHECK(rated_line(s.idle, s.peak, s.cores).has_value());
    }
  }
}

}  // namespace rated_test
