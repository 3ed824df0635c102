#include "aggregator/custom_metrics/discovery.hpp"

#include <doctest/doctest.h>

namespace discovery_test {

using namespace binnacle::custom_metrics;

namespace {

/// Two small names, so that whole documents can be compared.
const discovery_documents& sample() {
  static const discovery_documents documents({"bmc_power_watts", "rapl_power_watts"});
  return documents;
}

}  // namespace

TEST_SUITE("aggregator/custom_metrics/discovery") {
  TEST_CASE("the group list names the group with both versions, v1beta2 preferred") {
    CHECK(sample().groups ==
          R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"custom.metrics.k8s.io","versions":[)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"},)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
          R"("preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"}}]})"
          "\n");
  }

  TEST_CASE("one group is the same without the list") {
    CHECK(sample().group ==
          R"({"kind":"APIGroup","apiVersion":"v1","name":"custom.metrics.k8s.io","versions":[)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"},)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
          R"("preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"}})"
          "\n");
  }

  TEST_CASE("a resource list has all six keys of every metric") {
    CHECK(
        sample().resources[static_cast<int>(version::v1beta1)] ==
        R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"custom.metrics.k8s.io/v1beta1","resources":[)"
        R"({"name":"nodes/bmc_power_watts","singularName":"","namespaced":false,"kind":"MetricValueList","verbs":["get"]},)"
        R"({"name":"nodes/rapl_power_watts","singularName":"","namespaced":false,"kind":"MetricValueList","verbs":["get"]}]})"
        "\n");
    CHECK(sample().resources[static_cast<int>(version::v1beta2)].find(
              R"("groupVersion":"custom.metrics.k8s.io/v1beta2")") != std::string::npos);
  }

  TEST_CASE("aggregated discovery is complete: every version, every metric, no null responseKind") {
    const auto versions = [](const char* name) {
      const std::string v = name;
      const auto metric = [&](const char* m) {
        return R"({"subresource":")" + std::string(m) +
               R"(","responseKind":{"group":"custom.metrics.k8s.io","version":")" + v +
               R"(","kind":"MetricValueList"},"verbs":["get"]})";
      };
      return R"({"version":")" + v +
             R"(","resources":[{"resource":"nodes","responseKind":{"group":"","version":"","kind":""},"scope":"Cluster",)"
             R"("singularResource":"","verbs":[],"subresources":[)" +
             metric("bmc_power_watts") + "," + metric("rapl_power_watts") + R"(]}],"freshness":"Current"})";
    };
    const auto whole = [&](const char* api) {
      return R"({"kind":"APIGroupDiscoveryList","apiVersion":")" + std::string(api) +
             R"(","metadata":{},"items":[{"metadata":{"name":"custom.metrics.k8s.io"},"versions":[)" +
             versions("v1beta2") + "," + versions("v1beta1") + "]}]}\n";
    };
    CHECK(sample().v2.body == whole("apidiscovery.k8s.io/v2"));
    CHECK(sample().v2beta1.body == whole("apidiscovery.k8s.io/v2beta1"));
  }

  TEST_CASE("the tag is quoted, the same for the same names and another for others") {
    const std::string tag = sample().v2.etag;
    CHECK(tag.size() > 4);
    CHECK(tag.front() == '"');
    CHECK(tag.back() == '"');
    CHECK(tag == discovery_documents({"bmc_power_watts", "rapl_power_watts"}).v2.etag);
    CHECK(tag != discovery_documents({"rapl_power_watts"}).v2.etag);
    CHECK(tag != sample().v2beta1.etag);
  }
}

}  // namespace discovery_test
