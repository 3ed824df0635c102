#include "aggregator/ops/face.hpp"

#include "common/http/target.hpp"
#include "tests/aggregator/ops/house.hpp"

#include <doctest/doctest.h>

namespace ops_face_test {

using namespace binnacle;
using namespace binnacle::ops;

namespace {

/// The routes of the ops port, called without sockets. Work for the ingest loop runs at once, unless `hold`
/// is set.
struct port : house {
  decision::ring decisions;
  std::vector<std::function<void()>> waiting;
  std::map<std::string, std::map<std::string, std::string>, std::less<>> object_labels;  // by node
  bool hold = false;
  http::router routes;
  std::unique_ptr<face> tested;

  port() {
    face_sources s;
    s.ask = ask;
    s.self = [] {
      self_report self;
      self.version = "0.1.0";
      self.mode = "standalone";
      return self;
    };
    s.own_metrics = [] { return std::vector<own_sample>{{"binnacle_sessions", {}, std::uint64_t{2}}}; };
    s.about_policies = [] { return policy_report(); };
    s.object_labels = [this](std::string_view node, const each_label& each) {
      const auto at = object_labels.find(node);
      if (at == object_labels.end()) return;
      for (const auto& [key, value] : at->second) each(key, value);
    };
    s.later = [this](std::function<void()> f) { waiting.push_back(std::move(f)); };
    s.health.add("ping", [] { return true; });
    s.now = [] { return ops::now; };
    s.wall = [](instant) {
      return std::chrono::system_clock::time_point(std::chrono::seconds(1'767'225'600));
    };
    tested = std::make_unique<face>(nodes, decisions, std::move(s));
    tested->mount(routes);

    decision::record r;
    r.pod = {"default", "web-1", "6f1c"};
    decisions.add(r);
    r.pod = {"default", "db-1", "6f1d"};
    decisions.add(r);
  }

  std::vector<std::unique_ptr<http::exchange>> kept;
  std::string caller = "admin";

  http::response get(const std::string& target, bool known = true, const std::string& method = "GET") {
    http::request q;
    q.method = method;
    REQUIRE(http::parse_target(target, q).has_value());
    if (known) q.peer = tls::identity{.common_name = caller};
    if (known) q.caller = caller;
    const auto m = routes.find(q);
    if (m.refusal) return *m.refusal;
    if (m.simple != nullptr) return (*m.simple)(q, "");
    http::response out;
    out.status = 0;
    auto x = (*m.streaming)(q);
    x->finish([&](http::response r) { out = std::move(r); });
    if (hold) {
      kept.push_back(std::move(x));
      return out;
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]();
    waiting.clear();
    return out;
  }
  std::string body(const std::string& target) {
    std::string text;
    for (const auto& piece : get(target).body) text += piece;
    return text;
  }
};

}  // namespace

TEST_SUITE("aggregator/ops/face") {
  TEST_CASE_FIXTURE(port, "every page answers its own") {
    CHECK(body("/api/v1/status").starts_with(R"({"version":"0.1.0",)"));
    CHECK(body("/api/v1/policies").starts_with(R"({"policies":[{"namespace":"default","name":"power")"));
    CHECK(body("/api/v1/labels") == "{\"nodes\":[]}\n");
    CHECK(body("/api/v1/nodes/node-a").starts_with(R"({"name":"node-a","connected":true)"));
    CHECK(body("/metrics").find("\nbinnacle_sessions 2\n") != std::string::npos);
    CHECK(body("/metrics")
              .find("\nbinnacle_policy_info{namespace=\"default\",policy=\"power\",mode=\"Enforce\"} 1\n") !=
          std::string::npos);
    CHECK(get("/metrics").content_type == "text/plain; version=0.0.4; charset=utf-8");
    CHECK(body("/metrics/nodes").find(R"(rapl_power_watts{node="node-a",package="0"} 60.0)") !=
          std::string::npos);
    CHECK(body("/metrics/nodes?family=rapl_tdp_watts").find("rapl_power_watts") == std::string::npos);
    CHECK(body("/livez") == "ok");
    CHECK(body("/readyz?verbose") == "[+]ping ok\nreadyz check passed\n");
  }

  TEST_CASE_FIXTURE(port,
                    "the node list shows power, what policies watch and what was asked for, each once") {
    const std::string text =
        body("/api/v1/nodes?metric=rapl_tdp_watts&metric=rapl_power_watts&metric=rapl_tdp_watts");
    CHECK(text.starts_with(
        R"({"time":"2026-01-01T00:00:00Z","metrics":[{"name":"rapl_power_watts","unit":"watts"},{"name":"rapl_tdp_watts","unit":"watts"}],)"));
    CHECK(
        text.find(
            R"("values":{"rapl_power_watts":{"value":122.1,"ageMs":200},"rapl_tdp_watts":{"value":370.0,"ageMs":200}})") !=
        std::string::npos);
    CHECK(body("/api/v1/nodes?limit=2").ends_with("\"total\":3,\"omitted\":1}\n"));
  }

  TEST_CASE_FIXTURE(port, "metrics that policies compare leave room for those that were asked for") {
    auto p = std::make_shared<policy::published_policy>(*nodes.policies().begin()->second);
    std::vector<policy::published_rule>& rules = p->strategies[0].rules;
    for (int i = 0; i < 9; ++i) {
      policy::published_rule another = rules[0];
      another.definition.metric = "compared_" + std::to_string(i);
      rules.push_back(another);
    }
    auto table = std::make_shared<policy::policy_table>();
    table->emplace(p->key, p);
    nodes.set_policies(table);
    std::string target = "/api/v1/nodes?metric=rapl_power_watts";
    for (int i = 0; i < 10; ++i) target += "&metric=asked_" + std::to_string(i);
    const std::string text = body(target);
    CHECK_MESSAGE(text.starts_with(R"({"time":)"), text);
    for (const char* shown : {"rapl_power_watts", "compared_4", "asked_0", "asked_9"})
      CHECK_MESSAGE(text.find("\"name\":\"" + std::string(shown) + "\"") != std::string::npos, shown);
    CHECK(text.find("\"name\":\"compared_5\"") == std::string::npos);
    for (int i = 10; i < 16; ++i) target += "&metric=asked_" + std::to_string(i);
    CHECK(get(target).status == 400);
  }

  TEST_CASE_FIXTURE(port, "decisions are found by pod and counted") {
    const std::string all = body("/api/v1/decisions");
    CHECK(all.find("web-1") != std::string::npos);
    CHECK(all.ends_with("],\"kept\":2,\"total\":2,\"dropped\":0,\"omitted\":0}\n"));
    const std::string one = body("/api/v1/decisions?pod=default/web-1&all=true");
    CHECK(one.find("web-1") != std::string::npos);
    CHECK(one.find("db-1") == std::string::npos);
    CHECK(body("/api/v1/decisions?pod=ghost").starts_with("{\"decisions\":[],"));
    CHECK(body("/api/v1/decisions?limit=1").find("web-1") == std::string::npos);
  }

  TEST_CASE_FIXTURE(port,
                    "the labels of Node objects: which keys there are, and which nodes carry which value") {
    CHECK(body("/api/v1/nodelabels") == "{\"keys\":[],\"omitted\":false}\n");
    object_labels["node-a"] = {{"example.com/rack", "r1"}, {"zone", "east"}};
    object_labels["node-b"] = {{"example.com/rack", "r2 \"x\""}, {"zone", "east"}};
    object_labels["node-c"] = {{"zone", "west"}};
    object_labels["without-agent"] = {{"zone", "north"}};
    CHECK(
        body("/api/v1/nodelabels") ==
        R"({"keys":[{"key":"example.com/rack","nodes":2,"values":2},{"key":"zone","nodes":3,"values":2}],"omitted":false})"
        "\n");
    CHECK(
        body("/api/v1/nodelabels?key=zone") ==
        R"({"key":"zone","values":[{"value":"east","nodes":["node-a","node-b"]},{"value":"west","nodes":["node-c"]}],"omitted":0})"
        "\n");
    CHECK(
        body("/api/v1/nodelabels?key=example.com/rack") ==
        R"({"key":"example.com/rack","values":[{"value":"r1","nodes":["node-a"]},{"value":"r2 \"x\"","nodes":["node-b"]}],"omitted":0})"
        "\n");
    CHECK(body("/api/v1/nodelabels?key=pool") == "{\"key\":\"pool\",\"values\":[],\"omitted\":0}\n");
    CHECK(get("/api/v1/nodelabels?label=zone").status == 400);
  }

  TEST_CASE_FIXTURE(port, "a node's page has the labels of its Node object beside those that policies give") {
    object_labels["node-a"] = {{"example.com/rack", "r2 \"x\""}, {"zone", "east"}};
    CHECK(
        body("/api/v1/nodes/node-a")
            .find(
                R"("labels":{},"objectLabels":{"example.com/rack":"r2 \"x\"","zone":"east"},"verdicts":[)") !=
        std::string::npos);
    CHECK(body("/api/v1/nodes/node-b").find(R"("objectLabels":{},)") != std::string::npos);
    CHECK(body("/api/v1/nodes").find("objectLabels") == std::string::npos);  // of thousands: too much
  }

  TEST_CASE_FIXTURE(port, "labels are bounded: keys, and the values of one") {
    for (std::uint32_t i = 0; i < 300; ++i) {
      store::node_update u{.id = store::node_id{3 + i}, .name = "many-" + std::to_string(1000 + i)};
      nodes.apply(u);
      object_labels[u.name] = {
          {"hostname", u.name}, {"key-" + std::to_string(1000 + i), "x"}, {"zone", "east"}};
    }
    const std::string keys = body("/api/v1/nodelabels");
    // This key has too many values to group by, so its values are not counted.
    CHECK(keys.find(R"({"key":"hostname","nodes":300})") != std::string::npos);
    CHECK(keys.find(R"({"key":"key-1000","nodes":1,"values":1})") != std::string::npos);
    CHECK(keys.find(R"({"key":"zone","nodes":300,"values":1})") != std::string::npos);
    CHECK(keys.find("key-1299") == std::string::npos);
    CHECK(keys.ends_with("],\"omitted\":true}\n"));
    const std::string values = body("/api/v1/nodelabels?key=hostname");
    CHECK(values.find("many-1199") != std::string::npos);
    CHECK(values.find("many-1200") == std::string::npos);
    CHECK(values.ends_with("],\"omitted\":100}\n"));
  }

  TEST_CASE_FIXTURE(port, "what is asked wrongly is refused with what would be right") {
    struct row {
      const char* target;
      unsigned status;
      const char* message;
    };
    const row rows[] = {
        {"/api/v1/nodes?limit=0", 400, "the parameter limit must be a whole number from 1 to 20000"},
        {"/api/v1/nodes?limit=x", 400, "the parameter limit must be a whole number from 1 to 20000"},
        {"/api/v1/decisions?limit=1001", 400, "the parameter limit must be a whole number from 1 to 1000"},
        {"/api/v1/decisions?id=-1", 400, "the parameter id must be a whole number"},
        {"/api/v1/decisions?verb=bind", 400, "the parameter verb must be filter, prioritize or preempt"},
        {"/api/v1/decisions?all=maybe", 400, "the parameter all must be true or false"},
        {"/api/v1/decisions?pods=web", 400,
         "there is no parameter pods, only pod, policy, node, verb, id, limit, all"},
        {"/api/v1/nodes?metrics=x", 400, "there is no parameter metrics, only limit, metric"},
        {"/metrics/nodes?families=rapl_power_watts", 400, "there is no parameter families, only family"},
        {"/api/v1/nodes/node-z", 404, "no agent named 'node-z' has connected"},
        {"/api/v1/nodes/node-a/series", 404, "there is nothing at this path: a node is /api/v1/nodes/NAME"},
        {"/api/v1/nodes?metric=", 400, "the parameter metric must be the name of a metric"},
        {"/api/v1/what-if?cpu=4", 400, "the parameter pods must be a whole number from 1 to 10000"},
        {"/api/v1/what-if?pods=0&cpu=4", 400, "the parameter pods must be a whole number from 1 to 10000"},
        {"/api/v1/what-if?pods=10001&cpu=4", 400,
         "the parameter pods must be a whole number from 1 to 10000"},
        {"/api/v1/what-if?pods=2x&cpu=4", 400, "the parameter pods must be a whole number from 1 to 10000"},
        {"/api/v1/what-if?pods=20&cpu=4&memory=1Gi", 400,
         "there is no parameter memory, only pods, cpu, policy"},
        {"/api/v1/what-if?pods=20&cpu=4", 404,
         "no policy with minimizepower is in force, so nothing is learned of nodes' watts: create one; mode: "
         "DryRun is enough"},
        {"/livez/nope", 404, "there is no check of that name"},
    };
    for (const row& r : rows) {
      CAPTURE(r.target);
      const auto a = get(r.target);
      CHECK(a.status == r.status);
      CHECK(a.body.at(0) == "{\"error\":\"" + std::string(r.message) + "\"}\n");
    }
    for (const char* cpu : {"", "0", "-1", "1025", "four", "4 cores"}) {
      CAPTURE(cpu);
      const auto a = get("/api/v1/what-if?pods=1&cpu=" + http::query_escaped(cpu));
      CHECK(a.status == 400);
      CHECK(a.body.at(0) ==
            "{\"error\":\"the parameter cpu must be what one pod requests, above 0 and at most 1024 cores, "
            "such as 4 "
            "or 500m\"}\n");
    }
    std::string many = "/api/v1/nodes?";
    for (int i = 0; i < 20; ++i) many += "metric=m" + std::to_string(i) + "&";
    CHECK(get(many).status == 400);
    many = "/metrics/nodes?";
    for (int i = 0; i < 300; ++i) many += "family=f" + std::to_string(i % 256) + "&";
    CHECK(get(many).status == 200);
    CHECK(get(many + "family=another").body.at(0) ==
          "{\"error\":\"the parameter family must be given at most 256 times\"}\n");
    CHECK(get("/api/v2/status").status == 404);
    CHECK(get("/api/v1/status", true, "POST").status == 405);
    CHECK(get("/api/v1/nodes/node-a", true, "DELETE").status == 405);
  }

  TEST_CASE_FIXTURE(port, "accelerators are named if the node's meter measures more than the processors") {
    struct {
      const char *meter, *accelerators, *said;
    } const rows[] = {{"dcmi", "8", R"("acceleratorsInWatts":8,)"},
                      {"bmc", "1", R"("acceleratorsInWatts":1,)"},
                      {"dcmi", "0", ""},
                      {"rapl", "8", ""},
                      {"dcmi", "many", ""}};
    int i = 0;
    for (const auto& row : rows) {
      CAPTURE(i);
      store::catalog_builder c;
      c.group("host").series("host_power_watts", {{"source", row.meter}}, -1);
      c.series(
          "host_hardware_info",
          {{"cpu", "EPYC"}, {"sockets", "2"}, {"memory_gib", "512"}, {"accelerators", row.accelerators}});
      const std::string name = "gpu-" + std::to_string(i++);
      auto cells = add(name, c);
      cells->set_value(0, 9000);
      cells->set_value(1, 1);
      cells->set_read(0, store::at_s(100.8));
      const auto text = body("/api/v1/power/" + name);
      const std::string said(row.said);
      CHECK_MESSAGE(text.find(said.empty() ? "\"model\":null" : said) != std::string::npos, text);
      CHECK_MESSAGE((text.find("acceleratorsInWatts") == std::string::npos) == said.empty(), text);
    }
  }

  TEST_CASE_FIXTURE(port, "a node's curve says if no policy takes learned ones") {
    CHECK(body("/api/v1/power/node-a").find("onlyExternal") == std::string::npos);
    auto table = std::make_shared<policy::policy_table>();
    policy::published_policy p;
    p.key = {"default", "watts"};
    p.strategies.push_back({.kind = policy::strategy_kind::minimizepower});
    p.strategies[0].power.model = policy::power_model::external;
    table->emplace(p.key, std::make_shared<const policy::published_policy>(p));
    nodes.set_policies(table);
    CHECK(body("/api/v1/power/node-a") == "{\"node\":\"node-a\",\"onlyExternal\":true,\"model\":null}\n");
  }

  TEST_CASE_FIXTURE(port, "a node's curve comes with its source, what was measured and how it was") {
    CHECK(body("/api/v1/power/node-a") == "{\"node\":\"node-a\",\"model\":null}\n");
    CHECK(get("/api/v1/power/node-z").status == 404);
    CHECK(get("/api/v1/power").status == 404);
    nodes.set_learned_note(0, "its meter stands still");
    CHECK(body("/api/v1/power/node-a") ==
          "{\"node\":\"node-a\",\"meterTrouble\":\"its meter stands still\",\"model\":null}\n");
    predict::model m{predict::curve::through(std::vector<double>{100, 300}, 16).value()};
    for (int i = 0; i < 20; ++i) m.measured.add(0.5, 200);
    m.covered = 1.0 / 21;
    m.known_from = 0.4;  // other nodes measured from here
    m.known_to = 0.6;
    m.noise = 0.012;
    m.samples = 20;
    m.others = 3;
    m.hardware = "2 x EPYC";
    m.meter = "dcmi";
    m.made = ops::now - std::chrono::seconds(48);
    nodes.models().set(0, std::make_shared<const predict::model>(m));
    const auto text = body("/api/v1/power/node-a");
    for (
        const char* part :
        {R"("source":"node","hardware":"2 x EPYC","meter":"dcmi","others":3,"coveredPercent":4)",
         R"("coveredFrom":0.50,"coveredTo":0.50,"knownFrom":0.40,"knownTo":0.60,"noisePercent":1.2,"samples":20,"outliers":0,"meterStuck":false,"restarts":0,"ageSeconds":48)",
         R"("cores":16,"curve":[{"load":0.00,"watts":100.0,"samples":0},)",
         R"({"load":0.50,"watts":200.0,"samples":20})"}) {
      CAPTURE(part);
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    }
    CHECK_MESSAGE(text.starts_with(R"({"node":"node-a","meterTrouble":"its meter stands still","model":{)"),
                  text);
    m.meter_stuck = true;
    nodes.models().set(0, std::make_shared<const predict::model>(m));
    const auto of_stuck = body("/api/v1/power/node-a");
    CHECK_MESSAGE(of_stuck.find("meterTrouble") == std::string::npos, "a model says it by its meterStuck");
    m.meter_stuck = false;
    // The list of nodes has a short form, for nodes that have a model.
    const std::string listed = body("/api/v1/nodes");
    const auto model =
        listed.find(R"("model":{"source":"node","coveredPercent":4,"noisePercent":1.2},"verdicts":)");
    CHECK_MESSAGE(model < listed.find(R"("name":"node-b")"), listed);
    CHECK(listed.find("\"model\":", model + 1) == std::string::npos);
    // A node that reports its load and its watts now.
    store::catalog_builder c;
    c.group("os")
        .series("os_cpu_utilization_ratio", {}, -4)
        .series("host_power_watts", {{"source", "dcmi"}}, -1);
    auto row = add("node-d", c);
    row->set_value(0, 2500);
    row->set_value(1, 1404);
    row->set_read(0, store::at_s(100.8));
    nodes.models().set(store::index(nodes.find("node-d")->id), std::make_shared<const predict::model>(m));
    CHECK(body("/api/v1/power/node-d").starts_with(R"({"node":"node-d","loadRatio":0.2500,"watts":140.4,)"));
    CHECK(body("/api/v1/power/node-d").find(R"("predictedWatts":150.0)") != std::string::npos);
    // The watts of its data sheet count if nobody has measured the node, and if they are plausible.
    store::catalog_builder sheet;
    sheet.group("files").series("rated_idle_watts", {}, 0).series("rated_peak_watts", {}, 0);
    auto rated = add("node-e", sheet);
    rated->set_value(0, 400);
    rated->set_value(1, 90);
    rated->set_read(0, store::at_s(100.8));
    const auto mixed_up = body("/api/v1/power/node-e");
    CHECK_MESSAGE(mixed_up.find(R"("ratedTrouble":"rated watts of 400 idle and 90 with all cores busy)") !=
                      std::string::npos,
                  mixed_up);
    rated->set_absent(0, absence::malformed);
    const auto no_number = body("/api/v1/power/node-e");
    CHECK_MESSAGE(
        no_number.find(R"("ratedTrouble":"rated_idle_watts is missing, or its value is no number")") !=
            std::string::npos,
        no_number);
    // A model server's curve is preferred to what was learned. The answer says what is wrong with that curve.
    predict::model served{predict::curve::through(std::vector<double>{100, 500}, 16).value()};
    served.from = predict::model_source::server;
    served.server = "http://h:1/v2/models/pc/infer";
    served.inputs_assumed = 2;
    nodes.served(policy::cpu_format::raw)
        .set(store::index(nodes.find("node-d")->id), std::make_shared<const predict::model>(served));
    nodes.set_served_note(store::index(nodes.find("node-d")->id), "it answered 500");
    const auto by_server = body("/api/v1/power/node-d");
    CHECK_MESSAGE(
        by_server.find(R"("server":"http://h:1/v2/models/pc/infer","assumedInputs":1)") != std::string::npos,
        by_server);
    CHECK(by_server.find(R"("source":"server")") != std::string::npos);
    CHECK(by_server.find(R"("modelServerTrouble":"it answered 500")") != std::string::npos);
    CHECK(by_server.find(R"("predictedWatts":200.0)") != std::string::npos);
    const auto beside = by_server.find(R"("learned":{"source":"node")");
    CHECK_MESSAGE(by_server.find(R"("predictedWatts":150.0)", beside) != std::string::npos, by_server);
    CHECK_MESSAGE(text.find("learned") == std::string::npos, "only beside a model server's");
  }

  TEST_CASE_FIXTURE(port, "without a certificate only health answers") {
    for (const char* target :
         {"/api/v1/status", "/api/v1/nodes", "/api/v1/nodes/node-a", "/api/v1/policies", "/api/v1/decisions",
          "/api/v1/labels", "/api/v1/nodelabels", "/api/v1/power/node-a", "/api/v1/what-if?pods=1&cpu=1",
          "/metrics", "/metrics/nodes"}) {
      CAPTURE(target);
      CHECK(get(target, false).status == 401);
    }
    CHECK(get("/livez", false).status == 200);
  }

  TEST_CASE_FIXTURE(
      port, "only so many lists are made at a time, half of them for one caller; others shall come back") {
    hold = true;
    for (int i = 0; i < 4; ++i) CHECK(get("/metrics/nodes").status == 0);  // takes several steps
    CHECK(get("/metrics/nodes").status == 503);
    caller = "prometheus";
    for (int i = 0; i < 4; ++i) CHECK(get("/metrics/nodes").status == 0);
    caller = "ann";
    const auto busy = get("/api/v1/nodes");
    CHECK(busy.status == 503);
    CHECK(busy.headers == decltype(busy.headers){{"Retry-After", "1"}});
    CHECK(get("/api/v1/status").status == 0);  // begun: programs that ask often are not kept out by lists
    for (int i = 0; i < 4; ++i) (void)get("/metrics");
    CHECK(get("/metrics").status == 503);
    kept.clear();
    hold = false;
    waiting.clear();
    CHECK(get("/api/v1/nodes").status == 200);
  }

  TEST_CASE_FIXTURE(
      port, "pages of one node are counted for themselves, half of them for one caller; others wait") {
    add_many_of_foo("many", 3'000, 2);
    hold = true;
    for (int i = 0; i < 4; ++i) CHECK(get("/api/v1/nodes/many").status == 0);  // takes several steps
    CHECK(get("/api/v1/nodes/node-a").status == 0);                            // waits, though it is short
    CHECK(get("/api/v1/nodes").status == 200);
    caller = "ann";
    CHECK(get("/api/v1/nodes/node-a").status == 200);
    kept.clear();
    waiting.clear();
    hold = false;
    CHECK(body("/api/v1/nodes/many").ends_with("]}\n"));
  }
}

}  // namespace ops_face_test
