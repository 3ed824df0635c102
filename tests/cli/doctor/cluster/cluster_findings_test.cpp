#include "cli/doctor/cluster/cluster_findings.hpp"

#include "tests/cli/doctor/finding_words.hpp"
#include "tests/cli/samples.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cluster_findings_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;
using namespace std::chrono_literals;

TEST_SUITE("cli/doctor/cluster/cluster_findings") {
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
    CHECK(finding_of_crd(parsed(R"({"status":{}})")).how == grade::failure);

    CHECK(finding_of_version(parsed(R"({"major":"1","minor":"33+","gitVersion":"v1.33.1"})"), 200, "u").how ==
          grade::ok);
    CHECK(finding_of_version(parsed(R"({"major":"1","minor":"27","gitVersion":"v1.27.3"})"), 200, "u").how ==
          grade::warning);
    CHECK(says(finding_of_version(parsed("{}"), 401, "u"), "does not accept our credentials"));
    CHECK(finding_of_version(nullptr, 200, "u").how == grade::failure);
  }

  TEST_CASE("a CRD that lacks fields of today is named as too old, with the command that updates it") {
    const auto crd = [](const std::string& status, const std::string& strategy, const std::string& rule) {
      const std::string text =
          R"({"status":{"conditions":[{"type":"Established","status":"True"}]},"spec":{"versions":[)"
          R"({"name":"v1alpha1","schema":{"openAPIV3Schema":{"properties":{"status":{"properties":{)" +
          status +
          R"(}},"spec":{"properties":{"herdDamping":{},"mode":{},"strategies":)"
          R"({"additionalProperties":{"properties":{)" +
          strategy + R"(,"rules":{"items":{"properties":{)" + rule + R"(}}}}}}}}}}}}]}})";
      return parsed(text.c_str());
    };
    const std::string status =
        R"("conditions":{},"observedGeneration":{},"oldestData":{},"strategies":{},"violating":{},"violatingNodes":{})";
    const std::string strategy =
        R"("coolDown":{},"cpuFormat":{},"maxLoad":{},"maxNodes":{},"model":{},"objective":{},"onMissing":{},"podUsageAssumption":{})";
    const std::string rule =
        R"("clearAbove":{},"clearBelow":{},"for":{},"staleAfter":{},"statistic":{},"targetQuantity":{},"window":{})";
    CHECK(finding_of_crd(crd(status, strategy, rule)).how == grade::ok);
    const auto of_tas = finding_of_crd(crd(R"("compliance":{},"message":{})", strategy, rule));
    CHECK(of_tas.how == grade::warning);
    CHECK(says(of_tas, "it lacks status.conditions"));
    CHECK(of_tas.remedy.find("kubectl apply --server-side") == 0);
    const auto older = finding_of_crd(crd(status, strategy, R"("targetQuantity":{})"));
    CHECK(says(older, "it lacks spec.strategies.*.rules.[].clearAbove"));
    const auto bare = parsed(
        R"({"status":{"conditions":[{"type":"Established","status":"True"}]},"spec":{"versions":[]}})");
    CHECK(says(finding_of_crd(bare), "it lacks version v1alpha1"));
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

  TEST_CASE("the Secrets of models are those that objects name; a closed one is named with its remedy") {
    std::vector<named_secret> named;
    add_named_secrets("NodeConfig", nullptr, named);  // WAO's objects are not installed
    CHECK(named.empty());
    const kube::user who{"system:serviceaccount:binnacle:binnacle-aggregator"};
    CHECK(findings_of_secrets(who, named, {}).empty());
    add_named_secrets("NodeConfig", parsed(R"({"items":[
      {"metadata":{"namespace":"wao-system","name":"a"},"spec":{"predictor":{"powerConsumption":{"basicAuthSecret":{"name":"pc"}}}}},
      {"metadata":{"namespace":"wao-system","name":"b"},"spec":{"predictor":{"powerConsumption":{"basicAuthSecret":{"name":"pc"}}}}},
      {"metadata":{"namespace":"lab","name":"c"},"spec":{"predictor":{"powerConsumption":{"basicAuthSecret":{"name":"pc"}}}}},
      {"metadata":{"namespace":"lab","name":"d"},"spec":{"predictor":{"powerConsumption":{},"powerConsumptionEndpointProvider":{"basicAuthSecret":{"name":"bmc"}}}}},
      {"metadata":"odd","spec":3}]})"),
                      named);
    add_named_secrets("NodeConfigTemplate", parsed(R"({"items":[
      {"metadata":{"namespace":"wao-system","name":"all"},"spec":{"template":{"predictor":{"powerConsumption":{"basicAuthSecret":{"name":"t"}}}}}},
      {"metadata":{"namespace":"wao-system","name":"each"},"spec":{"template":{"predictor":{"powerConsumption":{"basicAuthSecret":{"name":"of-{{.Hostname}}"}}}}}}]})"),
                      named);
    REQUIRE(named.size() == 4);
    CHECK_MESSAGE(named[2].name == "bmc", "that of an endpoint provider");
    CHECK(named[3].object == "NodeConfigTemplate wao-system/all");
    const auto q = may_read(who, named[1]);
    CHECK(q.verb + " " + q.resource + " " + q.name_space + "/" + q.name == "get secrets lab/pc");
    CHECK(findings_of_secrets(who, named, {}).at(0).how == grade::ok);
    const auto found = findings_of_secrets(who, named, std::span(named).first(1));
    REQUIRE(found.size() == 1);
    CHECK(any_says(found, grade::warning,
                   "binnacle-aggregator may not read the Secret wao-system/pc, which "
                   "NodeConfig wao-system/a names: its model is not asked"));
    CHECK(found[0].remedy.find("modelServersSecrets: {namespace: wao-system, names: [pc]}") !=
          std::string::npos);
    CHECK(found[0].remedy.find("kubectl auth can-i get secrets/pc "
                               "--as=system:serviceaccount:binnacle:binnacle-aggregator -n wao-system") !=
          std::string::npos);
  }

  TEST_CASE("a cluster of very many Secrets is asked about the first ones") {
    json::array items;
    for (int i = 0; i < 100; ++i) {
      const json::object secret{{"name", "s" + std::to_string(i)}};
      const json::object power{{"basicAuthSecret", secret}};
      const json::object spec{{"predictor", json::object{{"powerConsumption", power}}}};
      items.push_back(
          json::object{{"metadata", json::object{{"namespace", "n"}, {"name", "c"}}}, {"spec", spec}});
    }
    std::vector<named_secret> named;
    add_named_secrets("NodeConfig", json::object{{"items", items}}, named);
    CHECK(named.size() == most_secrets);
  }
}

}  // namespace

}  // namespace cluster_findings_test
