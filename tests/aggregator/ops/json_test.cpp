#include "aggregator/ops/lists.hpp"
#include "aggregator/ops/summary_json.hpp"
#include "tests/aggregator/ops/house.hpp"
#include "tests/support/whole.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

namespace ops_json_test {

using namespace binnacle;
using namespace binnacle::ops;
namespace json = boost::json;

namespace {

std::string whole(http::slices& work) {
  std::string text;
  for (const auto& piece : support::whole(work).body) text += piece;
  return text;
}

/// How many slices the answer takes.
int steps_of(http::slices& work) {
  int steps = 1;
  while (work.step()) ++steps;
  return steps;
}

void add_workers(house& h, int count) {
  for (int i = 0; i < count; ++i)
    h.add("worker-" + std::to_string(10'000 + i), store::catalog_builder().group("os").series("os_load1"));
}

json::object parsed(const std::string& text) { return json::parse(text).as_object(); }

const std::string node_a_head =
    R"("name":"node-a","connected":true,"seenMs":100,"agentVersion":"0.1.0","address":"10.0.0.7:40312","sources":[])";

}  // namespace

TEST_SUITE("aggregator/ops/json") {
  TEST_CASE_FIXTURE(house, "the node list has each value with its age or the reason why there is none") {
    fleet_query q;
    q.metrics = {{"rapl_power_watts", ask("rapl_power_watts", {})},
                 {"inlet_celsius", ask("inlet_celsius", {})}};
    q.now = now;
    q.time = "2026-01-01T00:00:00Z";
    const auto list = fleet_json(nodes, std::move(q));
    CHECK(
        whole(*list) ==
        R"({"time":"2026-01-01T00:00:00Z","metrics":[{"name":"rapl_power_watts","unit":"watts"},{"name":"inlet_celsius","unit":"celsius"}],)"
        R"("nodes":[{)" +
            node_a_head +
            R"(,"labels":{},"values":{"rapl_power_watts":{"value":122.1,"ageMs":200},"inlet_celsius":{"absent":"missing"}},)"
            R"("verdicts":[{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"violating","violating":true,)"
            R"("rule":"rapl_power_watts GreaterThan 60"}]},)"
            R"({"name":"node-b","connected":true,"seenMs":50,"agentVersion":"0.1.0","address":"10.0.0.7:40312",)"
            R"("sources":[{"source":"rapl","ok":false,"message":"energy_uj may not be read: run the agent as root"},{"source":"textfile","ok":true}],)"
            R"("labels":{},"values":{"rapl_power_watts":{"absent":"permission"},"inlet_celsius":{"absent":"stale","ageMs":61000}},)"
            R"("verdicts":[{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"missing","violating":false,)"
            R"("rule":"rapl_power_watts GreaterThan 60","unknownRules":1}]},)"
            R"({"name":"node-c","connected":false,"seenMs":10000,"agentVersion":"","address":"","sources":[],"labels":{},)"
            R"("values":{"rapl_power_watts":{"absent":"not_read_yet"},"inlet_celsius":{"absent":"not_read_yet"}},)"
            R"("verdicts":[{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"pass","violating":false}]}],)"
            R"("total":3,"omitted":0})"
            "\n");
  }

  TEST_CASE_FIXTURE(house, "what came after the list was begun has the age 0, and none below it") {
    fleet_query q;
    q.metrics.push_back({"rapl_power_watts", ask("rapl_power_watts", {})});
    q.now = store::at_s(100.5);
    const std::string text = whole(*fleet_json(nodes, std::move(q)));
    CHECK(text.find(R"("name":"node-a","connected":true,"seenMs":0,)") != std::string::npos);
    CHECK(text.find(R"("rapl_power_watts":{"value":122.1,"ageMs":0})") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "the list can be cut and says how much it left out") {
    fleet_query q;
    q.limit = 1;
    q.now = now;
    const auto list = fleet_json(nodes, std::move(q));
    const std::string text = whole(*list);
    CHECK(text.find("node-a") != std::string::npos);
    CHECK(text.find("node-b") == std::string::npos);
    CHECK(text.ends_with("\"total\":3,\"omitted\":2}\n"));
  }

  TEST_CASE_FIXTURE(house, "a large fleet takes several slices and nodes that come in between do no harm") {
    add_workers(*this, 1000);
    fleet_query q;
    q.now = now;
    const auto list = fleet_json(nodes, std::move(q));
    int steps = 0;
    while (list->step()) {
      if (++steps == 2) add("aaa-before", store::catalog_builder().group("os").series("os_load1"));
      if (steps == 3) add("zzz-after", store::catalog_builder().group("os").series("os_load1"));
    }
    CHECK(steps == 5);
    const std::string text = whole(*list);
    CHECK(text.find("zzz-after") != std::string::npos);
    CHECK(text.find("aaa-before") == std::string::npos);
    CHECK(text.find("\"total\":1005,\"omitted\":1}") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "a slice holds as many verdicts as there are, not as many nodes") {
    add_workers(*this, 200);
    add_policies(299);
    fleet_query q;
    q.now = now;
    const auto list = fleet_json(nodes, std::move(q));
    CHECK(steps_of(*list) > 203 * 300 / 2'000);
    const std::string text = whole(*list);
    CHECK(text.find(R"("policy":"tenant/p298")") != std::string::npos);
    CHECK(text.ends_with("\"total\":203,\"omitted\":0}\n"));
  }

  TEST_CASE_FIXTURE(house,
                    "verdicts of a thousand policies leave out no node, and none of another namespace's "
                    "verdicts") {
    add_policies(999);
    fleet_query q;
    q.now = now;
    const std::size_t room = 20'000;
    const std::string text = whole(*fleet_json(nodes, std::move(q), room));
    CHECK(text.size() < room);
    const json::object answer = parsed(text);
    CHECK(answer.at("omitted") == 0);
    CHECK(answer.at("nodes").as_array().size() == 3);
    const auto left_out = static_cast<std::size_t>(answer.at("strategiesOmitted").as_int64());
    for (const json::value& node : answer.at("nodes").as_array()) {
      const json::array& verdicts_there = node.at("verdicts").as_array();
      CHECK(verdicts_there.at(0).at("policy") == "default/power");
      CHECK(verdicts_there.size() == 1'000 - left_out);
      CHECK(verdicts_there.size() > 10);
    }
  }

  TEST_CASE_FIXTURE(house,
                    "defect: verdicts with a window that is not covered took more room than reckoned") {
    // Each is violating and names its rule twice, with quotes that JSON escapes.
    auto p = std::make_shared<policy::published_policy>(*nodes.policies().begin()->second);
    policy::published_rule& rule = p->strategies[0].rules[0];
    rule.definition.window = std::chrono::seconds(30);
    rule.text = "rapl_power_watts (avg 30s) GreaterThan 60 " + std::string(60, '"');
    store::sample partly = watts->load(store::node_id{0});
    partly.unknown_percent = 60;
    for (const std::uint32_t id : {0u, 1u, 2u}) {
      watts->store(store::node_id{id}, partly);
      verdicts->store(store::node_id{id}, {policy::state::violating, true, 0, 0});
    }
    auto table = std::make_shared<policy::policy_table>();
    table->emplace(p->key, p);
    nodes.set_policies(table);
    add_policies(999);
    fleet_query q;
    q.now = now;
    const std::size_t room = 40'000;
    const std::string text = whole(*fleet_json(nodes, std::move(q), room));
    CHECK(text.find(R"("uncovered":{"rule":"rapl)") != std::string::npos);
    CHECK(text.size() < room);
    const json::object answer = parsed(text);
    CHECK(answer.at("omitted") == 0);
    CHECK(answer.at("nodes").as_array().size() == 3);
  }

  TEST_CASE_FIXTURE(house, "a list of nodes that is full says how many nodes had no room") {
    add_workers(*this, 1000);
    fleet_query q;
    q.now = now;
    const std::string text = whole(*fleet_json(nodes, std::move(q), 10'000));
    CHECK(text.size() < 11'000);
    const json::object answer = parsed(text);
    const auto listed = static_cast<std::int64_t>(answer.at("nodes").as_array().size());
    CHECK(listed > 10);
    CHECK(answer.at("omitted") == 1003 - listed);
  }

  TEST_CASE_FIXTURE(house, "nodes that are forgotten between two slices are not left out") {
    fleet_query q;
    q.now = ops::now;
    const auto list = fleet_json(nodes, std::move(q));
    while (list->step()) {
    }
    nodes.forget({store::node_id{0}, store::node_id{2}});
    CHECK(whole(*list).ends_with("\"total\":1,\"omitted\":0}\n"));
  }

  TEST_CASE_FIXTURE(house, "a node that is odd beside the others says so") {
    nodes.node(nodes.find("node-a")->id, "node-a").warning = "it lies";
    const std::string text = whole(*node_in_full(*nodes.find("node-a"), nodes.policies(), now));
    CHECK(text.find(R"("warning":"it lies","labels":{)") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "one node in full has every series, and the values that each rule compares") {
    const std::string text = whole(*node_in_full(*nodes.find("node-a"), nodes.policies(), now));
    const std::string start =
        "{" + node_a_head +
        R"(,"labels":{},"verdicts":[{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"violating",)"
        R"("violating":true,"rule":"rapl_power_watts GreaterThan 60","rules":[{"rule":"rapl_power_watts GreaterThan 60","value":122.1,"ageMs":200}]}],)"
        R"("series":[{"family":"rapl_power_watts","labels":{"package":"0"},"flatName":"rapl_power_watts_0","unit":"watts","type":"gauge",)"
        R"("source":"rapl","value":60.0,"ageMs":200},)";
    CHECK(text.substr(0, start.size()) == start);
    CHECK(text.find(R"("family":"rapl_energy_joules_total","labels":{"zone":"package","package":"1"})") !=
          std::string::npos);
    CHECK(text.ends_with("]}\n"));
  }

  TEST_CASE_FIXTURE(house, "a node of ten thousand series takes many slices, and an ordinary one takes one") {
    add_many_of_foo("evil", 10'000, 32);
    const auto page = node_in_full(*nodes.find("evil"), nodes.policies(), now);
    const auto steps = static_cast<std::size_t>(steps_of(*page));
    const std::string text = whole(*page);
    CHECK(steps > text.size() / 70'000);
    std::size_t series = 0;
    const std::string_view begin = R"({"family":"foo",)";
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) ++series;
    CHECK(series == 10'000);
    CHECK(text.ends_with("]}\n"));
    CHECK(steps_of(*node_in_full(*nodes.find("node-a"), nodes.policies(), now)) == 1);
  }

  TEST_CASE_FIXTURE(house, "a node's verdicts of a thousand policies take several slices") {
    add_policies(999);
    const auto page = node_in_full(*nodes.find("node-a"), nodes.policies(), now);
    CHECK(steps_of(*page) >= 3);
    const json::object answer = parsed(whole(*page));
    CHECK(answer.at("verdicts").as_array().size() == 1'000);
    CHECK(answer.at("series").as_array().size() == 12);
  }

  TEST_CASE_FIXTURE(house, "a node's page is of the catalog that it began with, also if the node is gone") {
    add_many_of_foo("many", 3'000, 2);
    const std::string at_once = whole(*node_in_full(*nodes.find("many"), nodes.policies(), now));
    const auto of_changed = node_in_full(*nodes.find("many"), nodes.policies(), now);
    REQUIRE(of_changed->step());
    const auto of_forgotten = node_in_full(*nodes.find("many"), nodes.policies(), now);
    REQUIRE(of_forgotten->step());
    add("many", store::two_packages());
    const bool same_if_changed = whole(*of_changed) == at_once;
    CHECK(same_if_changed);
    nodes.forget({nodes.find("many")->id});
    const bool same_if_forgotten = whole(*of_forgotten) == at_once;
    CHECK(same_if_forgotten);
  }

  TEST_CASE_FIXTURE(house, "a slice of the node list ends where a metric had to be found among many series") {
    for (const char* name : {"evil-0", "evil-1", "evil-2"}) add(name, many_of_foo(6'000, 1));
    fleet_query q;
    q.metrics = {{"foo", ask("foo", {}), true}};
    q.now = now;
    CHECK(steps_of(*fleet_json(nodes, std::move(q))) == 4);  // one for each of them, one for the others
  }

  TEST_CASE_FIXTURE(house, "a rule that clears elsewhere than at its target says where") {
    auto p = std::make_shared<policy::published_policy>(*nodes.policies().begin()->second);
    p->strategies.front().rules.front().definition.clear = from_integer(55);
    policy::policy_table table = nodes.policies();
    table.begin()->second = p;
    const std::string text = whole(*node_in_full(*nodes.find("node-a"), table, now));
    CHECK_MESSAGE(text.find(R"({"rule":"rapl_power_watts GreaterThan 60","clear":55,"value":122.1)") !=
                      std::string::npos,
                  text.substr(0, 600));
  }

  TEST_CASE_FIXTURE(house, "a strategy that no verdict is made for has no state, not even pass") {
    auto p = std::make_shared<policy::published_policy>(*nodes.policies().begin()->second);
    p->strategies.front().kind = policy::strategy_kind::minimizepower;
    p->strategies.front().verdicts = nullptr;
    policy::policy_table table = nodes.policies();
    table.begin()->second = p;
    const std::string text = whole(*node_in_full(*nodes.find("node-a"), table, now));
    CHECK_MESSAGE(text.find(R"("strategy":"minimizepower","mode":"Enforce","rules":[)") != std::string::npos,
                  text.substr(0, 600));
  }

  TEST_CASE_FIXTURE(
      house,
      "policies come with their rules, the nodes that they concern, and what is wrong with their texts") {
    policy_report about;
    about.problems = {
        {"power.yaml", 12, "spec.strategies", "unknown strategy 'dontscedule'", policy::severity::warning},
        {"b.yaml", 0, "", "is empty", policy::severity::error}};
    about.conditions = {{{"default", "power"},
                         policy::condition_kind::metric_missing,
                         policy::strategy_kind::dontschedule,
                         true,
                         "no node has a value of x"},
                        {{"default", "power"}, policy::condition_kind::held, std::nullopt, false, ""}};
    CHECK(
        whole(*policy_list(nodes, about, 100)) ==
        R"({"policies":[{"namespace":"default","name":"power","revision":3,"mode":"Enforce","strategies":[)"
        R"({"strategy":"dontschedule","logicalOperator":"anyOf","onMissing":"Reject","rules":["rapl_power_watts GreaterThan 60"],)"
        R"("violating":{"count":1,"nodes":["node-a"]},"missing":{"count":1,"nodes":["node-b"]}}],"labels":[]}],)"
        R"("conditions":[{"policy":"default/power","strategy":"dontschedule","type":"MetricMissing","message":"no node has a value of x"}],)"
        R"("problems":[{"severity":"warning","file":"power.yaml","line":12,"field":"spec.strategies","message":"unknown strategy 'dontscedule'"},)"
        R"({"severity":"error","file":"b.yaml","message":"is empty"}]})"
        "\n");
    about.costs.emplace();
    about.costs->nodes = 10;
    about.costs->policies.push_back(
        {{"default", "power"},
         {.columns = 1, .label_keys = 2, .rules = 3, .node_bytes = 100, .node_evaluations = 5}});
    about.costs->all = about.costs->policies[0].takes;
    const std::string costly = whole(*policy_list(nodes, about, 100));
    CHECK(costly.find(
              R"("labels":[],"takes":{"memory":1000,"columns":1,"labelKeys":2,"rules":3,"evaluations":50}}],)"
              R"("budget":{"nodes":10,"memory":{"taken":1000,"limit":536870912,)"
              R"("namespaceLimit":402653184,"policyLimit":268435456},"columns":{"taken":1,)") !=
          std::string::npos);
  }

  TEST_CASE_FIXTURE(house,
                    "a thousand conditions and problems are a slice, and none is lost between slices") {
    policy_report about;
    for (int i = 0; i < 1'500; ++i) {
      const std::string number = std::to_string(i);
      about.conditions.push_back(
          {{"default", number}, policy::condition_kind::held, std::nullopt, true, "c"});
      about.problems.push_back({number + ".yaml", 0, "", "is empty", policy::severity::error});
    }
    CHECK(steps_of(*policy_list(nodes, about, 100)) == 4);  // one for the policy
    const auto said = json::parse(whole(*policy_list(nodes, about, 100))).as_object();
    REQUIRE(said.at("conditions").as_array().size() == 1'500);
    REQUIRE(said.at("problems").as_array().size() == 1'500);
    CHECK(said.at("conditions").as_array()[1'499].at("policy") == "default/1499");
    CHECK(said.at("problems").as_array()[1'499].at("file") == "1499.yaml");
  }

  TEST_CASE_FIXTURE(house, "rules are listed with their bounds, and those that rank say what comes first") {
    auto table = nodes.policies();
    auto p = std::make_shared<policy::published_policy>(*table.begin()->second);
    policy::published_rule& rule = p->strategies[0].rules[0];
    rule.definition.clear = from_integer(50);
    rule.definition.stale_after = std::chrono::seconds(5);
    const auto listed = [&] {
      table.begin()->second = std::make_shared<policy::published_policy>(*p);
      nodes.set_policies(std::make_shared<policy::policy_table>(table));
      return whole(*policy_list(nodes, {}, 100));
    };
    CHECK(listed().find(R"("rules":["rapl_power_watts GreaterThan 60, clearBelow 50, staleAfter 5s"])") !=
          std::string::npos);
    CHECK(listed().find("maxNodes") == std::string::npos);
    CHECK(listed().find("coolDown") == std::string::npos);
    p->strategies[0].max_nodes = policy::node_limit{20, true};
    p->strategies[0].cool_down = std::chrono::minutes(10);
    CHECK(listed().find(R"("maxNodes":"20%","coolDown":"10m","rules":)") != std::string::npos);
    p->strategies[0].kind = policy::strategy_kind::scheduleonmetric;
    p->strategies[0].verdicts = nullptr;
    rule.text = policy::description_of(p->strategies[0].kind).rule_text(rule.definition);
    CHECK(listed().find(R"("rules":["rapl_power_watts, highest first, staleAfter 5s"])") !=
          std::string::npos);
    rule.definition.op = policy::comparison::less_than;
    rule.text = policy::description_of(p->strategies[0].kind).rule_text(rule.definition);
    CHECK(listed().find(R"("rules":["rapl_power_watts, lowest first, staleAfter 5s"])") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "the status is the aggregator at a glance") {
    self_report self;
    self.version = "0.1.0";
    self.replica = "agg-1";
    self.mode = "standalone";
    self.started = store::at_s(11);
    self.listeners = {{"extender", "0.0.0.0:9001", {}}};
    self.listeners[0].counters.requests = 7;
    self.certificates = {{"server.pem", 86'400}};
    self.warnings = {"the certificate server.pem ends today"};
    policy_report about;
    CHECK(
        whole(*status_json(nodes, self, about, {20, 120, 100}, now, "2026-01-01T00:00:00Z")) ==
        R"({"version":"0.1.0","replica":"agg-1","cluster":"","mode":"standalone","time":"2026-01-01T00:00:00Z","uptimeSeconds":90,)"
        R"("nodes":{"known":3,"connected":2},"sourceProblems":{"count":1,"first":[)"
        R"({"node":"node-b","source":"rapl","message":"energy_uj may not be read: run the agent as root"}]},)"
        R"("policies":{"inForce":1,"dryRun":0,"problems":0,"strategies":[{"policy":"default/power","strategy":"dontschedule",)"
        R"("mode":"Enforce","violating":1,"held":0,"missing":1,"frozen":0}],"conditions":[]},)"
        R"("decisions":{"kept":20,"total":120,"dropped":100},)"
        R"("listeners":[{"name":"extender","address":"0.0.0.0:9001","tls":true,"open":0,"accepted":0,"rejected":0,"requests":7,)"
        R"("handshakeFailures":0,"malformed":0,"timeouts":0}],)"
        R"("certificates":[{"file":"server.pem","secondsLeft":86400}],"warnings":["the certificate server.pem ends today"]})"
        "\n");
  }

  TEST_CASE_FIXTURE(house, "the status of many policies takes many slices, and counts every verdict") {
    add_workers(*this, 500);
    add_policies(999);
    const auto status = status_json(nodes, {}, {}, {}, now, "");
    CHECK(steps_of(*status) >= 10);
    const json::object answer = parsed(whole(*status));
    CHECK(answer.at("nodes").at("known") == 503);
    const auto& strategies = answer.at("policies").at("strategies").as_array();
    REQUIRE(strategies.size() == 1'000);
    for (const std::size_t i : {0, 500, 999}) {
      CHECK(strategies[i].at("violating") == 1);
      CHECK(strategies[i].at("missing") == 1);
      CHECK(strategies[i].at("held") == 0);
    }
  }

  TEST_CASE_FIXTURE(house,
                    "policies that are removed while a list is being made are still listed to the end") {
    auto list = policy_list(nodes, {}, 100);
    nodes.set_policies(std::make_shared<policy::policy_table>());
    CHECK(whole(*list).find(R"("name":"power")") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house,
                    "nodes of many labels are looked at in several slices for a policy, also if one goes") {
    for (int i = 0; i < 12'000; ++i) {
      const std::string key = "telemetry.aware.scheduling.power/" + std::to_string(i);
      node("node-a").labels[key] = "x";
      node("node-b").labels[key] = "x";
    }
    const std::string at_once = whole(*policy_list(nodes, {}, 2));
    CHECK(at_once.find(
              R"({"label":"telemetry.aware.scheduling.power/7=x","count":2,"nodes":["node-a","node-b"]})") !=
          std::string::npos);
    CHECK(steps_of(*policy_list(nodes, {}, 2)) == 4);  // one for each of these two nodes
    const auto list = policy_list(nodes, {}, 2);
    REQUIRE(list->step());
    nodes.forget({store::node_id{0}});
    const bool same_if_forgotten = whole(*list) == at_once;
    CHECK(same_if_forgotten);
  }

  TEST_CASE_FIXTURE(house, "sources that work in part are counted beside those that do not work") {
    CHECK(whole(*status_json(nodes, {}, {}, {}, now, "")).find("sourcesInPart") == std::string::npos);
    node("node-a").sources = {{"bmc", true, "2 of 9 sensors cannot be read"}};
    CHECK(whole(*status_json(nodes, {}, {}, {}, now, ""))
              .find(R"("sourcesInPart":{"count":1,"first":[{"node":"node-a","source":"bmc",)") !=
          std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "defect: the status was silent about a node rated in kilowatts") {
    const store::node_id id{static_cast<std::uint32_t>(nodes.nodes().size())};
    nodes.apply({.id = id, .name = "node-d", .cells = row_rated_in_kilowatts()});
    const auto status = [this] { return whole(*status_json(nodes, {}, {}, {}, now, "")); };
    CHECK_MESSAGE(status().find("rated") == std::string::npos, "no policy asks for watts");
    auto p = std::make_shared<policy::published_policy>();
    p->key = {"default", "fewer-watts"};
    p->strategies.emplace_back().kind = policy::strategy_kind::minimizepower;
    nodes.set_policies(std::make_shared<policy::policy_table>(policy::policy_table{{p->key, p}}));
    const std::string told = status();
    CHECK_MESSAGE(
        told.find(R"("first":[{"node":"node-d","source":"rated watts","message":"rated watts of 0.05 )"
                  R"(idle and 0.2 with all cores busy: no node of 8 cores draws less than 2 W)") !=
            std::string::npos,
        told);
    // Once the node is measured, these watts matter no more.
    predict::model m{predict::curve::through(std::vector<double>{100, 200}, 8).value()};
    nodes.models().set(store::index(id), std::make_shared<const predict::model>(std::move(m)));
    CHECK(status().find("rated") == std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "a dry run says which labels it would give, and to whom") {
    const std::string heat = "telemetry.aware.scheduling.power/heat";
    node("node-a").would_be = {{"power", "violating"}, {heat, "high"}};
    node("node-b").would_be = {{heat, "high"}, {"other", "violating"}};
    CHECK(whole(*policy_list(nodes, {}, 100)).find("wouldLabel") == std::string::npos);
    set_policy(policy::mode::dry_run);
    CHECK(
        whole(*policy_list(nodes, {}, 1))
            .find(
                R"(],"labels":[],"wouldLabel":[{"label":"power=violating","count":1,"nodes":["node-a"]},)"
                R"({"label":"telemetry.aware.scheduling.power/heat=high","count":2,"nodes":["node-a"]}]})") !=
        std::string::npos);
    node("node-a").would_be.erase(heat);
    node("node-b").would_be.clear();
    CHECK(whole(*labels_json(nodes)) ==
          "{\"nodes\":[{\"node\":\"node-a\",\"labels\":{},\"wouldBe\":{\"power\":\"violating\"}}]}\n");
  }

  TEST_CASE_FIXTURE(house, "many labels take several slices, and a list of them that is full says so") {
    for (int i = 0; i < 30'000; ++i) {
      node("node-a").labels[std::to_string(i)] = "violating";
      node("node-b").labels[std::to_string(i)] = "violating";
    }
    const auto all = labels_json(nodes);
    CHECK(steps_of(*all) == 3);  // one for each of these two nodes
    CHECK(whole(*all).find("omitted") == std::string::npos);
    CHECK(whole(*labels_json(nodes, 100'000)).ends_with("}}],\"omitted\":1}\n"));
  }

  TEST_CASE_FIXTURE(house, "labels are listed for the nodes that have some, and for their policy") {
    CHECK(whole(*labels_json(nodes)) == "{\"nodes\":[]}\n");
    node("node-b").labels["power"] = "violating";
    CHECK(whole(*labels_json(nodes)) ==
          "{\"nodes\":[{\"node\":\"node-b\",\"labels\":{\"power\":\"violating\"}}]}\n");
    node("node-b").labels["other"] = "violating";
    CHECK(whole(*policy_list(nodes, {}, 100))
              .find(R"("labels":[{"label":"power=violating","count":1,"nodes":["node-b"]}]})") !=
          std::string::npos);
  }
}

}  // namespace ops_json_test
