#include "aggregator/node_warnings.hpp"

#include <doctest/doctest.h>

namespace node_warnings_test {

namespace {

using namespace binnacle::aggregator;

TEST_SUITE("aggregator/node_warnings") {
  TEST_CASE("node ids that come to their end are said from half of them on") {
    CHECK_FALSE(id_warning(0, 0).has_value());  // before the first report
    CHECK_FALSE(id_warning(0, 16).has_value());
    CHECK_FALSE(id_warning(7, 16).has_value());
    REQUIRE(id_warning(8, 16).has_value());
    CHECK(id_warning(8, 16)->starts_with("8 of 16 node ids are given out"));
    CHECK(id_warning(16, 16).has_value());
  }

  TEST_CASE("sessions that end again and again are said once for a reason, with some of their nodes") {
    const auto said = node_warnings(
        {}, {{{binnacle::wire::reason::bad_message, "a wish"}, {"a", "b", "c", "d", "e", "f"}}}, {}, {});
    REQUIRE(said.size() == 1);
    CHECK(said[0].starts_with("the sessions of 6 nodes (a, b, c, d, e…) end again and again"));
    CHECK(said[0].find("bad_message: a wish") != std::string::npos);
  }
}

}  // namespace

}  // namespace node_warnings_test
