#include "aggregator/custom_metrics/face.hpp"

#include "tests/aggregator/custom_metrics/house.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/whole.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace face_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;
using namespace binnacle::custom_metrics::test;

namespace {

std::string refusal(const std::string& message, const char* reason, int code, const char* details = "") {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + message +
         R"(","reason":")" + reason + "\"," + details + R"("code":)" + std::to_string(code) + "}\n";
}

}  // namespace

TEST_SUITE("aggregator/custom_metrics/face") {
  TEST_CASE_FIXTURE(house, "one node is a list of exactly one, with the time of its sample") {
    CHECK(
        body(base1 + "/nodes/n1/rapl_power_watts") ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","metadata":{},"items":[)"
        R"({"describedObject":{"kind":"Node","name":"n1","apiVersion":"/v1"},"metricName":"rapl_power_watts",)"
        R"("timestamp":"2026-01-01T11:59:50Z","window":1,"value":"100500m","selector":null}]})"
        "\n");
    CHECK(
        body(base2 + "/nodes/n1/rapl_power_watts") ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},"items":[)"
        R"({"describedObject":{"kind":"Node","name":"n1","apiVersion":"/v1"},"metric":{"name":"rapl_power_watts","selector":null},)"
        R"("timestamp":"2026-01-01T11:59:50Z","windowSeconds":1,"value":"100500m"}]})"
        "\n");
  }

  TEST_CASE_FIXTURE(house, "all nodes come in name order without those that have no value") {
    const std::string all =
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},"items":[)"
        R"({"describedObject":{"kind":"Node","name":"n1","apiVersion":"/v1"},"metric":{"name":"rapl_power_watts","selector":null},)"
        R"("timestamp":"2026-01-01T11:59:50Z","windowSeconds":1,"value":"100500m"},)"
        R"({"describedObject":{"kind":"Node","name":"n2","apiVersion":"/v1"},"metric":{"name":"rapl_power_watts","selector":null},)"
        R"("timestamp":"2026-01-01T11:59:50Z","windowSeconds":1,"value":"20"}]})"
        "\n";
    CHECK(body(base2 + "/nodes/*/rapl_power_watts") == all);
    CHECK(body(base2 + "/nodes/%2A/rapl_power_watts") == all);
    CHECK(body(base2 + "/nodes/%2a/rapl_power_watts/") == all);
    CHECK(body(base2 + "/node/*/rapl_power_watts") == all);
    CHECK(body(base2 + "/no/*/rapl_power_watts?watch=1&limit=500&timeout=32s&resourceVersion=0") == all);
  }

  TEST_CASE_FIXTURE(house, "a label selector chooses nodes, by host name or by a policy's label") {
    struct row {
      const char* selector;
      std::vector<std::string> names;
    };
    const row rows[] = {
        {"kubernetes.io/hostname=n2", {"n2"}},
        {"kubernetes.io/hostname%20in%20(n1,n2)", {"n1", "n2"}},
        {"kubernetes.io%2Fhostname+notin+(n1)", {"n2"}},
        {"telemetry.aware.scheduling.power/cold", {"n2"}},
        {"!telemetry.aware.scheduling.power/cold", {"n1"}},
        {"telemetry.aware.scheduling.power/cold!=yes", {"n1"}},
        {"zone=a", {}},
    };
    for (const row& r : rows) {
      CAPTURE(r.selector);
      const auto a = get(base1 + "/nodes/*/rapl_power_watts?labelSelector=" + r.selector);
      CHECK(a.status == 200);
      std::vector<std::string> found;
      for (const char* name : {"n1", "n2", "n3", "n4"}) {
        if (a.body[0].find("\"name\":\"" + std::string(name) + '"') != std::string::npos)
          found.emplace_back(name);
      }
      CHECK(found == r.names);
    }
  }

  TEST_CASE_FIXTURE(house, "in Kubernetes a label selector chooses nodes by the labels of their objects") {
    using labels = std::map<std::string, std::string, std::less<>>;
    const std::map<std::string, labels, std::less<>> objects{
        {"n1", {{"zone", "a"}, {"kubernetes.io/hostname", "one"}, {"disk", ""}}},
        {"n2", {{"zone", "b"}, {"kubernetes.io/hostname", "two"}}}};
    std::string because;
    face_sources s = sources();
    s.objects =
        node_source{[&](std::string_view node) -> std::optional<questions::selector::look_up> {
                      const auto of = objects.find(node);
                      if (of == objects.end()) return std::nullopt;
                      return [&all = of->second](std::string_view key) {
                        const auto at = all.find(key);
                        return at == all.end() ? std::nullopt : std::optional<std::string_view>(at->second);
                      };
                    },
                    [&] { return because; }};
    watts["n4"] = at({10, -1}, 990, 1010);  // it has no Node object
    face in_cluster(nodes, std::move(s));
    const auto names = [&](const std::string& wanted) {
      const auto a = support::whole(
          in_cluster.answer(request_for(base1 + "/nodes/*/rapl_power_watts?labelSelector=" + wanted)));
      std::string found = a.status == 200 ? "" : std::to_string(a.status);
      for (const char* name : {"n1", "n2", "n3", "n4"}) {
        if (a.body[0].find("\"name\":\"" + std::string(name) + '"') != std::string::npos) found += name;
      }
      return found;
    };
    CHECK(names("zone%3Da") == "n1");
    CHECK(names("zone+in+(a,b)") == "n1n2");
    CHECK(names("zone!%3Da") == "n2n4");
    CHECK(names("disk") == "n1");
    CHECK(names("kubernetes.io/hostname%3Dtwo") == "n2");
    CHECK_MESSAGE(names("kubernetes.io/hostname%3Dn1") == "", "the object says how its host is called");
    CHECK(names("kubernetes.io/hostname%3Dn4") == "n4");
    CHECK_MESSAGE(names("telemetry.aware.scheduling.power/cold") == "", "the object would have it");
    because = "not read yet";
    CHECK_MESSAGE(names("zone%3Da") == "503", "half the truth would look like the whole");
    CHECK(names("") == "n1n2n4");
  }

  TEST_CASE_FIXTURE(house, "the selector on the series is repeated as a LabelSelector object") {
    const std::string text =
        body(base2 + "/nodes/n1/rapl_power_watts?metricLabelSelector=%21zone,package%21%3D1");
    CHECK(
        text.find(
            R"("metric":{"name":"rapl_power_watts","selector":{"matchExpressions":[)"
            R"({"key":"package","operator":"NotIn","values":["1"]},{"key":"zone","operator":"DoesNotExist"}]}})") !=
        std::string::npos);
    CHECK(body(base1 + "/nodes/n1/rapl_power_watts?metricLabelSelector=").find(R"("selector":null)") !=
          std::string::npos);
  }

  TEST_CASE_FIXTURE(house,
                    "what cannot be answered is a Status with the sentence that Kubernetes uses first") {
    struct row {
      std::string target;
      int code;
      std::string body;
    };
    const std::string sorry = "the server could not find the metric ";
    const std::string unknown_path =
        refusal("the server could not find the requested resource", "NotFound", 404, "\"details\":{},");
    const row rows[] = {
        {base1 + "/nodes/*/nope", 404,
         refusal(sorry + "nope for nodes: no node has announced it", "NotFound", 404)},
        {base1 + "/nodes/n1/nope", 404,
         refusal(sorry + "nope for nodes n1: no node has announced it", "NotFound", 404)},
        {base1 + "/nodes/n4/rapl_power_watts", 404,
         refusal(sorry + "rapl_power_watts for nodes n4: no value (permission)", "NotFound", 404)},
        {base1 + "/nodes/n3/rapl_power_watts", 404,
         refusal(sorry + "rapl_power_watts for nodes n3: no value (stale: last read 15.0s ago)", "NotFound",
                 404)},
        {base1 + "/nodes/n9/rapl_power_watts", 404,
         refusal(sorry + "rapl_power_watts for nodes n9: no agent of that name has connected", "NotFound",
                 404)},
        {base1 + "/nodes/n1/rapl_power_watts?metricLabelSelector=b=1,a+in+(y,x)", 404,
         refusal(sorry + "rapl_power_watts for nodes n1 with selector a in (x,y),b=1: no value (permission)",
                 "NotFound", 404)},
        {base1 + "/namespaces/ns/pods/*/reqs", 404,
         refusal(sorry + "reqs for pods: without Kubernetes there are no pods, only node metrics are served",
                 "NotFound", 404)},
        {base1 + "/namespaces/ns/deployments.apps/d/reqs", 404,
         refusal(sorry + "reqs for deployments.apps: only metrics of nodes are served", "NotFound", 404)},
        {base1 + "/namespaces/ns/metrics/reqs", 404,
         refusal(sorry + "reqs for namespaces: only metrics of nodes are served", "NotFound", 404)},
        {base1 + "/blah", 404, unknown_path},
        {base1 + "/nodes/foo", 404, unknown_path},
        {base1 + "/namespaces/ns/pods/bar", 404, unknown_path},
        {"/apis/unknown.k8s.io", 404, unknown_path},
        {"/api", 404, unknown_path},
        {"/openapi/v4", 404, unknown_path},
        {base1 + "/nodes/*/rapl_power_watts?labelSelector=a+in", 400,
         refusal("unable to parse requirement: found end of text, expected: '('", "BadRequest", 400)},
        {base1 + "/nodes/*/rapl_power_watts?metricLabelSelector=a+in", 400,
         refusal("unable to parse requirement: found end of text, expected: '('", "BadRequest", 400)},
        {base1 + "/nodes/n1/rapl_power_watts?fieldSelector=metadata.name%3Dn2", 400,
         refusal("fieldSelector metadata.name doesn't match requested name", "BadRequest", 400)},
    };
    for (const row& r : rows) {
      CAPTURE(r.target);
      const auto a = get(r.target);
      CHECK(a.status == r.code);
      CHECK(a.content_type == "application/json");
      REQUIRE(a.body.size() == 1);
      CHECK(a.body[0] == r.body);
    }
    CHECK(get(base1 + "/nodes/n1/rapl_power_watts?fieldSelector=metadata.name%3Dn1").status == 200);
    // Repeated with each item: 12 values of 60 bytes fit, 60 do not.
    const auto with_values = [&](int many) {
      std::string target = base1 + "/nodes/*/rapl_power_watts?metricLabelSelector=package+in+(0";
      for (int i = 0; i < many; ++i) target += "," + std::string(57, 'x') + std::to_string(100 + i);
      return get(target + ")");
    };
    CHECK(with_values(12).status == 200);
    CHECK(with_values(60).status == 400);
    CHECK(with_values(60).body[0].find("it may take 2048 bytes there") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house,
                    "a node asked for in a namespace, or by labels that no series has, says what to do") {
    CHECK(body(base2 + "/namespaces/default/nodes/n1/rapl_power_watts")
              .find("nodes have no namespace: ask /nodes/n1/rapl_power_watts") != std::string::npos);
    watts.clear();
    why = absence::missing;
    CHECK(body(base2 + "/nodes/n1/rapl_power_watts?metricLabelSelector=package%3D77")
              .find("no series of the node has such labels") != std::string::npos);
    CHECK(body(base2 + "/nodes/n1/rapl_power_watts").find("no value (missing)") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "a known metric that no node has a value of is an empty list, not a zero") {
    watts.clear();
    CHECK(
        body(base1 + "/nodes/*/rapl_power_watts") ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","metadata":{},"items":[]})"
        "\n");
  }

  TEST_CASE_FIXTURE(house, "other methods are not allowed") {
    const auto a = get(base1 + "/nodes/n1/rapl_power_watts", {}, "POST");
    CHECK(a.status == 405);
    CHECK(a.body[0] == refusal("the server does not allow this method on the requested resource",
                               "MethodNotAllowed", 405, "\"details\":{},"));
    CHECK(a.headers == decltype(a.headers){{"Allow", "GET, HEAD"}});
  }

  TEST_CASE_FIXTURE(house, "clients get the form that they accept, or 406") {
    using headers = std::vector<std::pair<std::string, std::string>>;
    const std::string value = base1 + "/nodes/n1/rapl_power_watts";
    CHECK(get(value, headers{{"accept", "application/json, */*"}}).status == 200);
    CHECK(get(value, headers{{"accept", "application/vnd.kubernetes.protobuf, */*"}}).status == 200);
    CHECK(get(value, headers{{"accept", "application/yaml"}}).status == 406);
    CHECK(get(base1, headers{{"accept", "text/html"}}).status == 406);

    const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const auto fresh = get("/apis", headers{{"accept", v2 + ",application/json"}});
    CHECK(fresh.status == 200);
    CHECK(fresh.content_type == v2);
    CHECK(fresh.body[0].starts_with(
        R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2")"));
    REQUIRE(fresh.headers.size() == 3);
    CHECK(fresh.headers[0] == std::pair<std::string, std::string>("Vary", "Accept"));
    CHECK(fresh.headers[1].first == "ETag");
    CHECK(fresh.headers[2] == std::pair<std::string, std::string>("Cache-Control", "public"));

    const auto same = get("/apis", headers{{"accept", v2}, {"if-none-match", fresh.headers[1].second}});
    CHECK(same.status == 304);
    CHECK(same.body.empty());
    CHECK(get("/apis", headers{{"accept", v2}, {"if-none-match", "\"other\""}}).status == 200);
    CHECK(get("/apis").content_type == "application/json");
  }

  TEST_CASE_FIXTURE(house, "a metric can be asked about, and is listed, as soon as a node has announced it") {
    const auto announce = [this](const wire::catalog& c) {
      nodes.apply({.id = store::node_id{3},
                   .name = "n4",
                   .cells = std::make_shared<store::row>(
                       std::make_shared<const store::shape>(store::make_shape(c, {})->what))});
    };
    const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const std::vector<std::pair<std::string, std::string>> accepted{{"accept", v2}};
    const auto aggregated = [&] { return get("/apis", accepted); };
    const auto lists = [&](const std::string& metric) {
      return body(base2).find("nodes/" + metric + '"') != std::string::npos &&
             aggregated().body[0].find("\"subresource\":\"" + metric + '"') != std::string::npos;
    };
    const auto tag = [&] { return aggregated().headers[1].second; };
    CHECK(get(base1 + "/nodes/*/inlet_celsius").status == 404);
    CHECK_FALSE(lists("inlet_celsius"));
    const std::string before = tag();
    announce(store::catalog_builder().group("textfile").series("inlet_celsius"));
    CHECK(get(base1 + "/nodes/*/inlet_celsius").status == 200);
    CHECK(body(base1 + "/nodes/n1/inlet_celsius").find("no value (permission)") != std::string::npos);
    CHECK(lists("inlet_celsius"));
    CHECK(lists("rapl_power_watts"));
    CHECK(tag() != before);
    announce(store::catalog_builder().group("textfile").series("outlet_celsius"));
    CHECK(get(base1 + "/nodes/*/inlet_celsius").status == 404);
    CHECK_FALSE(lists("inlet_celsius"));
    CHECK(lists("outlet_celsius"));
  }

  TEST_CASE_FIXTURE(house, "discovery answers with and without a final slash") {
    for (const std::string path : {"/apis", "/apis/custom.metrics.k8s.io", base1.c_str(), base2.c_str()}) {
      CAPTURE(path);
      CHECK(get(path).status == 200);
      CHECK(body(path) == body(path + "/"));
      CHECK(body(path + "?timeout=32s") == body(path));
    }
    CHECK(body("/version").find(R"("gitVersion":"v)") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "people get indented JSON, programs do not, and both may ask") {
    using headers = std::vector<std::pair<std::string, std::string>>;
    const std::string value = base1 + "/nodes/n1/rapl_power_watts";
    CHECK(get(value, headers{{"user-agent", "curl/7.88.1"}})
              .body[0]
              .starts_with("{\n  \"kind\": \"MetricValueList\",\n"));
    CHECK(get(value, headers{{"user-agent", "kubectl/v1.32.4"}}).body[0].starts_with("{\"kind\""));
    CHECK(get(value + "?pretty=true").body[0].starts_with("{\n"));
    CHECK(get(value + "?pretty=false", headers{{"user-agent", "curl/7.88.1"}})
              .body[0]
              .starts_with("{\"kind\""));
  }

  TEST_CASE_FIXTURE(house, "without a certificate only the health pages answer") {
    const auto stranger = [this](const std::string& target) { return get(target, {}, "GET", false); };
    for (const std::string& path :
         {base1 + "/nodes/n1/rapl_power_watts", base1, std::string("/apis"), std::string("/version"),
          std::string("/livez/ping"), std::string("/nothing")}) {
      CAPTURE(path);
      CHECK(stranger(path).status == 401);
    }
    CHECK(stranger("/apis").body[0] == refusal("Unauthorized: present a client certificate signed by the "
                                               "authority that this server trusts for clients",
                                               "Unauthorized", 401));
    CHECK(stranger("/livez").status == 200);
    CHECK(stranger("/livez").body[0] == "ok");
    CHECK(stranger("/healthz?verbose").body[0] == "[+]ping ok\nhealthz check passed\n");
    CHECK(stranger("/readyz").status == 500);
    CHECK(stranger("/readyz").body[0] ==
          "[+]ping ok\n[-]draining failed: reason withheld\nreadyz check failed\n");
    CHECK(stranger("/readyz?exclude=draining&verbose").body[0] ==
          "[+]ping ok\n[+]draining excluded: ok\nreadyz check passed\n");
    CHECK(get("/livez/ping").body[0] == "ok");
    CHECK(get("/livez/nope").status == 404);
  }

  TEST_CASE_FIXTURE(house, "a name from the path comes back escaped, whatever bytes it has") {
    const std::string text = body(base1 + "/nodes/%22n%5C%ff/rapl_power_watts");
    CHECK(text.find("for nodes \\\"n\\\\\xef\xbf\xbd: no agent") != std::string::npos);
  }
}

}  // namespace face_test
