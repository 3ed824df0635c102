#include "aggregator/custom_metrics/face.hpp"

#include "common/http/target.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/whole.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace face_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;
using std::chrono::seconds;
using store::at_s;

namespace {

/// Three nodes: n1 100.5 W and n2 20 W read at 990 s, n3's value expired at 995 s. It is 1000 s after boot
/// and 12:00:00 UTC.
struct fixture {
  store::view nodes;
  std::map<std::string, store::sample> watts;
  face tested;

  static store::sample at(decimal value, double read_s, double expires_s) {
    store::sample s;
    s.value = value;
    s.read_at = at_s(read_s);
    s.expires_at = at_s(expires_s);
    s.reason = absence::none;
    return s;
  }

  face_sources sources() {
    face_sources s;
    s.ask = [this](std::string_view metric, const questions::selector& series) -> questions::question {
      const bool right =
          metric == "rapl_power_watts" && series.matches([](std::string_view) { return std::nullopt; });
      return [this, right](const store::node_view& node, instant) -> questions::reading {
        const auto found = watts.find(node.name);
        store::sample none;
        none.reason = why;
        return right && found != watts.end() ? questions::reading{found->second, seconds(1)}
                                             : questions::reading{none, {}};
      };
    };
    s.now = [] { return at_s(1000); };
    s.wall = [](instant) { return std::chrono::system_clock::time_point(seconds(1'767'268'800)); };
    s.health.add("ping", [] { return true; });
    s.health.add_ready("draining", [] { return false; });
    return s;
  }

  absence why = absence::permission;  // of what has no value

  fixture() : tested(nodes, sources()) {
    nodes.node(store::node_id{0}, "n2").labels["telemetry.aware.scheduling.power/cold"] = "yes";
    nodes.node(store::node_id{1}, "n1");
    nodes.node(store::node_id{2}, "n3");
    nodes.node(store::node_id{3}, "n4");
    watts = {{"n1", at({1005, -1}, 990, 1010)},
             {"n2", at({200, -1}, 990.9, 1010)},
             {"n3", at({10, -1}, 985, 995)}};
  }

  http::response get(const std::string& target, std::vector<std::pair<std::string, std::string>> headers = {},
                     const std::string& method = "GET", bool known = true) {
    http::request r;
    r.method = method;
    REQUIRE(http::parse_target(target, r).has_value());
    r.headers = std::move(headers);
    if (known) r.peer = tls::identity{.common_name = "admin"};
    return support::whole(tested.answer(r));
  }
  std::string body(const std::string& target) {
    const auto a = get(target);
    return a.body.empty() ? std::string() : a.body[0];
  }
};

std::string refusal(const std::string& message, const char* reason, int code, const char* details = "") {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + message +
         R"(","reason":")" + reason + "\"," + details + R"("code":)" + std::to_string(code) + "}\n";
}

/// A source of the pods in `all`, which are sorted by name.
pod_source pods_among(const std::vector<pod>& all) {
  pod_source out;
  out.one = [&all](std::string_view name_space, std::string_view name) -> std::optional<pod> {
    for (const pod& p : all)
      if (p.name_space == name_space && p.name == name) return p;
    return std::nullopt;
  };
  out.of = [&all](std::string_view name_space, std::string_view after,
                  const std::function<bool(const pod&)>& each) {
    for (const pod& p : all)
      if (p.name_space == name_space && p.name > after && !each(p)) return;
  };
  out.unknown_because = [] { return std::string(); };
  return out;
}

const std::string base1 = "/apis/custom.metrics.k8s.io/v1beta1";
const std::string base2 = "/apis/custom.metrics.k8s.io/v1beta2";

}  // namespace

TEST_SUITE("aggregator/custom_metrics/face") {
  TEST_CASE_FIXTURE(fixture, "one node is a list of exactly one, with the time of its sample") {
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

  TEST_CASE_FIXTURE(fixture, "all nodes come in name order without those that have no value") {
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

  TEST_CASE_FIXTURE(fixture, "a label selector chooses nodes, by host name or by a policy's label") {
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

  TEST_CASE_FIXTURE(fixture, "in Kubernetes a label selector chooses nodes by the labels of their objects") {
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
      http::request r;
      r.method = "GET";
      REQUIRE(http::parse_target(base1 + "/nodes/*/rapl_power_watts?labelSelector=" + wanted, r).has_value());
      r.peer = tls::identity{.common_name = "admin"};
      const auto a = support::whole(in_cluster.answer(r));
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

  TEST_CASE_FIXTURE(fixture, "the selector on the series is repeated as a LabelSelector object") {
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

  TEST_CASE_FIXTURE(fixture,
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

  TEST_CASE_FIXTURE(fixture,
                    "a pod has its node's value, chosen by the pods' labels, in the pods' namespace") {
    const auto app = [](const char* name) {
      return [name](std::string_view key) {
        return key == "app" ? std::optional<std::string_view>(name) : std::nullopt;
      };
    };
    const questions::selector::look_up web = app("web"), db = app("db");
    const std::vector<pod> all{
        {"ops", "a", "u1", "n1", web},        {"ops", "b", "u2", "n2", db},
        {"ops", "c", "u3", "n2", web},        {"ops", "d", "u4", "n3", web},
        {"ops", "e", "u5", "elsewhere", web}, {"ops", "f", "u6", "n1", nullptr}};  // its labels are not known
    std::string because;
    face_sources s = sources();
    s.pods = pods_among(all);
    s.pods->unknown_because = [&] { return because; };
    face with_pods(nodes, std::move(s));
    const auto ask = [&](const std::string& target) {
      http::request r;
      r.method = "GET";
      REQUIRE(http::parse_target(target, r).has_value());
      r.peer = tls::identity{.common_name = "admin"};
      return support::whole(with_pods.answer(r));
    };
    const std::string in = base2 + "/namespaces/ops/pods/";
    CHECK(
        ask(in + "*/rapl_power_watts?labelSelector=app%3Dweb").body[0] ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},"items":[)"
        R"({"describedObject":{"kind":"Pod","namespace":"ops","name":"a","apiVersion":"/v1"},"metric":{"name":"rapl_power_watts","selector":null},)"
        R"("timestamp":"2026-01-01T11:59:50Z","windowSeconds":1,"value":"100500m"},)"
        R"({"describedObject":{"kind":"Pod","namespace":"ops","name":"c","apiVersion":"/v1"},"metric":{"name":"rapl_power_watts","selector":null},)"
        R"("timestamp":"2026-01-01T11:59:50Z","windowSeconds":1,"value":"20"}]})"
        "\n");
    CHECK(ask(in + "b/rapl_power_watts").body[0].find(R"("name":"b")") != std::string::npos);
    CHECK(ask(in + "*/rapl_power_watts").body[0].find(R"("name":"f")") != std::string::npos);
    for (const char* selector : {"app", "!app", "app%21%3Dweb"}) {
      CAPTURE(selector);
      const auto chosen = ask(in + "*/rapl_power_watts?labelSelector=" + selector);
      CHECK(chosen.status == 200);
      CHECK(chosen.body[0].find(R"("name":"f")") == std::string::npos);
    }
    CHECK(ask(base1 + "/namespaces/other/pods/*/rapl_power_watts").body[0].find(R"("items":[])") !=
          std::string::npos);
    const auto stale = ask(in + "d/rapl_power_watts");
    CHECK(stale.status == 404);
    CHECK(stale.body[0].find("no value (stale: last read 15.0s ago) on node n3") != std::string::npos);
    CHECK(ask(in + "e/rapl_power_watts").body[0].find("on node elsewhere") != std::string::npos);
    CHECK(ask(in + "nope/rapl_power_watts").body[0].find("no such pod has a node") != std::string::npos);
    CHECK(ask(in + "*/nope").status == 404);
    CHECK(ask(base2).body[0].find(R"({"name":"pods/rapl_power_watts","singularName":"","namespaced":true)") !=
          std::string::npos);
    because = "not read yet";
    CHECK(ask(in + "*/rapl_power_watts").status == 503);
  }

  TEST_CASE_FIXTURE(fixture, "with a selector of series, too, a pod has its own value and not its node's") {
    const wire::catalog c = store::catalog_builder().group("scrape").series(
        "gpu", {{"namespace", "ops"}, {"pod", "a"}, {"container", "main"}});
    auto cells =
        std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
    cells->set_value(0, 10);
    cells->set_read(0, at_s(999));
    nodes.apply({.id = store::node_id{1}, .name = "n1", .cells = cells});
    const questions::selector::look_up none;
    const std::vector<pod> all{{"ops", "a", "u1", "n1", none}, {"ops", "b", "u2", "n1", none}};
    face_sources s = sources();
    s.pods = pods_among(all);
    s.ask = [](std::string_view, const questions::selector&) -> questions::question {
      return [](const store::node_view&, instant) {
        return questions::reading{at({90, 0}, 999, 1010), seconds(1)};  // the node's, of a busy neighbour
      };
    };
    face with_pods(nodes, std::move(s));
    http::request r;
    r.method = "GET";
    const std::string target = base2 + "/namespaces/ops/pods/*/gpu?metricLabelSelector=container%3Dmain";
    REQUIRE(http::parse_target(target, r).has_value());
    r.peer = tls::identity{.common_name = "admin"};
    const std::string body = support::whole(with_pods.answer(r)).body.at(0);
    CHECK(body.find(R"("name":"a")") != std::string::npos);
    CHECK(body.find(R"("value":"10")") != std::string::npos);
    CHECK(body.find(R"("name":"b")") == std::string::npos);
    CHECK(body.find(R"("value":"90")") == std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture, "one pod is found by its name, whatever else the namespace holds") {
    const questions::selector::look_up none;
    const std::vector<pod> all{{"ops", "a", "u1", "n1", none}};
    face_sources s = sources();
    s.pods = pods_among(all);
    int listings = 0;
    s.pods->of = [&listings](auto&&...) { ++listings; };
    face with_pods(nodes, std::move(s));
    http::request r;
    r.method = "GET";
    REQUIRE(http::parse_target(base2 + "/namespaces/ops/pods/a/rapl_power_watts", r).has_value());
    r.peer = tls::identity{.common_name = "admin"};
    CHECK(support::whole(with_pods.answer(r)).status == 200);
    CHECK(listings == 0);
  }

  TEST_CASE_FIXTURE(fixture, "a large namespace takes several slices, and pods that come and go do no harm") {
    const questions::selector::look_up none;
    std::vector<std::string> names;
    for (int i = 1000; i < 3000; ++i) names.push_back("pod-" + std::to_string(i));
    std::vector<pod> all;
    for (const std::string& name : names) all.push_back({"ops", name, "", "n1", none});
    face_sources s = sources();
    s.pods = pods_among(all);
    face with_pods(nodes, std::move(s));
    http::request r;
    r.method = "GET";
    REQUIRE(http::parse_target(base2 + "/namespaces/ops/pods/*/rapl_power_watts", r).has_value());
    r.peer = tls::identity{.common_name = "admin"};
    const auto list = with_pods.answer(r);
    CHECK(list->step());
    std::vector<pod> later;  // without the first and the last
    for (std::size_t i = 1; i + 1 < all.size(); ++i) later.push_back(all[i]);
    all.swap(later);
    int steps = 1;
    while (list->step()) ++steps;
    CHECK(steps >= 3);
    const auto pieces = list->take().body;
    CHECK_MESSAGE(pieces.size() > 1, "no text doubles its memory as it grows");
    const std::string body = std::accumulate(pieces.begin(), pieces.end(), std::string());
    const std::string head = R"("kind":"Pod","namespace":"ops","name":")";
    std::size_t found = 0;
    for (std::size_t at = 0; (at = body.find(head + names[found], at)) != std::string::npos; ++at)
      if (++found == names.size()) break;
    CHECK(found == names.size() - 1);
    CHECK(with_pods.counted().items == names.size() - 1);
    CHECK(with_pods.counted().lists == 1);
  }

  TEST_CASE_FIXTURE(fixture,
                    "attack: a slice counts the labels that a selector looks through, and not just pods") {
    const questions::selector::look_up none = [](std::string_view) { return std::nullopt; };
    std::vector<std::string> names;
    for (int i = 100; i < 500; ++i) names.push_back("pod-" + std::to_string(i));
    std::vector<pod> all;
    for (const std::string& name : names) all.push_back({"ops", name, "", "n1", none, "", 14'000});
    face_sources s = sources();
    s.pods = pods_among(all);
    face with_pods(nodes, std::move(s));
    const auto steps = [&](const std::string& selector) {
      http::request r;
      r.method = "GET";
      REQUIRE(
          http::parse_target(base2 + "/namespaces/ops/pods/*/rapl_power_watts" + selector, r).has_value());
      r.peer = tls::identity{.common_name = "admin"};
      const auto list = with_pods.answer(r);
      int n = 1;
      while (list->step()) ++n;
      return n;
    };
    CHECK(steps("") == 1);
    CHECK(steps("?labelSelector=!a,!b") >= 12);
  }

  TEST_CASE_FIXTURE(fixture,
                    "attack: lists that repeat a long selector have a bound, each and all together") {
    const questions::selector::look_up none;
    std::vector<std::string> names;
    for (int i = 100'000; i < 145'000; ++i) names.push_back(std::string(240, 'p') + std::to_string(i));
    std::vector<pod> all;
    for (const std::string& name : names) all.push_back({"ops", name, "", "n1", none});
    face_sources s = sources();
    s.pods = pods_among(all);
    face with_pods(nodes, std::move(s));
    const auto list = [&](int keys) {
      std::string selector;
      for (int i = 0; i < keys; ++i)
        selector += (i == 0 ? "!" : ",!") + std::string(60, 'k') + std::to_string(i);
      http::request r;
      r.method = "GET";
      REQUIRE(http::parse_target(
                  base2 + "/namespaces/ops/pods/*/rapl_power_watts?metricLabelSelector=" + selector, r)
                  .has_value());
      r.peer = tls::identity{.common_name = "admin"};
      return with_pods.answer(r);
    };
    const auto too_long = support::whole(list(12));
    CHECK(too_long.status == 400);
    CHECK(
        too_long.body.at(0).find("the list is longer than 64 MiB: choose fewer objects by a labelSelector") !=
        std::string::npos);
    CHECK_MESSAGE(support::whole(list(1)).status == 200, "what the first one held is free again");
    std::vector<std::unique_ptr<http::slices>> running;
    for (int i = 0; i < 3; ++i) running.push_back(list(8));
    std::map<unsigned, int> answers;
    for (const auto& one : running) {
      while (one->step()) {
      }
    }
    for (const auto& one : running) ++answers[one->take().status];
    CHECK(answers[200] == 2);
    CHECK(answers[503] == 1);
    running.clear();
    CHECK(support::whole(list(8)).status == 200);
  }

  TEST_CASE_FIXTURE(fixture, "finding out what a metric means at many nodes takes several slices") {
    for (std::uint32_t i = 4; i < 104; ++i) nodes.node(store::node_id{i}, "worker-" + std::to_string(i));
    face_sources s = sources();
    s.ask = [](std::string_view, const questions::selector&) -> questions::question {
      return [](const store::node_view&, instant) {
        questions::reading r;
        r.value.reason = absence::missing;
        r.looked_at = 400;
        return r;
      };
    };
    face with_pod_series(nodes, std::move(s));
    http::request r;
    r.method = "GET";
    REQUIRE(http::parse_target(base2 + "/nodes/*/rapl_power_watts", r).has_value());
    r.peer = tls::identity{.common_name = "admin"};
    const auto list = with_pod_series.answer(r);
    int steps = 1;
    while (list->step()) ++steps;
    CHECK(steps >= 8);  // 41,600 series
  }

  TEST_CASE_FIXTURE(fixture, "questions about single nodes with many series have their turn one at a time") {
    auto c = store::catalog_builder().group("textfile");
    for (int i = 0; i < 2'001; ++i) c.series("load", {{"unit", std::to_string(i)}});
    nodes.apply({.id = store::node_id{1},
                 .name = "n1",
                 .cells = std::make_shared<store::row>(
                     std::make_shared<const store::shape>(store::make_shape(c, {})->what))});
    int looks = 0;
    const questions::selector::look_up none;
    const std::vector<pod> all{{"ops", "a", "u1", "n1", none}};
    face_sources s = sources();
    s.pods = pods_among(all);
    s.ask = [this, &looks](std::string_view, const questions::selector&) -> questions::question {
      return [this, &looks](const store::node_view& node, instant) -> questions::reading {
        ++looks;
        return questions::reading{watts.at(node.name), seconds(1)};
      };
    };
    face asked_often(nodes, std::move(s));
    const auto begin = [&](const std::string& what) {
      http::request r;
      r.method = "GET";
      REQUIRE(http::parse_target(base2 + what + "/rapl_power_watts", r).has_value());
      r.peer = tls::identity{.common_name = "admin"};
      return asked_often.answer(r);
    };
    const auto first = begin("/nodes/n1");
    auto second = begin("/namespaces/ops/pods/a");
    const auto third = begin("/nodes/n1");
    CHECK(looks == 0);
    // One round of the loop after the other.
    CHECK(first->step());
    CHECK(second->step());
    CHECK(third->step());
    CHECK(looks == 1);
    CHECK_FALSE(first->step());
    CHECK(second->step());
    CHECK(third->step());
    CHECK(looks == 2);
    CHECK(first->take().status == 200);
    // Nobody waits for a node with few series, nor does it wait.
    CHECK_FALSE(begin("/nodes/n2")->step());
    CHECK(looks == 3);
    second.reset();  // who asked has gone, in their turn
    CHECK(third->step());
    CHECK(looks == 4);
    CHECK_FALSE(third->step());
    const http::response last = third->take();
    CHECK(last.status == 200);
    CHECK(last.body.at(0).find(R"("value":"100500m")") != std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture,
                    "a node asked for in a namespace, or by labels that no series has, says what to do") {
    CHECK(body(base2 + "/namespaces/default/nodes/n1/rapl_power_watts")
              .find("nodes have no namespace: ask /nodes/n1/rapl_power_watts") != std::string::npos);
    watts.clear();
    why = absence::missing;
    CHECK(body(base2 + "/nodes/n1/rapl_power_watts?metricLabelSelector=package%3D77")
              .find("no series of the node has such labels") != std::string::npos);
    CHECK(body(base2 + "/nodes/n1/rapl_power_watts").find("no value (missing)") != std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture, "a known metric that no node has a value of is an empty list, not a zero") {
    watts.clear();
    CHECK(
        body(base1 + "/nodes/*/rapl_power_watts") ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta1","metadata":{},"items":[]})"
        "\n");
  }

  TEST_CASE_FIXTURE(fixture, "other methods are not allowed") {
    const auto a = get(base1 + "/nodes/n1/rapl_power_watts", {}, "POST");
    CHECK(a.status == 405);
    CHECK(a.body[0] == refusal("the server does not allow this method on the requested resource",
                               "MethodNotAllowed", 405, "\"details\":{},"));
    CHECK(a.headers == decltype(a.headers){{"Allow", "GET, HEAD"}});
  }

  TEST_CASE_FIXTURE(fixture, "clients get the form that they accept, or 406") {
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

  TEST_CASE_FIXTURE(fixture,
                    "a metric can be asked about, and is listed, as soon as a node has announced it") {
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

  TEST_CASE_FIXTURE(fixture,
                    "thousands of new names are listed in several turns, and hold up no list of values") {
    store::catalog_builder c;
    c.group("textfile");
    for (int i = 0; i < 10'000; ++i) c.series("node_q_" + std::to_string(100'000 + i));
    nodes.apply({.id = store::node_id{3},
                 .name = "n4",
                 .cells = std::make_shared<store::row>(
                     std::make_shared<const store::shape>(store::make_shape(c, {})->what))});
    const auto begin = [this](const std::string& target) {
      http::request r;
      r.method = "GET";
      REQUIRE(http::parse_target(target, r).has_value());
      r.peer = tls::identity{.common_name = "admin"};
      return tested.answer(r);
    };
    CHECK_FALSE(begin(base2 + "/nodes/*/rapl_power_watts")->step());
    CHECK_FALSE(begin(base2 + "/nodes/*/node_q_109999")->step());
    const auto one = begin(base2), other = begin(base2);
    int turns = 0;
    for (bool more = true; more; ++turns) {
      more = one->step();
      more = other->step() || more;
    }
    CHECK(turns > 10);
    const std::string list = one->take().body.at(0);
    CHECK(list == other->take().body.at(0));
    CHECK(list.find("\"nodes/q_100000\"") != std::string::npos);
    CHECK(list.find("\"nodes/rapl_power_watts\"") != std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture,
                    "a metric of the last of many nodes, or of none, is looked for in several turns") {
    for (std::uint32_t i = 4; i < 1'204; ++i) nodes.node(store::node_id{i}, "worker-" + std::to_string(i));
    const wire::catalog c = store::catalog_builder().group("textfile").series("inlet_celsius");
    nodes.apply({.id = store::node_id{1'204},
                 .name = "z",
                 .cells = std::make_shared<store::row>(
                     std::make_shared<const store::shape>(store::make_shape(c, {})->what))});
    struct row {
      std::string target;
      unsigned code;
    };
    const row rows[] = {{"/nodes/*/inlet_celsius", 200}, {"/nodes/*/nope", 404}, {"/nodes/n4/nope", 404}};
    for (const row& asked_for : rows) {
      CAPTURE(asked_for.target);
      http::request r;
      r.method = "GET";
      REQUIRE(http::parse_target(base2 + asked_for.target, r).has_value());
      r.peer = tls::identity{.common_name = "admin"};
      const auto list = tested.answer(r);
      CHECK(list->step());
      CHECK(support::whole(*list).status == asked_for.code);
    }
  }

  TEST_CASE_FIXTURE(fixture, "discovery answers with and without a final slash") {
    for (const std::string path : {"/apis", "/apis/custom.metrics.k8s.io", base1.c_str(), base2.c_str()}) {
      CAPTURE(path);
      CHECK(get(path).status == 200);
      CHECK(body(path) == body(path + "/"));
      CHECK(body(path + "?timeout=32s") == body(path));
    }
    CHECK(body("/version").find(R"("gitVersion":"v)") != std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture, "people get indented JSON, programs do not, and both may ask") {
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

  TEST_CASE_FIXTURE(fixture, "without a certificate only the health pages answer") {
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

  TEST_CASE_FIXTURE(fixture, "a name from the path comes back escaped, whatever bytes it has") {
    const std::string text = body(base1 + "/nodes/%22n%5C%ff/rapl_power_watts");
    CHECK(text.find("for nodes \\\"n\\\\\xef\xbf\xbd: no agent") != std::string::npos);
  }
}

}  // namespace face_test
