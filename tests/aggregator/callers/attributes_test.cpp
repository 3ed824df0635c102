#include "aggregator/callers/attributes.hpp"

#include "common/http/target.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace attributes_test {

namespace {

using namespace binnacle;

http::request request(const std::string& target, const std::string& method = "GET") {
  http::request r;
  r.method = method;
  REQUIRE(http::parse_target(target, r).has_value());
  return r;
}

std::string text(const kube::access_question& q) {
  if (!q.path.empty()) return q.verb + " " + q.path;
  return fmt::format("{} {}/{} ns={} {}/{} name={}", q.verb, q.group, q.version, q.name_space, q.resource,
                     q.subresource, q.name);
}

TEST_SUITE("aggregator/callers/attributes") {
  TEST_CASE("a path of an API group is taken apart as an API server does") {
    struct row {
      const char* target;
      const char* meant;
    };
    const std::string base = "/apis/custom.metrics.k8s.io/v1beta2";
    for (const row& r :
         {row{"/nodes/%2A/power", "get custom.metrics.k8s.io/v1beta2 ns= nodes/power name=*"},
          row{"/nodes/n1/power", "get custom.metrics.k8s.io/v1beta2 ns= nodes/power name=n1"},
          row{"/namespaces/ops/pods/%2A/m", "get custom.metrics.k8s.io/v1beta2 ns=ops pods/m name=*"},
          row{"/namespaces/ops/metrics/m", "get custom.metrics.k8s.io/v1beta2 ns=ops metrics/ name=m"},
          row{"/namespaces/ops", "get custom.metrics.k8s.io/v1beta2 ns=ops namespaces/ name=ops"},
          row{"/nodes", "list custom.metrics.k8s.io/v1beta2 ns= nodes/ name="}, row{"", "get {base}"}}) {
      CAPTURE(r.target);
      const std::string meant = *r.target == '\0' ? "get " + base : r.meant;
      CHECK(text(callers::resource_attributes(request(base + r.target))) == meant);
    }
    CHECK(text(callers::resource_attributes(request(base + "/nodes/n1/power", "DELETE"))) ==
          "delete custom.metrics.k8s.io/v1beta2 ns= nodes/power name=n1");
    CHECK(text(callers::resource_attributes(request("/metrics"))) == "get /metrics");
    CHECK(text(callers::resource_attributes(request("/openapi/v3/apis/a/b"))) == "get /openapi/v3/apis/a/b");
  }

  TEST_CASE("a server of plain paths asks for the path, whatever it looks like") {
    CHECK(text(callers::path_attributes(request("/api/v1/nodes/n1?metric=x"))) ==
          "get /binnacle/api/v1/nodes/n1");
    CHECK(text(callers::path_attributes(request("/metrics", "POST"))) == "post /metrics");
  }

  TEST_CASE("everybody sees health itself and nothing below; who is known sees discovery and no value") {
    for (const char* path : {"/livez", "/readyz", "/healthz", "/readyz?verbose"})
      CHECK(callers::open_to_all(request(path)));
    for (const char* path : {"/livez/ping", "/metrics", "/", "/apis"})
      CHECK_FALSE(callers::open_to_all(request(path)));
    for (const char* path :
         {"/apis", "/apis/g", "/apis/g/v", "/openapi/v2", "/openapi/v3/apis/g/v", "/version"})
      CHECK(callers::open_to_known(request(path)));
    for (const char* path : {"/apis/g/v/nodes", "/apis/g/v/nodes/n/m", "/metrics", "/api/v1/status", "/"})
      CHECK_FALSE(callers::open_to_known(request(path)));
    CHECK_FALSE(callers::open_to_known(request("/apis", "POST")));
  }

  TEST_CASE("what is forbidden is said in Kubernetes' words") {
    auto q = callers::resource_attributes(request("/apis/g.io/v1/nodes/n1/power"));
    q.who.name = "ann";
    CHECK(callers::forbidden(q) ==
          "nodes.g.io \"n1\" is forbidden: User \"ann\" cannot get resource \"nodes/power\" in API group "
          "\"g.io\" at the cluster scope");
    q = callers::resource_attributes(request("/apis/g.io/v1/namespaces/ops/pods/p/m"));
    q.who.name = "ann";
    CHECK(callers::forbidden(q).ends_with("in API group \"g.io\" in the namespace \"ops\""));
    q = callers::path_attributes(request("/metrics"));
    q.who.name = "ann";
    CHECK(callers::forbidden(q) == "forbidden: User \"ann\" cannot get path \"/metrics\"");
  }
}

}  // namespace

}  // namespace attributes_test
