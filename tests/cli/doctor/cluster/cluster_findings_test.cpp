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
    CHECK(
        finding_of_crd(parsed(R"({"status":{"conditions":[{"type":"Established","status":"True"}]}})")).how ==
        grade::ok);
    CHECK(finding_of_crd(parsed(R"({"status":{}})")).how == grade::failure);

    CHECK(finding_of_version(parsed(R"({"major":"1","minor":"33+","gitVersion":"v1.33.1"})"), 200, "u").how ==
          grade::ok);
    CHECK(finding_of_version(parsed(R"({"major":"1","minor":"27","gitVersion":"v1.27.3"})"), 200, "u").how ==
          grade::warning);
    CHECK(says(finding_of_version(parsed("{}"), 401, "u"), "does not accept our credentials"));
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
}

}  // namespace

}  // namespace cluster_findings_test
