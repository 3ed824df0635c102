#include "cli/doctor/agent/agent_findings.hpp"
#include "cli/doctor/agent/find_agent.hpp"
#include "cli/doctor/agent/probe_findings.hpp"
#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/doctor/cluster/configured_extender.hpp"
#include "cli/doctor/cluster/filter_answer.hpp"
#include "cli/doctor/cluster/status_findings.hpp"
#include "cli/doctor/peers.hpp"
#include "tests/cli/samples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace findings_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;
using namespace std::chrono_literals;

bool says(const finding& f, const char* part) { return f.sentence.find(part) != f.sentence.npos; }
bool any_says(const findings& all, grade g, const char* part) {
  return std::ranges::any_of(all, [&](const finding& f) { return f.how == g && says(f, part); });
}

const char* const extender_config = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {urlPrefix: "http://other:8888/", filterVerb: filter}
- urlPrefix: https://binnacle.binnacle.svc:9001/
  filterVerb: scheduler/filter
  prioritizeVerb: scheduler/prioritize
  weight: 100
  nodeCacheCapable: true
  ignorable: true
  enableHTTPS: true
  httpTimeout: 500ms
  managedResources: [{name: telemetry/scheduling, ignoredByScheduler: true}]
  tlsConfig: {caFile: /certs/ca.crt, certFile: /certs/tls.crt, keyFile: /certs/tls.key, serverName: binnacle}
)";

TEST_SUITE("cli/doctor/findings") {
  TEST_CASE("a scheduler's configuration says where and as whom it calls") {
    const auto v = parse_scheduler_config(extender_config, "c.yaml");
    REQUIRE(v.has_value());
    CHECK(v->at.url == "https://binnacle.binnacle.svc:9001");
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

  TEST_CASE("the answer to a filter call must have the node in it") {
    const auto judged = [](unsigned status, std::string body) {
      http::answer a;
      a.status = status;
      a.body = std::move(body);
      return finding_of_filter_answer("https://a:9001/scheduler/filter", a, "with your certificate", 3ms);
    };
    CHECK(judged(200, R"({"NodeNames":["binnacle-doctor"],"Error":""})").how == grade::ok);
    CHECK(judged(200, R"({"Nodes":{"items":[{"metadata":{"name":"binnacle-doctor"}}]},"NodeNames":null})")
              .how == grade::ok);
    CHECK(says(judged(200, R"({"NodeNames":[]})"), "refuses a node"));
    CHECK(says(judged(200, R"({"Error":"no room"})"), "no room"));
    CHECK(says(judged(200, "<html>"), "not a JSON object"));
    CHECK(says(judged(401, "{}"), "refuses the caller with your certificate"));
    CHECK(judged(404, "{}").remedy.find("scheduler/filter") != std::string::npos);
  }

  TEST_CASE("the question names one node in either form, and is JSON") {
    CHECK(json::parse(filter_question(true)).at("NodeNames").at(0) == "binnacle-doctor");
    CHECK(json::parse(filter_question(false)).at("Nodes").at("items").at(0).at("metadata").at("name") ==
          "binnacle-doctor");
  }

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
      return extender_url(parsed(status), *parse_endpoint(ops)).value_or("none");
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

  TEST_CASE("clocks that differ matter to certificates, not to verdicts") {
    const std::chrono::system_clock::time_point now{1'700'000'000s};
    const auto ahead = [&](auto by) {
      return finding_of_clock({"the peer", now + by, now - 10ms, now + 10ms});
    };
    CHECK(ahead(0s).how == grade::ok);
    CHECK(ahead(1s).how == grade::ok);  // times of answers are whole seconds
    CHECK(ahead(-6900ms).how == grade::warning);
    CHECK(says(ahead(20s), "ahead of ours; verdicts do not depend on it"));
    CHECK(says(ahead(-20s), "behind ours"));
    CHECK(ahead(600s).how == grade::failure);
    // An answer that took long says less.
    CHECK(finding_of_clock({"the peer", now + 20s, now, now + 40s}).how == grade::ok);
  }

  TEST_CASE("a Date header is read, anything else is not") {
    CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") ==
          std::chrono::system_clock::from_time_t(784111777));
    CHECK(parse_http_date("1994-11-06") == std::chrono::system_clock::time_point());
    CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT+1") == std::chrono::system_clock::time_point());
  }

  TEST_CASE("what the agent's probe finds keeps its remedy; absent hardware is no fault") {
    const auto said = parsed(R"({"node":"n1","sources":[
      {"source":"rapl","works":false,"findings":[{"grade":"absent","what":"RAPL","why":"no powercap","remedy":"modprobe"}]},
      {"source":"os","works":true,"findings":[{"grade":"works","what":"cpu","why":"","remedy":""},
                                              {"grade":"absent","what":"pressure","why":"no PSI","remedy":"psi=1"}]},
      {"source":"bmc","works":false,"findings":[{"grade":"broken","what":"/dev/ipmi0","why":"refused","remedy":"give it"}]}]})");
    const auto found = findings_of_probe(said, 0);
    CHECK(any_says(found, grade::ok, "rapl: RAPL: absent: no powercap"));
    CHECK(any_says(found, grade::ok, "os: 1 part works"));
    CHECK(any_says(found, grade::failure, "bmc: /dev/ipmi0: broken: refused"));
    CHECK(any_says(findings_of_probe(said, 1000), grade::warning, "seen as user 1000"));
    CHECK_FALSE(any_says(found, grade::ok, "pressure"));
    CHECK(any_says(
        findings_of_probe(parsed(R"({"sources":[{"source":"rapl","works":false,"findings":[]}]})"), 0),
        grade::failure, "no source of this node"));
  }

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

  TEST_CASE("APIServices, the CRD and the version of a cluster") {
    const char* name = "v1beta2.custom.metrics.k8s.io";
    const auto service = [](const char* available, const char* more, const char* of) {
      return parsed((std::string(R"({"spec":{"service":{"namespace":"b","name":")") + of + "\"}" + more +
                     R"(},"status":{"conditions":[{"type":"Available","status":")" + available +
                     R"(","reason":"FailedDiscoveryCheck","message":"no route"}]}})")
                        .c_str());
    };
    CHECK(finding_of_api_service(service("True", "", "binnacle"), name).how == grade::ok);
    const auto down = finding_of_api_service(service("False", "", "binnacle"), name);
    CHECK(down.how == grade::failure);
    CHECK(says(down, "FailedDiscoveryCheck: no route"));
    CHECK(says(finding_of_api_service(service("True", R"(,"insecureSkipTLSVerify":true)", "binnacle"), name),
               "insecureSkipTLSVerify"));
    CHECK(says(finding_of_api_service(service("True", "", "prometheus-adapter"), name), "another adapter's"));
    CHECK(says(finding_of_api_service(nullptr, name), "is not registered"));

    CHECK(finding_of_crd(nullptr).how == grade::failure);
    CHECK(
        finding_of_crd(parsed(R"({"status":{"conditions":[{"type":"Established","status":"True"}]}})")).how ==
        grade::ok);
    CHECK(finding_of_crd(parsed(R"({"status":{}})")).how == grade::failure);

    CHECK(finding_of_version(parsed(R"({"major":"1","minor":"33+","gitVersion":"v1.33.1"})"), 200, "u").how ==
          grade::ok);
    CHECK(finding_of_version(parsed(R"({"major":"1","minor":"27","gitVersion":"v1.27.3"})"), 200, "u").how ==
          grade::warning);
    CHECK(says(finding_of_version(parsed("{}"), 401, "u"), "does not know us"));
    CHECK(finding_of_version(nullptr, 200, "u").how == grade::failure);
  }

  TEST_CASE("a right that the aggregator lacks is named with what does not work without it") {
    const auto asked = rights_of_aggregator("ops", "eyes-binnacle-aggregator");
    for (const right& r : asked) {
      CHECK(r.question.who.name == "system:serviceaccount:ops:eyes-binnacle-aggregator");
      CHECK_FALSE(r.without.empty());
    }
    CHECK(findings_of_rights(asked, {}).at(0).how == grade::ok);
    std::vector<right> missing;
    for (const right& r : asked) {
      if (r.question.verb == "patch" || r.question.resource == "leases") missing.push_back(r);
    }
    const auto found = findings_of_rights(asked, missing);
    CHECK(found.size() == 5);
    CHECK(any_says(found, grade::failure, "may not patch nodes: deschedule and labeling"));
    CHECK(any_says(found, grade::failure, "may not patch taspolicies/status"));
    CHECK(any_says(found, grade::failure, "may not create leases in namespace ops"));
    CHECK(
        found[0].remedy.find("kubectl auth can-i patch taspolicies.telemetry.intel.com --subresource=status "
                             "--as=system:serviceaccount:ops:eyes-binnacle-aggregator") != std::string::npos);
    const auto nobody = findings_of_rights(asked, asked);
    REQUIRE(nobody.size() == 1);
    CHECK(nobody[0].remedy.find("--aggregator-account") != std::string::npos);
  }

  TEST_CASE("the agent's own print of its settings is understood") {
    const auto s = parse_agent_settings(
        "node-name: \"n1\"\naggregator: [\"a:9110\", \"b\"]\nserver-name: \"x\"\ncert: \"c\"\nkey: "
        "\"k\"\nca: \"a\"\n"
        "listen: \":9103\"\nsys-root: \"/host/sys\"\n");
    REQUIRE(s.has_value());
    CHECK(s->node_name == "n1");
    CHECK(s->aggregators == std::vector<std::string>{"a:9110", "b"});
    CHECK(s->pem.key == "k");
    CHECK(s->sys_root == "/host/sys");
    CHECK(parse_agent_settings("").has_error());
    CHECK(parse_agent_settings("aggregator: [\n").has_error());
  }
}

}  // namespace

}  // namespace findings_test
