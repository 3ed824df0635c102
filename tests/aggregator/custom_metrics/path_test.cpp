#include "aggregator/custom_metrics/path.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace path_test {

using namespace binnacle::custom_metrics;

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> segments;
  text.remove_prefix(1);
  for (;;) {
    const auto slash = text.find('/');
    segments.emplace_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    text.remove_prefix(slash + 1);
  }
}

}  // namespace

TEST_SUITE("aggregator/custom_metrics/path") {
  TEST_CASE("every path of the API is taken apart, and nothing else is") {
    using what = path::what;
    struct row {
      const char* text;
      what kind;
      const char *name_space = "", *resource = "", *object = "", *metric = "";
    };
    const std::string base = "/apis/custom.metrics.k8s.io/v1beta1";
    const row rows[] = {
        {"/apis", what::groups},
        {"/apis/", what::groups},
        {"/apis/custom.metrics.k8s.io", what::group},
        {"/apis/custom.metrics.k8s.io/", what::group},
        {"/apis/custom.metrics.k8s.io/v1beta1", what::resources},
        {"/apis/custom.metrics.k8s.io/v1beta1/", what::resources},
        {"/apis/custom.metrics.k8s.io/v1beta1/nodes/n1/power", what::value, "", "nodes", "n1", "power"},
        {"/apis/custom.metrics.k8s.io/v1beta1/nodes/n1/power/", what::value, "", "nodes", "n1", "power"},
        {"/apis/custom.metrics.k8s.io/v1beta1/nodes/*/power", what::value, "", "nodes", "*", "power"},
        {"/apis/custom.metrics.k8s.io/v1beta1/persistentvolumes/pv/m", what::value, "", "persistentvolumes",
         "pv", "m"},
        {"/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/pods/*/m", what::value, "ns", "pods", "*", "m"},
        {"/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/deployments.apps/d/m", what::value, "ns",
         "deployments.apps", "d", "m"},
        {"/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/metrics/m", what::value, "", "namespaces", "ns",
         "m"},
        // paths that upstream's own test table answers with 404, and similar ones
        {"/apis/unknown.group", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1beta1/blah", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1beta1/nodes/foo", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/pods/bar", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1beta1/namespaces/ns/metrics", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1beta1/namespaces/*/metrics/m", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1beta1/nodes/foo/m/extra", what::unknown},
        {"/apis/custom.metrics.k8s.io/v1beta1/nodes//m", what::unknown},
        {"/apis//custom.metrics.k8s.io", what::unknown},
        {"/api", what::unknown},
        {"/", what::unknown},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      const path p = parse_path(split(r.text));
      CHECK(static_cast<int>(p.kind) == static_cast<int>(r.kind));
      if (r.kind != what::value) continue;
      CHECK(p.name_space == r.name_space);
      CHECK(p.resource == r.resource);
      CHECK(p.object == r.object);
      CHECK(p.metric == r.metric);
    }
    CHECK(parse_path({}).kind == what::unknown);
    CHECK(parse_path(split(base + "/nodes/n/m")).api == version::v1beta1);
    CHECK(parse_path(split("/apis/custom.metrics.k8s.io/v1beta2/nodes/n/m")).api == version::v1beta2);
  }

  TEST_CASE("nodes may be spelled as kubectl spells them, but not with a namespace") {
    for (const char* spelling : {"nodes", "node", "no"}) {
      CAPTURE(spelling);
      CHECK(parse_path({"apis", "custom.metrics.k8s.io", "v1beta2", spelling, "n", "m"}).nodes());
    }
    CHECK_FALSE(parse_path({"apis", "custom.metrics.k8s.io", "v1beta2", "nodez", "n", "m"}).nodes());
    CHECK_FALSE(parse_path({"apis", "custom.metrics.k8s.io", "v1beta2", "namespaces", "x", "nodes", "n", "m"})
                    .nodes());
  }
}

}  // namespace path_test
