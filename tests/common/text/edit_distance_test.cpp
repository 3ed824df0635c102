#include "common/text/edit_distance.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <string>

namespace edit_distance_test {

using binnacle::edit_distance;

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

TEST_SUITE("common/text/edit_distance") {
  TEST_CASE("the distance of two words") {
    CHECK(edit_distance("", "", no_limit) == 0);
    CHECK(edit_distance("", "abc", no_limit) == 3);
    CHECK(edit_distance("abc", "", no_limit) == 3);
    CHECK(edit_distance("kitten", "sitting", no_limit) == 3);
    CHECK(edit_distance("ab", "ba", no_limit) == 2);
    CHECK(edit_distance("L2_rqsts", "l2_RQSTS", no_limit) == 0);
  }

  TEST_CASE("a distance that is not below the limit is not found out") {
    CHECK(edit_distance("kitten", "sitting", 4) == 3);
    CHECK(edit_distance("kitten", "sitting", 3) == 3);
    CHECK(edit_distance("kitten", "sitting", 2) == 2);
    CHECK(edit_distance("kitten", "kitten", 0) == 0);
    std::size_t work = 1'000;
    CHECK(edit_distance(std::string(100, 'a'), std::string(97, 'a'), 3, work) == 3);
    CHECK_MESSAGE(work == 1'000, "the lengths say it");
  }

  TEST_CASE("attack: long words are not compared, and a limit bounds the comparisons") {
    CHECK(edit_distance(std::string(300, 'a'), std::string(300, 'b'), no_limit) == 300);
    CHECK(edit_distance(std::string(301, 'a'), std::string(301, 'a'), no_limit) == no_limit);
    CHECK(edit_distance(std::string(301, 'a'), "a", no_limit) == no_limit);
    std::size_t work = 10'000;
    CHECK(edit_distance(std::string(300, 'a'), std::string(300, 'a'), 5, work) == 0);
    CHECK(work >= 10'000 - 300 * 9);
    CHECK(edit_distance(std::string(300, 'a'), std::string(300, 'a'), no_limit, work) == 0);
    CHECK(work == 0);
  }
}

}  // namespace

}  // namespace edit_distance_test
