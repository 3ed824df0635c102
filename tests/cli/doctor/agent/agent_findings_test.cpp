#include "cli/doctor/agent/agent_findings.hpp"

#include "tests/cli/doctor/finding_words.hpp"

#include <doctest/doctest.h>

namespace agent_findings_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;

TEST_SUITE("cli/doctor/agent/agent_findings") {
  TEST_CASE("an agent's /metrics tell links that are lost and sources that are down") {
    const auto found = findings_of_agent_metrics(
        "binnacle_agent_connected{aggregator=\"agg-0\"} 1\nbinnacle_agent_connected{aggregator=\"agg-1\"} 0\n"
        "binnacle_agent_source_up{source=\"rapl\"} 0\nbinnacle_agent_source_up{source=\"os\"} 1\n"
        "binnacle_agent_frozen_sensors{source=\"bmc\"} 2\n");
    CHECK(any_says(found, grade::ok, "a link to agg-0"));
    CHECK(any_says(found, grade::warning, "no link to agg-1"));
    CHECK(any_says(found, grade::warning, "1 source cannot be read: rapl"));
    CHECK(any_says(found, grade::warning, "2 sensors are stuck"));
    const auto lies = findings_of_agent_metrics(
        "binnacle_agent_absent_series{source=\"rapl\",reason=\"never_moved\"} 2\n"
        "binnacle_agent_absent_series{source=\"rapl\",reason=\"stands_still\"} 0\n"
        "binnacle_agent_absent_series{source=\"bmc\",reason=\"no_data\"} 3\n"
        "host_power_set_aside{source=\"psys\",reason=\"below_parts\"} 1\n"
        "host_power_set_aside{source=\"dcmi\",reason=\"stands_still\"} 0\n");
    REQUIRE(lies.size() == 2);
    CHECK(any_says(lies, grade::warning, "count as absent: 2 series of rapl (never moved)"));
    CHECK(any_says(lies, grade::warning, "does not use psys (below parts), which contradicts"));
    CHECK(any_says(findings_of_agent_metrics("binnacle_agent_connected{aggregator=\"agg-1\"} 0\n"),
                   grade::failure, "no link to agg-1"));
    CHECK(any_says(findings_of_agent_metrics("{"), grade::warning, "cannot be read"));
  }

  TEST_CASE("a link counts only where it is up") {
    CHECK(
        has_a_link("binnacle_agent_connected{aggregator=\"agg-0\"} "
                   "0\nbinnacle_agent_connected{aggregator=\"agg-1\"} 1\n"));
    CHECK_FALSE(has_a_link("binnacle_agent_connected{aggregator=\"agg-0\"} 0\n"));
    CHECK_FALSE(has_a_link("binnacle_agent_info{version=\"1\"} 1\n"));
    CHECK_FALSE(has_a_link("{"));
  }
}

}  // namespace

}  // namespace agent_findings_test
