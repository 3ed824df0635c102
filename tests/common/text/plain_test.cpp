#include "common/text/plain.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace binnacle;

namespace {
TEST_SUITE("common/text/plain") {
  TEST_CASE("a value has the digits that count, whatever its resolution") {
    CHECK(plain(decimal{80'000, -3}) == "80");
    CHECK(plain(decimal{150, -2}) == "1.5");
    CHECK(plain(decimal{-1, -9}) == "-0.000000001");
    CHECK(plain(decimal{0, -3}) == "0");
    CHECK(plain(decimal{5, 3}) == "5000");
    CHECK(plain(decimal{100, 0}) == "100");
  }

  TEST_CASE("a target is written as a value is") {
    CHECK(plain(from_integer(60)) == "60");
    CHECK(plain(quantity{70'500'000'000}) == "70.5");
    CHECK(plain(quantity{-1}) == "-0.000000001");
    CHECK(plain(quantity{0}) == "0");
    CHECK(plain(from_integer(10'000'000)) == "10000000");
  }

  TEST_CASE("so is a number of an answer's JSON, rounded if it is for a glance") {
    CHECK(plain(71.4) == "71.4");
    CHECK(plain(80.0) == "80");
    CHECK(plain(1e17) == "100000000000000000");
    CHECK(plain(1e-6) == "0.000001");
    CHECK(plain(-0.04, 1) == "0");
    CHECK(plain(99.96, 1) == "100");
    CHECK(plain(1.25, 0) == "1");
    CHECK(plain(std::numeric_limits<double>::infinity()) == "inf");
  }
}
}  // namespace
