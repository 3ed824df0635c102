#include "cli/dashboard/history/question.hpp"

#include <doctest/doctest.h>

namespace binnacle::cli::dashboard::history {

namespace question_test {

using params = std::vector<std::pair<std::string, std::string>>;

std::string why(const params& query) {
  const auto q = parse_question(query);
  return q.has_error() ? q.error().message : std::string();
}

std::string query_for(const params& query, const metrics::label_set& where = {}, naming by = naming::ours) {
  return promql(parse_question(query).value(), where, by).value();
}

}  // namespace question_test

TEST_SUITE("cli/dashboard/history/question") {
  using namespace question_test;

  TEST_CASE("one series is asked for by its family, node and labels, and counts once") {
    CHECK(
        query_for({{"span", "1h"}, {"node", "a"}, {"family", "rapl_power_watts"}, {"label", "package=0"}}) ==
        R"(max({__name__="rapl_power_watts",node="a",package="0"}))");
    // The series has labels of the names that the database uses for the node and for the user's own labels.
    // The database renamed the series' labels to exported_….
    CHECK(query_for(
              {{"span", "1h"}, {"node", "a"}, {"family", "f"}, {"label", "node=x"}, {"label", "cluster=y"}},
              {{"cluster", "blue"}}) ==
          R"(max({__name__="f",cluster="blue",node="a",exported_node="x",exported_cluster="y"}))");
    CHECK(query_for({{"span", "1h"}, {"node", "a"}, {"family", "f"}, {"label", "empty="}}) ==
          R"(max({__name__="f",node="a",empty=""}))");
  }

  TEST_CASE("a node's number follows the metric's node rule") {
    const auto number = [](const char* metric) {
      return query_for({{"span", "1h"}, {"node", "a"}, {"metric", metric}});
    };
    CHECK(number("os_load1") == R"(max by (node) (max by (node) ({__name__="os_load1",node="a"})))");
    CHECK(number("node_mine") == R"(max by (node) (max by (node) ({__name__="node_mine",node="a"})))");
    CHECK(number("rapl_power_watts") ==
          R"(sum by (node) (label_replace(max by (node, package) ({__name__="rapl_power_watts",node="a"}), )"
          R"("member", "0", "", "") or label_replace(max by (node, zone, package) )"
          R"(({__name__="rapl_zone_power_watts",node="a",zone="dram"}), "member", "1", "", "")))");
    CHECK(number("pmu_instructions_per_cycle").find(" / sum by (node) ") != std::string::npos);
  }

  TEST_CASE("old names are asked for as what they mean") {
    CHECK(query_for({{"span", "1h"}, {"node", "a"}, {"metric", "collectd_package_1_power_power"}}) ==
          R"(max by (node) (max by (node, package) ({__name__="rapl_power_watts",node="a",package="1"})))");
    CHECK(query_for({{"span", "1h"}, {"node", "a"}, {"metric", "collectd_cpu_total"}}).ends_with(") * 100"));
    // prometheus-adapter strips "node_", so the database may have either name.
    const auto either = query_for({{"span", "1h"}, {"node", "a"}, {"metric", "health_metric"}});
    CHECK(either.find(R"({__name__="health_metric",node="a"})") != std::string::npos);
    CHECK(either.find(R"( or max by (node) (max by (node) ({__name__="node_health_metric",node="a"})))") !=
          std::string::npos);
  }

  TEST_CASE("of the fleet the lowest, the median and the highest are asked for, of series with a node") {
    const std::string n = R"(max by (node) (max by (node) ({__name__="os_load1",node!=""})))";
    CHECK(query_for({{"span", "6h"}, {"metric", "os_load1"}}) ==
          R"(label_replace(min()" + n + R"(), "line", "lowest", "", "") or label_replace(quantile(0.5, )" +
              n + R"(), "line", "median", "", "") or label_replace(max()" + n +
              R"(), "line", "highest", "", ""))");
  }

  TEST_CASE("names are text and never become a part of the query") {
    const std::string hostile = "a\"} or vector(1) #\\\n";
    const std::string literal = R"("a\"} or vector(1) #\\\x0a")";
    const auto number = query_for({{"span", "1h"}, {"node", hostile}, {"metric", "node_" + hostile}});
    CHECK(number ==
          "max by (node) (max by (node) ({__name__=\"node_" + literal.substr(1) + ",node=" + literal + "}))");
    CHECK(query_for({{"span", "1h"}, {"node", hostile}, {"family", hostile}, {"label", "l=" + hostile}},
                    {{"c", hostile}}) ==
          "max({__name__=" + literal + ",c=" + literal + ",node=" + literal + ",l=" + literal + "})");
    CHECK_FALSE(why({{"span", "1h"}, {"node", "a"}, {"family", "f"}, {"label", "x\"=1"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"node", "a"}, {"family", "f"}, {"label", "=1"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"node", "a"}, {"family", "f"}, {"label", "1a=1"}}).empty());
  }

  TEST_CASE("what is not asked for rightly is refused with what is possible") {
    CHECK(why({{"span", "1h"}, {"metric", "m"}, {"query", "up"}}).find("only") != std::string::npos);
    CHECK(why({{"span", "2h"}, {"metric", "m"}}).find("15m, 1h, 6h, 24h or 7d") != std::string::npos);
    CHECK_FALSE(why({{"metric", "m"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"metric", ""}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"metric", "m"}, {"metric", "n"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"metric", "m"}, {"family", "f"}, {"node", "a"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"family", "f"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"metric", "m"}, {"label", "a=b"}}).empty());
    CHECK_FALSE(why({{"span", "1h"}, {"metric", std::string(513, 'm')}}).empty());
    params many{{"span", "1h"}, {"node", "a"}, {"family", "f"}};
    for (int i = 0; i < 33; ++i) many.emplace_back("label", "l" + std::to_string(i) + "=v");
    CHECK_FALSE(why(many).empty());
  }

  TEST_CASE("what came by OTLP is asked for by OpenTelemetry's names, as Prometheus writes them") {
    const auto of = [](params query) {
      query.insert(query.begin(), {"span", "1h"});
      return query_for(query, {}, naming::otlp);
    };
    CHECK(of({{"node", "a.b"}, {"family", "rapl_power_watts"}, {"label", "package=0"}}) ==
          R"(max({__name__="hw_power_watts",job="binnacle",instance=~"a\\.b(@.+)?",package="0",)"
          R"(hw_id=~"package(/.+)?",hw_type="cpu",hw_sensor_location=""}))");
    CHECK(of({{"node", "a"}, {"family", "bmc_inlet_temperature_celsius"}})
              .ends_with(R"(hw_id=~"bmc(/.+)?",hw_type="temperature",hw_sensor_location="INLET"}))"));
    CHECK(of({{"node", "a"}, {"family", "bmc_fan_ratio"}}).find(R"({__name__="hw_fan_speed_ratio",)") !=
          std::string::npos);
    CHECK(of({{"node", "a"}, {"family", "bmc_fan_rpm"}}).find(R"({__name__="hw_fan_speed_rpm",)") !=
          std::string::npos);
    // A metric without a name in OpenTelemetry keeps our name. Of joules only some zones have a name there.
    CHECK(
        of({{"node", "a"}, {"metric", "os_load1"}}) ==
        R"(max by (node) (max by (node) (label_replace({__name__="os_load1",job="binnacle",instance=~"a(@.+)?"}, )"
        R"("node", "$1", "instance", "([^@]*).*"))))");
    const auto joules = of({{"node", "a"}, {"family", "rapl_energy_joules_total"}});
    CHECK(joules.find(R"({__name__="hw_energy_joules_total",)") != std::string::npos);
    CHECK(joules.find(R"( or {__name__="rapl_energy_joules_total",)") != std::string::npos);
    CHECK(of({{"node", "a"}, {"family", "rapl_energy_joules_total"}, {"label", "zone=core"}}) ==
          R"(max({__name__="rapl_energy_joules_total",job="binnacle",instance=~"a(@.+)?",zone="core"}))");
    CHECK(of({{"metric", "os_load1"}}).find(R"(instance!="")") != std::string::npos);
  }

  TEST_CASE("a database that keeps dots in names is asked with them") {
    CHECK(
        query_for({{"span", "1h"}, {"node", "a.b"}, {"metric", "collectd_package_1_power_power"}},
                  {{"dc", "x"}}, naming::otlp_dots) ==
        R"(max by (node) (max by (node, package) (label_replace({__name__="hw.power","service.name"="binnacle",)"
        R"("k8s.node.name"="a.b",dc="x",package="1","hw.id"=~"package(/.+)?","hw.type"="cpu",)"
        R"re("hw.sensor_location"=""}, "node", "$1", "k8s.node.name", "(.*)"))))re");
    CHECK(parse_naming("otlp-dots").value() == naming::otlp_dots);
    CHECK(parse_naming("remote-write").value() == naming::ours);
    CHECK(parse_naming("hw").has_error());
  }

  TEST_CASE("a rule's window is asked for as its statistic over that time") {
    const std::string n = R"(max by (node) (max by (node) ({__name__="os_load1",node="a"})))";
    const auto of = [](const char* window) {
      return query_for({{"span", "1h"}, {"node", "a"}, {"metric", "os_load1"}, {"window", window}});
    };
    CHECK(of("avg 30s") == "avg_over_time((" + n + ")[30000ms:1000ms])");
    CHECK(of("max 1m30s") == "max_over_time((" + n + ")[90000ms:1500ms])");
    CHECK(of("min 1h") == "min_over_time((" + n + ")[3600000ms:60000ms])");
    CHECK(of("p95 10m") == "quantile_over_time(0.95, (" + n + ")[600000ms:10000ms])");
    CHECK(of("stddev 1m") == "stddev_over_time((" + n + ")[60000ms:1000ms])");
    CHECK(of("trend 1.5s") == "deriv((" + n + ")[1500ms:1000ms])");
    CHECK(of("avg 500ms") == "avg_over_time((" + n + ")[500ms:500ms])");
    // A window also works for one series, and for the whole fleet.
    CHECK(query_for({{"span", "1h"}, {"node", "a"}, {"family", "f"}, {"window", "avg 30s"}}) ==
          R"(avg_over_time((max({__name__="f",node="a"}))[30000ms:1000ms]))");
    CHECK(query_for({{"span", "1h"}, {"metric", "os_load1"}, {"window", "avg 30s"}})
              .starts_with("label_replace(min(avg_over_time(("));
    for (const char* wrong :
         {"", "avg", "avg ", "30s", "sum 30s", "avg 30", "avg 25h", "avg 30s)", "avg -1s"}) {
      CAPTURE(wrong);
      CHECK_FALSE(why({{"span", "1h"}, {"node", "a"}, {"metric", "m"}, {"window", wrong}}).empty());
    }
    CHECK_FALSE(why({{"span", "1h"}, {"metric", "m"}, {"window", "avg 30s"}, {"window", "avg 30s"}}).empty());
  }

  TEST_CASE("a flat name is referred to the node's page, where its series can be chosen") {
    const auto q = parse_question({{"span", "1h"}, {"metric", "rapl_power_watts_0"}}).value();
    const auto none = promql(q, {}, naming::ours);
    REQUIRE(none.has_error());
    CHECK(none.error().message.find("one series of rapl_power_watts") != std::string::npos);
  }

  TEST_CASE("an answer has whole steps, and as many as a chart can show") {
    for (const reach& r : reaches()) {
      CAPTURE(r.name);
      const range when = range_of(r, 1'700'000'123);
      CHECK(when.to_s % r.step.count() == 0);
      CHECK(when.to_s <= 1'700'000'123);
      CHECK(when.to_s > 1'700'000'123 - r.step.count());
      CHECK(when.to_s - when.from_s == r.length.count());
      CHECK(r.length / r.step >= 150);
      CHECK(r.length / r.step <= 300);
    }
  }

  TEST_CASE("the target is that of Prometheus' range queries, below the server's own path") {
    CHECK(
        target_of("/prom/", "max({a=\"b c\"})", {100, 200}, std::chrono::seconds(5),
                  std::chrono::seconds(8)) ==
        "/prom/api/v1/query_range?query=max%28%7Ba%3D%22b%20c%22%7D%29&start=100&end=200&step=5&timeout=8s");
    CHECK(
        target_of("", "x", {0, 1}, std::chrono::seconds(1), std::chrono::seconds(8)).starts_with("/api/v1/"));
  }
}

}  // namespace binnacle::cli::dashboard::history
