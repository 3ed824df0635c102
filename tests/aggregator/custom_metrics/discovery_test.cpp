#include "aggregator/custom_metrics/discovery.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace discovery_test {

using namespace binnacle::custom_metrics;

namespace {

using which = discovery_document::which;

/// Two small names, so that whole documents can be compared.
const std::vector<std::string> two{"bmc_power_watts", "rapl_power_watts"};

tagged_document made(which what, std::vector<std::string> names = two, bool pods = false) {
  discovery_document d(what, std::make_shared<const std::vector<std::string>>(std::move(names)), pods);
  while (d.step()) {
  }
  return d.made();
}

}  // namespace

TEST_SUITE("aggregator/custom_metrics/discovery") {
  TEST_CASE("the group list names the group with both versions, v1beta2 preferred") {
    CHECK(group_list() ==
          R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"custom.metrics.k8s.io","versions":[)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"},)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
          R"("preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"}}]})"
          "\n");
  }

  TEST_CASE("one group is the same without the list") {
    CHECK(one_group() ==
          R"({"kind":"APIGroup","apiVersion":"v1","name":"custom.metrics.k8s.io","versions":[)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"},)"
          R"({"groupVersion":"custom.metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
          R"("preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"}})"
          "\n");
  }

  TEST_CASE("a resource list has all six keys of every metric") {
    CHECK(
        made(which::resources_v1beta1).body ==
        R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"custom.metrics.k8s.io/v1beta1","resources":[)"
        R"({"name":"nodes/bmc_power_watts","singularName":"","namespaced":false,"kind":"MetricValueList","verbs":["get"]},)"
        R"({"name":"nodes/rapl_power_watts","singularName":"","namespaced":false,"kind":"MetricValueList","verbs":["get"]}]})"
        "\n");
    CHECK(made(which::resources_v1beta2).body.find(R"("groupVersion":"custom.metrics.k8s.io/v1beta2")") !=
          std::string::npos);
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
    CHECK(made(which::aggregated_v2).body == whole("apidiscovery.k8s.io/v2"));
    CHECK(made(which::aggregated_v2beta1).body == whole("apidiscovery.k8s.io/v2beta1"));
  }

  TEST_CASE("the tag is quoted, the same for the same names and another for others") {
    const std::string tag = made(which::aggregated_v2).etag;
    CHECK(tag.size() > 4);
    CHECK(tag.front() == '"');
    CHECK(tag.back() == '"');
    CHECK(tag == tagged(made(which::aggregated_v2).body).etag);
    CHECK(tag != made(which::aggregated_v2, {"rapl_power_watts"}).etag);
    CHECK(tag != made(which::aggregated_v2beta1).etag);
  }

  TEST_CASE("with pods each metric is there for both, and versions are whole") {
    const std::string list = made(which::resources_v1beta2, two, true).body;
    CHECK(list.find(R"({"name":"nodes/rapl_power_watts","singularName":"","namespaced":false)") !=
          std::string::npos);
    CHECK(list.find(R"({"name":"pods/rapl_power_watts","singularName":"","namespaced":true)") !=
          std::string::npos);
    const std::string all = made(which::aggregated_v2, {"m"}, true).body;
    CHECK(all.find(R"("verbs":["get"]}]},{"resource":"pods")") != std::string::npos);
    CHECK(
        all.find(
            R"("verbs":["get"]}]}],"freshness":"Current"},{"version":"v1beta1","resources":[{"resource":"nodes")") !=
        std::string::npos);
    CHECK(all.ends_with("\"verbs\":[\"get\"]}]}],\"freshness\":\"Current\"}]}]}\n"));
  }

  TEST_CASE("many names take several steps, and make the same document for all who wait for it") {
    std::vector<std::string> names;
    for (int i = 0; i < 3'000; ++i) names.push_back("metric_" + std::to_string(i));
    discovery_document d(which::aggregated_v2, std::make_shared<const std::vector<std::string>>(names));
    std::size_t steps = 1, written = 0;
    for (; d.step(); ++steps) {
      const std::size_t now = d.made().body.size();
      CHECK(now - written < 300 * discovery_document::entries_per_step);
      written = now;
    }
    CHECK(steps >= 2 * names.size() / discovery_document::entries_per_step);
    CHECK_FALSE(d.step());
    CHECK(d.made().etag == tagged(d.made().body).etag);
  }
}

}  // namespace discovery_test
