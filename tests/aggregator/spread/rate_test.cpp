#include "aggregator/spread/rate.hpp"

#include <doctest/doctest.h>

namespace spread_rate_test {

using namespace binnacle::spread;

TEST_SUITE("aggregator/spread/rate") {
  TEST_CASE("a rate is a number from 0 to 1, as Go's ParseFloat writes one") {
    for (const auto& one :
         {std::pair("0", 0.0), {"1", 1.0}, {"0.6", 0.6}, {".5", 0.5}, {"1.0", 1.0}, {"5e-1", 0.5}}) {
      CAPTURE(one.first);
      REQUIRE(parse_rate(one.first));
      CHECK(*parse_rate(one.first) == doctest::Approx(one.second));
    }
    for (const char* text : {"", "half", "50%", "1.1", "-0.1", "nan", "inf", "0,5", "0.5 ", "0.5x"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_rate(text));
    }
  }

  TEST_CASE("the quota is whole pods, rounded down, and what is whole in decimals stays whole") {
    CHECK(quota_of(0.6, 10) == 6);
    CHECK(quota_of(0.5, 3) == 1);
    CHECK(quota_of(0.29, 100) == 29);  // the product of the two doubles is 28.999999999999996
    CHECK(quota_of(0.1, 9) == 0);
    CHECK(quota_of(0, 10) == 0);
    CHECK(quota_of(1, 7) == 7);
    CHECK(quota_of(1, 2'147'483'647) == 2'147'483'647);
  }
}

}  // namespace spread_rate_test
