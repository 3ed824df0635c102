#include "agent/self.hpp"

#include "tests/agent/support.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace self_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::entry_of;
using agent::test::fake_clock;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/self");

TEST_CASE("the agent reports its sources, links and cost") {
  fake_clock clock;
  board out;
  std::vector<sampler::health> sources{{"rapl", true, 55us, 1s, 2, 0, {{"zone_lost", 3}}},
                                       {"os", false, 1ms, 1s, 0, 0, {}},
                                       {"agent", true, 1us, 5s, 0, 0, {}}};
  uplink_report links;
  links.links = {{"aggregator:9110", false, 0}};
  bool reload_failed = false;
  self_source self({[&] { return sources; }, [&] { return links; }, [&] { return reload_failed; }}, 5s,
                   clock.source());
  REQUIRE(self.discover(out));
  out.count_refused("duplicate");
  REQUIRE(self.read(out));
  CHECK(shown(out, "binnacle_agent_info", {{"version", BINNACLE_VERSION}}) == "1");
  CHECK(shown(out, "binnacle_agent_source_up", {{"source", "rapl"}}) == "1");
  CHECK(shown(out, "binnacle_agent_source_up", {{"source", "os"}}) == "0");
  CHECK(shown(out, "binnacle_agent_source_up", {{"source", "agent"}}) == "no such series");
  CHECK(shown(out, "binnacle_agent_source_read_seconds", {{"source", "rapl"}}) == "0.000055");
  CHECK(shown(out, "binnacle_agent_missed_ticks_total", {{"source", "rapl"}}) == "2");
  CHECK(shown(out, "binnacle_agent_source_events_total", {{"source", "rapl"}, {"event", "zone_lost"}}) ==
        "3");
  CHECK(shown(out, "binnacle_agent_connected", {{"aggregator", "aggregator:9110"}}) == "0");
  CHECK(shown(out, "binnacle_agent_refused_series_total", {{"reason", "duplicate"}}) == "1");
  CHECK(std::stoll(shown(out, "binnacle_agent_resident_bytes")) > 1'000'000);
  CHECK(entry_of(out, "binnacle_agent_cpu_seconds_total")->reason == absence::none);

  CHECK(shown(out, "binnacle_tls_reload_failed") == "0");

  SUBCASE("connections that its ports closed are told once there are any") {
    std::uint64_t evicted = 0;
    self_source serving(
        {[&] { return sources; }, [&] { return links; }, [&] { return reload_failed; },
         [&] { return std::vector{std::pair<std::string, std::uint64_t>("evicted", evicted)}; }},
        5s, clock.source());
    board other;
    REQUIRE(serving.discover(other));
    REQUIRE(serving.read(other));
    CHECK(shown(other, "binnacle_agent_http_dropped_total", {{"reason", "evicted"}}) == "no such series");
    evicted = 7;
    REQUIRE(serving.read(other));
    CHECK(shown(other, "binnacle_agent_http_dropped_total", {{"reason", "evicted"}}) == "7");
  }
  SUBCASE("a renewed certificate that cannot be used is told as long as that is so") {
    reload_failed = true;
    REQUIRE(self.read(out));
    CHECK(shown(out, "binnacle_tls_reload_failed") == "1");
    reload_failed = false;
    REQUIRE(self.read(out));
    CHECK(shown(out, "binnacle_tls_reload_failed") == "0");
  }
  SUBCASE("once its replica is known, a link is reported by the replica's id and not its address") {
    links.links = {{"r1", true, 10}, {"r2", true, 1}};
    links.reconnects = 4;
    links.conflated = 9;
    REQUIRE(self.read(out));
    CHECK(shown(out, "binnacle_agent_connected", {{"aggregator", "aggregator:9110"}}) == "no such series");
    CHECK(shown(out, "binnacle_agent_connected", {{"aggregator", "r1"}}) == "1");
    CHECK(shown(out, "binnacle_agent_batches_total", {{"aggregator", "r1"}}) == "10");
    CHECK(shown(out, "binnacle_agent_reconnects_total") == "4");
    CHECK(shown(out, "binnacle_agent_conflated_values_total") == "9");
  }
  for (const auto& e : out.series()) {
    if (e.removed) continue;
    CAPTURE(e.info.family);
    CHECK(metrics::find(e.info.family) != nullptr);
  }
}

TEST_CASE("what has no value is counted by source and reason, and told with 0 when it is back") {
  board out;
  self_source self(
      {[] { return std::vector<sampler::health>(); }, [] { return uplink_report(); }, [] { return false; }},
      5s);
  REQUIRE(self.discover(out));
  const auto os = out.add_group("os", "", 1s, 10s), chip = out.add_group("os", "chip", 1s, 10s);
  const auto load = out.add_series(os, "os_load1", {});
  const auto one = out.add_series(chip, "os_temperature_celsius", {{"chip", "c"}, {"sensor", "1"}});
  const auto two = out.add_series(chip, "os_temperature_celsius", {{"chip", "c"}, {"sensor", "2"}});
  const auto count = [&](const char* reason) {
    return shown(out, "binnacle_agent_absent_series", {{"source", "os"}, {"reason", reason}});
  };
  out.set(load, 1.0);
  out.set_absent(one, absence::permission);
  out.set_absent(two, absence::permission);
  REQUIRE(self.read(out));
  CHECK(count("permission") == "2");
  CHECK(count("timeout") == "no such series");
  out.set(one, 40.0);
  out.set_absent(two, absence::timeout);
  REQUIRE(self.read(out));
  CHECK(count("permission") == "0");
  CHECK(count("timeout") == "1");
}

TEST_CASE("a budget that holds series back is told as a number and as a sentence") {
  board out;
  uplink_report links;
  links.links = {{"r1", true, 7, 12345}};
  self_source self(
      {[] { return std::vector<sampler::health>(); }, [&] { return links; }, [] { return false; }}, 5s);
  REQUIRE(self.discover(out));
  REQUIRE(self.read(out));
  CHECK(shown(out, "binnacle_agent_sent_bytes_total", {{"aggregator", "r1"}}) == "12345");
  CHECK(shown(out, "binnacle_agent_send_wait_periods", {{"series", "others"}}) == "no such series");
  links.budget = 500;
  REQUIRE(self.read(out));
  CHECK(shown(out, "binnacle_agent_send_wait_periods", {{"series", "others"}}) == "1");
  CHECK(self.limitation().empty());
  links.others_wait = 8;
  REQUIRE(self.read(out));
  CHECK(shown(out, "binnacle_agent_send_wait_periods", {{"series", "others"}}) == "8");
  CHECK(self.limitation() ==
        "the links may take 500 bytes a second (uplink-budget), so series that no policy watches are sent "
        "every "
        "8 periods");
  links.watched_wait = 2;
  REQUIRE(self.read(out));
  CHECK(self.limitation().find("watched ones every 2") != std::string::npos);
  links.others_wait = links.watched_wait = 1;
  REQUIRE(self.read(out));
  CHECK(self.limitation().empty());
}

TEST_CASE("without aggregators there are no figures of links") {
  board out;
  self_source self(
      {[] { return std::vector<sampler::health>(); }, [] { return uplink_report(); }, [] { return false; }},
      5s);
  REQUIRE(self.discover(out));
  REQUIRE(self.read(out));
  CHECK(shown(out, "binnacle_agent_reconnects_total") == "no such series");
}

TEST_SUITE_END();

}  // namespace self_test
