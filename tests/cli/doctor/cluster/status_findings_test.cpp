#include "cli/doctor/cluster/status_findings.hpp"

#include "tests/cli/doctor/finding_words.hpp"
#include "tests/cli/samples.hpp"

#include <doctest/doctest.h>

#include <string>

namespace status_findings_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;
using namespace std::chrono_literals;

TEST_SUITE("cli/doctor/cluster/status_findings") {
  TEST_CASE("an aggregator's status becomes what a person should look at") {
    const auto found = findings_of_status(parsed(status_sample), "https://a:9102");
    CHECK(any_says(found, grade::ok, "replica agg-1"));
    CHECK(any_says(found, grade::warning, "1 of 3 nodes known to https://a:9102 are not connected"));
    CHECK(any_says(found, grade::warning, "1 error in policies"));
    CHECK(any_says(found, grade::warning, "2 sources of nodes cannot be read"));
    CHECK(any_says(found, grade::warning, "ends today"));
    CHECK(any_says(findings_of_status(parsed(R"({"policies":{"conditions":[{"policy":"default/p",
        "strategy":"dontschedule","type":"MetricMissing","message":"no node has a value of cpu-x"}]}})"),
                                      "u"),
                   grade::warning,
                   "policy default/p, dontschedule: MetricMissing: no node has a value of cpu-x"));
    CHECK(any_says(findings_of_status(parsed(R"({"version":"9.9.1","nodes":{"known":0}})"), "u"),
                   grade::warning, "of version 9.9.1"));
    CHECK(any_says(findings_of_status(parsed(R"({"version":"9.9.1","nodes":{"known":0}})"), "u"),
                   grade::warning, "no agent yet"));
  }

  TEST_CASE("the extender is where the aggregator's status says that it listens") {
    const auto at = [](const char* status, const char* ops) {
      return extender_url(parsed(status), *parse_server_url(ops)).value_or("none");
    };
    const char* const moved =
        R"({"listeners":[{"name":"ops","address":"0.0.0.0:9102"},{"name":"extender","address":"0.0.0.0:19001"}]})";
    CHECK(at(moved, "https://agg:9102") == "https://agg:19001");
    CHECK(at(moved, "[fd00::7]:443") == "https://[fd00::7]:19001");
    CHECK(at(R"({"listeners":[{"name":"extender","address":"[::]:9001"}]})", "agg") == "https://agg:9001");
    CHECK(at(R"({"listeners":[{"name":"extender","address":":9001"}]})", "agg") == "https://agg:9001");
    CHECK(at(R"({"listeners":[{"name":"extender","address":"[::]:9001","tls":true}]})", "agg") ==
          "https://agg:9001");
    CHECK(at(R"({"listeners":[{"name":"extender","address":"[::]:9001","tls":false}]})", "agg") ==
          "http://agg:9001");
    CHECK(at(R"({"listeners":[{"name":"extender","address":"odd"}]})", "agg") == "none");
    CHECK(at(R"({"listeners":[{"name":"ops","address":"[::]:9102"}]})", "agg") == "none");
    CHECK(at("{}", "agg") == "none");
  }

  TEST_CASE("a node that an aggregator has lost is a failure") {
    CHECK(finding_of_node(parsed(R"({"connected":true,"seenMs":120})"), "n1", "u").how == grade::ok);
    const auto lost = finding_of_node(parsed(R"({"connected":false,"seenMs":15000})"), "n1", "u");
    CHECK(lost.how == grade::failure);
    CHECK(says(lost, "lost node n1, 15.0s ago"));
  }
}

}  // namespace

}  // namespace status_findings_test
