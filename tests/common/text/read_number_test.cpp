#include "common/text/read_number.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace binnacle;

TEST_SUITE("common/text/read_number") {
  TEST_CASE("an integer is all digits, and a minus sign only where the type has one") {
    CHECK(read_number<unsigned>("0042") == 42u);
    CHECK(read_number<std::int64_t>("-42") == -42);
    CHECK(read_number<std::uint64_t>("18446744073709551615") == UINT64_MAX);
    for (const char* bad : {"", " 4", "4 ", "4\n", "+4", "-4", "4.0", "4e0", "0x4", "4x", "four"}) {
      CAPTURE(bad);
      CHECK_FALSE(read_number<unsigned>(bad).has_value());
    }
    CHECK_FALSE(read_number<std::int64_t>("--4").has_value());
    CHECK_FALSE(read_number<unsigned>(std::string_view()).has_value());
  }

  TEST_CASE("a number that the type cannot hold is none") {
    CHECK(read_number<std::uint8_t>("255") == 255);
    CHECK_FALSE(read_number<std::uint8_t>("256").has_value());
    CHECK_FALSE(read_number<std::uint64_t>("18446744073709551616").has_value());
    CHECK_FALSE(read_number<double>("1e999").has_value());
  }

  TEST_CASE("the digits may be hexadecimal, without 0x") {
    CHECK(read_number<unsigned>("1F", 16) == 31u);
    CHECK_FALSE(read_number<unsigned>("0x1f", 16).has_value());
    CHECK_FALSE(read_number<unsigned>("1g", 16).has_value());
  }

  TEST_CASE("a double may have a fraction and an exponent") {
    CHECK(read_number<double>("0.25") == 0.25);
    CHECK(read_number<double>("-2.5e-1") == -0.25);
    for (const char* bad : {"", "+1", " 1", "1 ", "1,5", "1.5W"}) {
      CAPTURE(bad);
      CHECK_FALSE(read_number<double>(bad).has_value());
    }
  }
}
