#include "cli/scheduler_config.hpp"

#include "cli/doctor/cluster/configured_extender.hpp"
#include "cli/doctor/report.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

namespace scheduler_config_test {

using namespace binnacle;
using namespace binnacle::cli;

namespace {

std::string second(const scheduler_wiring& w, bool json = false) {
  const auto made = second_scheduler(w, json);
  return made.has_error() ? "error: " + made.error().message : made->text;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE("cli/scheduler_config") {
  TEST_CASE("a second scheduler's configuration is the one that the doctor finds nothing to say about") {
    const std::string yaml = second({});
    CAPTURE(yaml);
    CHECK(yaml.starts_with("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"));
    CHECK(has(yaml, "schedulerName: binnacle-scheduler"));
    CHECK(has(yaml, "filterVerb: scheduler/filter\n"));
    CHECK(has(yaml, "prioritizeVerb: scheduler/prioritize\n"));
    CHECK(has(yaml, "preemptVerb: scheduler/preempt\n"));
    const auto view = doctor::parse_scheduler_config(yaml, "scheduler.yaml");
    REQUIRE(view.has_value());
    CHECK(view->server.url == "https://binnacle.binnacle.svc:9001");
    CHECK(view->path == "/scheduler/filter");
    CHECK(view->pem.authority == "/etc/binnacle/pki/ca.crt");
    CHECK(view->timeout == std::chrono::milliseconds(500));
    CHECK(view->by_names);
    for (const auto& remark : view->remarks) {
      CAPTURE(remark.sentence);
      CHECK(remark.how == doctor::grade::ok);
    }
  }

  TEST_CASE("as JSON it has numbers and booleans where kube-scheduler wants them") {
    scheduler_wiring w;
    w.weight = 60;
    w.required = true;
    const auto json = boost::json::parse(second(w, true));
    const auto& e = json.at("extenders").at(0);
    CHECK(e.at("weight").as_int64() == 60);
    CHECK(e.at("ignorable").as_bool() == false);
    CHECK(e.at("nodeCacheCapable").as_bool() == true);
    CHECK(e.at("managedResources").at(0).at("name").as_string() == "telemetry/scheduling");
    CHECK(e.at("tlsConfig").at("keyFile").as_string() == "/etc/binnacle/pki/tls.key");
  }

  TEST_CASE("what cannot be right is refused with a sentence") {
    const auto refused = [](auto change) {
      scheduler_wiring w;
      change(w);
      return second(w);
    };
    CHECK(has(refused([](auto& w) { w.kubernetes = "1.29"; }), "needs 1.30 or newer"));
    CHECK(has(refused([](auto& w) { w.kubernetes = "latest"; }), "write it as 1.34"));
    CHECK(has(refused([](auto& w) { w.timeout = "soon"; }), "such as 500ms"));
    CHECK(has(refused([](auto& w) { w.weight = 0; }), "from 1 on"));
    CHECK(has(refused([](auto& w) { w.url = "binnacle:9001"; }), "https://HOST:9001"));
    CHECK(has(refused([](auto& w) { w.kubernetes = "v1.36.3+k3s1"; }), "urlPrefix"));
  }

  TEST_CASE("a second scheduler looks at all nodes for a pod, and a patched one at as many as before") {
    const auto percent = [](const auto& made) {
      const auto json = boost::json::parse(made->text);
      const auto* at = json.as_object().if_contains("percentageOfNodesToScore");
      return at == nullptr ? -1 : at->as_int64();
    };
    const auto said = [](const auto& made) {
      std::string all;
      for (const auto& r : made->remarks) all += r + '\n';
      return has(all, "--percentage-of-nodes 100");
    };
    scheduler_wiring w;
    CHECK(percent(second_scheduler(w, true)) == 100);
    const std::string plain =
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    CHECK(percent(patched_scheduler(w, plain, "s.yaml", true)) == -1);
    CHECK(said(patched_scheduler(w, plain, "s.yaml", true)));
    const auto by_profile =
        patched_scheduler(w, plain + "profiles: [{percentageOfNodesToScore: 100}]\n", "s.yaml", true);
    CHECK_FALSE(said(by_profile));
    w.percent_of_nodes = 30;
    CHECK(percent(second_scheduler(w, true)) == 30);
    CHECK(percent(patched_scheduler(w, plain, "s.yaml", true)) == 30);
    CHECK_FALSE(said(patched_scheduler(w, plain, "s.yaml", true)));
    w.percent_of_nodes = 101;
    CHECK(second_scheduler(w, true).has_error());
  }

  TEST_CASE("a weight that may lose is said") {
    scheduler_wiring w;
    CHECK(second_scheduler(w, false)->remarks.empty());
    w.weight = 50;
    REQUIRE(second_scheduler(w, false)->remarks.size() == 1);
    CHECK(has(second_scheduler(w, false)->remarks[0], "may lose"));
  }

  const std::string existing = R"(# ours
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf, qps: 100}
percentageOfNodesToScore: 50
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {ignoredResources: [example.com/foo]}
extenders:
- {urlPrefix: "https://other:1", filterVerb: f, managedResources: [{name: example.com/gpu}]}
- {urlPrefix: "https://tas-service:9001", filterVerb: scheduler/filter, weight: 1, managedResources: [{name: telemetry/scheduling, ignoredByScheduler: true}]}
)";

  TEST_CASE("patching keeps what is there and replaces the extender of old") {
    const auto made = patched_scheduler({}, existing, "s.yaml", true);
    REQUIRE(made.has_value());
    const auto json = boost::json::parse(made->text);
    CHECK(json.at("clientConnection").at("qps").as_int64() == 100);
    CHECK(json.at("percentageOfNodesToScore").as_int64() == 50);
    CHECK(json.at("profiles").at(0).at("schedulerName").as_string() == "default-scheduler");
    REQUIRE(json.at("extenders").as_array().size() == 2);
    CHECK(json.at("extenders").at(0).at("urlPrefix").as_string() == "https://other:1");
    CHECK(json.at("extenders").at(1).at("urlPrefix").as_string() == "https://binnacle.binnacle.svc:9001");
    std::string remarks;
    for (const auto& r : made->remarks) remarks += r + '\n';
    CHECK(has(remarks, "https://tas-service:9001 was there and is replaced"));
    CHECK(has(remarks, "ignoredResources"));
    CHECK(has(remarks, "ClusterFirstWithHostNet"));
    SUBCASE("and patching that again changes nothing") {
      const auto again = patched_scheduler({}, made->text, "s.json", true);
      REQUIRE(again.has_value());
      CHECK(again->text == made->text);
    }
  }

  TEST_CASE("what is a number to YAML alone is text in JSON") {
    const std::string odd = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: nan
  pluginConfig: [{name: inf, args: {a: 007, b: .5, c: 1e3, d: -2.5, e: 1., f: infinity}}]
)";
    const auto json = boost::json::parse(patched_scheduler({}, odd, "s.yaml", true)->text);
    CHECK(json.at("profiles").at(0).at("schedulerName").as_string() == "nan");
    const auto& args = json.at("profiles").at(0).at("pluginConfig").at(0).at("args");
    for (const char* text : {"a", "b", "e", "f"}) CHECK(args.at(text).is_string());
    for (const char* number : {"c", "d"}) CHECK(args.at(number).is_double());
  }

  TEST_CASE("what was quoted stays a string, in YAML as in JSON: kube-scheduler reads strictly") {
    const std::string selector = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: "1"
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity: {values: ["true", '1', plain, !!str 2], flag: true, weight: 1}
      "on": |
        two
        lines
)";
    const auto yaml = patched_scheduler({}, selector, "s.yaml", false);
    REQUIRE(yaml.has_value());
    CAPTURE(yaml->text);
    CHECK(has(yaml->text, R"(schedulerName: "1")"));
    CHECK(has(yaml->text, R"({values: ["true", "1", plain, "2"], flag: true, weight: 1})"));
    CHECK(has(yaml->text, R"("on": "two\nlines\n")"));
    CHECK(has(yaml->text, "nodeCacheCapable: true\n"));
    const auto json = boost::json::parse(patched_scheduler({}, selector, "s.yaml", true)->text);
    const auto& args = json.at("profiles").at(0).at("pluginConfig").at(0).at("args");
    CHECK(args.at("addedAffinity").at("values").at(3).is_string());
    CHECK(args.at("addedAffinity").at("weight").is_int64());
  }

  TEST_CASE("a list inside itself is refused, not followed for ever") {
    const auto made = patched_scheduler({},
                                        "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                        "kind: KubeSchedulerConfiguration\nprofiles: &a [*a]\n",
                                        "s.yaml", false);
    CHECK(made.has_error());
  }

  TEST_CASE("a file that kube-scheduler would not take is not patched") {
    const auto says = [](const std::string& text) {
      const auto made = patched_scheduler({}, text, "s.yaml", false);
      return made.has_error() ? made.error().message : "nothing";
    };
    CHECK(has(says("kind: Pod"), "s.yaml is not a KubeSchedulerConfiguration"));
    CHECK(has(says("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3"),
              "does not read any more"));
    CHECK(has(says("kind: [\n"), "s.yaml:2: "));
    CHECK(has(says(""), "not a KubeSchedulerConfiguration"));
  }
}

}  // namespace scheduler_config_test
