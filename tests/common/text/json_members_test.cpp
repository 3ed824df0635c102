#include "common/text/json_members.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <limits>

namespace json_members_test {

using namespace binnacle;

boost::json::object parsed(std::string_view text) { return boost::json::parse(text).as_object(); }

TEST_SUITE("common/text/json_members") {
  TEST_CASE("a member of the right type is read") {
    const auto from = parsed(R"({"o":{"a":1},"l":[1,2],"t":"text","n":-7,"yes":true})");
    REQUIRE(object_in(from, "o") != nullptr);
    CHECK(integer_in(*object_in(from, "o"), "a") == 1);
    CHECK(array_in(from, "l").size() == 2);
    CHECK(&array_in(from, "l") == from.at("l").if_array());  // no copy
    CHECK(text_in(from, "t") == "text");
    CHECK(integer_in(from, "n") == -7);
    CHECK(is_true(from, "yes"));
  }

  TEST_CASE("a member that is missing or of another type reads as nothing") {
    const auto from = parsed(
        R"({"null":null,"o":{},"l":[{"type":"Ready"}],"t":"true","n":1,"yes":true,"no":false,"half":0.5})");
    for (const char* name : {"absent", "", "null", "o", "l", "t", "n", "yes", "no", "half"}) {
      CAPTURE(name);
      const std::string_view is = name;
      CHECK((object_in(from, name) != nullptr) == (is == "o"));
      CHECK(array_in(from, name).empty() == (is != "l"));
      CHECK(text_in(from, name).empty() == (is != "t"));
      CHECK(integer_in(from, name).has_value() == (is == "n"));
      CHECK(is_true(from, name) == (is == "yes"));
    }
  }

  TEST_CASE("an integer is exact or nothing") {
    const auto from =
        parsed(R"({"whole":3.0,"most":9223372036854775807,"more":9223372036854775808,"huge":1e300})");
    CHECK(integer_in(from, "whole") == 3);
    CHECK(integer_in(from, "most") == std::numeric_limits<std::int64_t>::max());
    CHECK(integer_in(from, "more") == std::nullopt);
    CHECK(integer_in(from, "huge") == std::nullopt);
  }
}

}  // namespace json_members_test
