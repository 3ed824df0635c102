#include "common/text/glob.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace binnacle;

TEST_SUITE_BEGIN("common/text/glob");

TEST_CASE("patterns are globs without regard to case") {
  CHECK(matches_glob("*", ""));
  CHECK(matches_glob("psu*", "PSU1 Input"));
  CHECK(matches_glob("*temp", "Inlet Temp"));
  CHECK(matches_glob("P?U1*In*t", "psu1 input"));
  CHECK(matches_glob("a*b*c", "aXXbYYbZc"));
  CHECK_FALSE(matches_glob("a*b*c", "aXXbYYbZ"));
  CHECK_FALSE(matches_glob("", "a"));
  CHECK_FALSE(matches_glob("PSU", "PSU1"));
  CHECK(matches_glob("", ""));
  // A simple matcher takes exponential time for these stars.
  CHECK_FALSE(matches_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(5'000, 'a')));
}

TEST_SUITE_END();
