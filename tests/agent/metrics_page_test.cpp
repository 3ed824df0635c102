#include "agent/metrics_page.hpp"

#include "common/exposition/exposition.hpp"
#include "common/http/router.hpp"

#include <doctest/doctest.h>

namespace metrics_page_test {

using namespace binnacle;
using agent::board;
using namespace std::chrono_literals;

namespace {

TEST_SUITE("agent/metrics_page") {
  struct fixture {
    board b;
    instant now = instant(1h);
    board::group_ref rapl = b.add_group("rapl", "", 1s, 10s);
    board::group_ref files = b.add_group("textfile", "a.prom", 1s, 10s);
  };

  TEST_CASE_FIXTURE(fixture,
                    "families stand together with their help and type, foreign ones with their own") {
    const auto first = b.add_series(rapl, "rapl_power_watts", {{"package", "0"}});
    const auto foreign = b.add_series(files, "health_metric", {}, 0, metrics::kind::gauge, "how it feels");
    const auto second = b.add_series(rapl, "rapl_power_watts", {{"package", "1"}});
    b.set(first, 61.2);
    b.set(second, 58.0);
    b.set(foreign, 2.0);
    b.mark_read(rapl, now);
    b.mark_read(files, now);
    const std::string text = agent::exposition_of(b, now + 1s);
    CHECK(text.find("# HELP health_metric how it feels\n# TYPE health_metric gauge\nhealth_metric 2") == 0);
    CHECK(text.find("# TYPE rapl_power_watts gauge\nrapl_power_watts{package=\"0\"} "
                    "61.2\nrapl_power_watts{package=\"1\"} 58.0\n") != std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture, "a foreign number has no zeros at its end") {
    b.set(b.add_series(files, "rack_watts", {}, -7), 60.0);
    b.mark_read(files, now);
    CHECK(agent::exposition_of(b, now).find("\nrack_watts 60\n") != std::string::npos);
  }

  // Prometheus refuses a series with two names, and with it the whole scrape.
  TEST_CASE_FIXTURE(fixture, "a foreign label with the name of one of Prometheus' own gets another name") {
    b.set(b.add_series(files, "rack_watts", {{"__name__", "x"}, {"rack", "7"}}), 60.0);
    b.mark_read(files, now);
    CHECK(agent::exposition_of(b, now).find("\nrack_watts{exported___name__=\"x\",rack=\"7\"} 60\n") !=
          std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture, "what is absent or too old is left out") {
    const auto watts = b.add_series(rapl, "rapl_power_watts", {{"package", "0"}});
    const auto gone = b.add_series(rapl, "rapl_power_watts", {{"package", "1"}});
    b.set(watts, 61.2);
    b.set_absent(gone, absence::permission);
    CHECK(agent::exposition_of(b, now).empty());  // never read
    b.mark_read(rapl, now);
    CHECK(agent::exposition_of(b, now + 9s).find("package=\"1\"") == std::string::npos);
    CHECK(agent::exposition_of(b, now + 9s).find("package=\"0\"") != std::string::npos);
    CHECK(agent::exposition_of(b, now + 10s).empty());
  }

  // Before, 64 callers who asked all the time took more than half a second of the loop between two readings.
  TEST_CASE_FIXTURE(fixture, "one text serves all requests of 100 ms, and then there is a new one") {
    http::router routes;
    agent::mount_metrics_page(
        routes, b, [] { return true; }, [this] { return now; });
    http::request asked;
    asked.method = "GET";
    asked.path = {"metrics"};
    const auto shows = [&](const std::string& watts) {
      const auto* page = routes.find(asked).simple;
      REQUIRE(page != nullptr);
      return (*page)(asked, "").body.at(0).find("rapl_power_watts " + watts + "\n") != std::string::npos;
    };
    const auto watts = b.add_series(rapl, "rapl_power_watts", {});
    b.mark_read(rapl, now);
    b.set(watts, 61.2);
    CHECK(shows("61.2"));
    b.set(watts, 70.0);
    now += 99ms;
    CHECK(shows("61.2"));
    now += 1ms;
    CHECK(shows("70.0"));
    now += 10s;
    CHECK_FALSE(shows("70.0"));  // too old
  }

  TEST_CASE_FIXTURE(fixture, "what it writes, the parser reads") {
    b.set(b.add_series(files, "odd", {{"path", "a\"b\\c\nd"}}, -3), 0.125);
    b.mark_read(files, now);
    int seen = 0;
    const auto parsed =
        exposition::parse(agent::exposition_of(b, now), {}, [&seen](const exposition::sample& s) {
          ++seen;
          CHECK(s.labels.at(0).second == "a\"b\\c\nd");
          CHECK(s.value == 0.125);
        });
    CHECK(parsed.has_value());
    CHECK(seen == 1);
  }
}

}  // namespace

}  // namespace metrics_page_test
