#include "cli/doctor/cluster/configured_extender.hpp"

#include "tests/cli/doctor/finding_words.hpp"

#include <doctest/doctest.h>

#include <string>

namespace configured_extender_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;
using namespace std::chrono_literals;

const char* const extender_config = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {urlPrefix: "http://other:8888/", filterVerb: filter}
- urlPrefix: https://binnacle.binnacle.svc:9001/
  filterVerb: scheduler/filter
  prioritizeVerb: scheduler/prioritize
  preemptVerb: scheduler/preempt
  weight: 100
  nodeCacheCapable: true
  ignorable: true
  enableHTTPS: true
  httpTimeout: 500ms
  managedResources: [{name: telemetry/scheduling, ignoredByScheduler: true}]
  tlsConfig: {caFile: /certs/ca.crt, certFile: /certs/tls.crt, keyFile: /certs/tls.key, serverName: binnacle}
)";

TEST_SUITE("cli/doctor/cluster/configured_extender") {
  TEST_CASE("a scheduler's configuration says where and as whom it calls") {
    const auto v = parse_scheduler_config(extender_config, "c.yaml");
    REQUIRE(v.has_value());
    CHECK(v->server.url == "https://binnacle.binnacle.svc:9001");
    CHECK(v->path == "/scheduler/filter");
    CHECK(v->pem.authority == "/certs/ca.crt");
    CHECK(v->server_name == "binnacle");
    CHECK(v->timeout == 500ms);
    CHECK(v->by_names);
    REQUIRE(v->remarks.size() == 1);
    CHECK(v->remarks[0].how == grade::ok);
    CHECK(says(v->remarks[0], "manages telemetry/scheduling"));
  }

  TEST_CASE("what in a scheduler's configuration costs something is remarked") {
    const auto v = parse_scheduler_config(
        "extenders:\n- {urlPrefix: 'https://a:9001', filterVerb: scheduler/filter, prioritizeVerb: "
        "scheduler/prioritize, "
        "tlsConfig: {insecure: true}}\n",
        "c.yaml");
    REQUIRE(v.has_value());
    CHECK(any_says(v->remarks, grade::failure, "insecure"));
    CHECK(any_says(v->remarks, grade::failure, "without a weight"));
    CHECK(any_says(v->remarks, grade::warning, "nodeCacheCapable"));
    CHECK(any_says(v->remarks, grade::warning, "ignorable"));
    CHECK(any_says(v->remarks, grade::warning, "no preemptVerb"));
    CHECK(any_says(v->remarks, grade::warning, "every pod of the cluster asks"));
    const auto weak = parse_scheduler_config(
        "extenders:\n- {urlPrefix: 'https://a:9001', filterVerb: f, prioritizeVerb: p, weight: 50, "
        "managedResources: [{name: telemetry/scheduling}]}\n",
        "c.yaml");
    REQUIRE(weak.has_value());
    CHECK(any_says(weak->remarks, grade::warning, "the node that we prefer may lose"));
    CHECK(any_says(weak->remarks, grade::failure, "without ignoredByScheduler"));
  }

  TEST_CASE("a configuration that asks nobody, or nobody of ours, is refused with the reason") {
    const auto why = [](const char* yaml) { return parse_scheduler_config(yaml, "c.yaml").error().message; };
    CHECK(why("kind: x\n").find("names no extenders") != std::string::npos);
    CHECK(why("extenders: []\n").find("names no extenders") != std::string::npos);
    CHECK(
        why("extenders: [{urlPrefix: 'http://a'}, {urlPrefix: 'http://b'}]\n").find("none of them manages") !=
        std::string::npos);
    CHECK(why("extenders: [{urlPrefix: 'https://a:1'}]\n").find("filterVerb") != std::string::npos);
    CHECK(why("extenders: [{urlPrefix: 'ftp://a', filterVerb: f}]\n").find("only https and http") !=
          std::string::npos);
    CHECK(why("extenders: [\n").find("c.yaml:2") != std::string::npos);
  }
}

}  // namespace

}  // namespace configured_extender_test
