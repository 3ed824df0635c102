#include "aggregator/node_warnings.hpp"

#include <doctest/doctest.h>

namespace node_warnings_test {

namespace {

using namespace binnacle::aggregator;

TEST_SUITE("aggregator/node_warnings") {
  TEST_CASE("node ids that come to their end are said from half of them on") {
    CHECK(id_warnings(0, 0).empty());  // before the first report
    CHECK(id_warnings(0, 16).empty());
    CHECK(id_warnings(7, 16).empty());
    REQUIRE(id_warnings(8, 16).size() == 1);
    CHECK(id_warnings(8, 16)[0].starts_with("8 of 16 node ids are used up"));
    CHECK(id_warnings(16, 16).size() == 1);
  }

  TEST_CASE("a value that prioritize clamped is said for ten minutes") {
    using namespace std::chrono_literals;
    const binnacle::instant then(1h);
    CHECK(score_warnings({}, then).empty());
    const auto said = score_warnings({"n7", "rapl_power_watts", then}, then + 10min);
    REQUIRE(said.size() == 1);
    CHECK(said[0].starts_with("node n7: its rapl_power_watts was far out"));
    CHECK(score_warnings({"n7", "rapl_power_watts", then}, then + 10min + 1s).empty());
  }

  TEST_CASE("a denied certificate is said for ten minutes, for each port that saw it") {
    using namespace std::chrono_literals;
    const binnacle::instant then(1h);
    CHECK(denial_warnings({{"extender", 0, {}, ""}}, binnacle::instant()).empty());
    const auto said =
        denial_warnings({{"ingest", 2, then, "10.0.0.7:4711"}, {"ops", 0, {}, ""}}, then + 10min);
    REQUIRE(said.size() == 1);
    CHECK(said[0].starts_with("ingest: 2 connections showed a certificate whose serial number is denied"));
    CHECK(said[0].find("10.0.0.7:4711") != std::string::npos);
    CHECK(denial_warnings({{"ingest", 2, then, ""}}, then + 10min + 1s).empty());
  }

  TEST_CASE("sessions that end again and again are reported once for each reason, with some of their nodes") {
    const auto said =
        session_warnings({{{binnacle::wire::reason::bad_message, "a wish"}, {"a", "b", "c", "d", "e", "f"}}});
    REQUIRE(said.size() == 1);
    CHECK(said[0].starts_with("the sessions of 6 nodes (a, b, c, d, e and 1 more) end again and again"));
    CHECK(said[0].find("bad_message: a wish") != std::string::npos);
  }

  TEST_CASE("of many nodes with one trouble the first five are named, and how many more there are") {
    const std::vector<binnacle::ingest::contest> seven(7, {"a", "10.0.0.1", "10.0.0.2"});
    const auto said = claim_warnings(seven);
    REQUIRE(said.size() == 6);
    CHECK(said[4].starts_with("node a: two agents claim it"));
    CHECK(said[5] == "2 more nodes are claimed by two agents each");
    CHECK(claim_warnings({}).empty());
  }
}

}  // namespace

}  // namespace node_warnings_test
