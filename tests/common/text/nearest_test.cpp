#include "common/text/nearest.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace nearest_test {

using binnacle::nearest;

namespace {

const std::vector<std::string_view> known{"metricname", "operator", "target", "for"};

TEST_SUITE("common/text/nearest") {
  TEST_CASE("a word with a few letters wrong is recognised, whatever its case") {
    CHECK(nearest("metricName", known) == "metricname");
    CHECK(nearest("oprator", known) == "operator");
    CHECK(nearest("TARGETS", known) == "target");
  }

  TEST_CASE("a word that is like none is not guessed") {
    CHECK(nearest("", known).empty());
    CHECK(nearest("window", known).empty());
    CHECK(nearest("xyz", known).empty());  // as far from "for" as "for" is long
    CHECK(nearest("target", {}).empty());
    CHECK(nearest(std::string(101, 'x'), {std::string_view("x")}).empty());
  }
}

}  // namespace

}  // namespace nearest_test
