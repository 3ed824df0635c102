#include "aggregator/decision/explain.hpp"

#include "tests/aggregator/decision/sample_record.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

namespace explain_test {

using namespace binnacle;
using namespace binnacle::decision;
using namespace binnacle::test;

namespace {

record three_nodes() {
  record r = power_record();
  add(r, {store::node_id(0), candidate_outcome::passed, 0, 0}, {seen(412, -1, 410)});
  add(r, {store::node_id(1), candidate_outcome::refused, 0, 0}, {seen(714)});
  add(r, {no_node, candidate_outcome::unknown, 0, 0}, {cell{}});
  r.strangers = {"stranger"};
  return r;
}

}  // namespace

TEST_SUITE("aggregator/decision/explain") {
  TEST_CASE("a decision as JSON, whole: the contract of the ops face and the CLI") {
    record r = three_nodes();
    r.id = 7;
    CHECK(
        to_json(r, letters()) ==
        R"({"id":7,"time":"2026-01-01T00:00:00Z","unixMs":1767225600000,"verb":"filter","outcome":"decided","dryRun":false,"tookUs":310,)"
        R"("pod":{"namespace":"default","name":"web-1","uid":"u-1"},"wantedPolicy":"power-policy",)"
        R"("policy":{"namespace":"default","name":"power-policy","revision":3,"mode":"Enforce","logicalOperator":"anyOf"},)"
        R"("rules":[{"rule":"rapl_power_watts GreaterThan 60","metric":"rapl_power_watts","operator":"GreaterThan","target":60,"refused":1}],)"
        R"("candidates":3,"passed":2,"refused":1,"unknown":1,"oldestMs":410,)"
        R"("summary":"filter for pod default/web-1, policy default/power-policy revision 3: 2 of 3 nodes pass, 1 of them unknown to this aggregator",)"
        R"("nodes":[{"node":"node-b","verdict":"refused","rule":0,)"
        R"x("text":"node-b refused: rapl_power_watts 71.4 > 60 (11.4 over), read 180ms ago",)x"
        R"("values":[{"value":71.4,"margin":11.4,"ageMs":180}]},)"
        R"x({"node":"node-a","verdict":"passed","text":"node-a passes: rapl_power_watts 41.2 (18.8 below the target 60), read 410ms ago",)x"
        R"("values":[{"value":41.2,"margin":-18.8,"ageMs":410}]},)"
        R"({"node":"stranger","verdict":"unknown","text":"stranger passes: no agent of that name has been seen","values":[]}],"nodesOmitted":0})");
  }

  TEST_CASE("lines for people: a headline, the refused first") {
    const auto lines = to_text(three_nodes(), letters());
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] ==
          "2026-01-01T00:00:00Z filter for pod default/web-1, policy default/power-policy revision 3: 2 of 3 "
          "nodes pass, 1 of them unknown to this aggregator");
    CHECK(lines[1] == "node-b refused: rapl_power_watts 71.4 > 60 (11.4 over), read 180ms ago");
    CHECK(lines[2] == "node-a passes: rapl_power_watts 41.2 (18.8 below the target 60), read 410ms ago");
    CHECK(lines[3] == "stranger passes: no agent of that name has been seen");
  }

  TEST_CASE("a large decision is summed up, and listed whole on request") {
    record r = power_record();
    for (int i = 0; i < 5000; ++i) {
      add(r,
          {store::node_id(i % 26), i % 1000 == 999 ? candidate_outcome::refused : candidate_outcome::passed,
           0, 0},
          {seen(412)});
    }
    explain_options few;
    few.nodes = 10;
    const auto json = boost::json::parse(to_json(r, letters(), few)).as_object();
    CHECK(json.at("nodes").as_array().size() == 10);
    CHECK(json.at("nodes").as_array()[4].at("verdict") == "refused");
    CHECK(json.at("nodes").as_array()[5].at("verdict") == "passed");
    CHECK(json.at("nodesOmitted") == 4990);
    CHECK(to_text(r, letters(), few).back() == "and 4990 more nodes");
    explain_options everything;
    everything.all = true;
    CHECK(boost::json::parse(to_json(r, letters(), everything)).at("nodes").as_array().size() == 5000);
    explain_options one;
    one.node = "node-b";
    CHECK(to_text(r, letters(), one).size() == 1 + 193);
  }

  TEST_CASE("prioritize lists the best first") {
    record r = power_record();
    r.what = verb::prioritize;
    add(r, {store::node_id(0), candidate_outcome::scored, 3, 0}, {seen(650)});
    add(r, {store::node_id(1), candidate_outcome::scored, 10, 0}, {seen(412)});
    add(r, {store::node_id(2), candidate_outcome::unscored, 0, 0}, {absent(absence::stale)});
    const auto lines = to_text(r, letters());
    CHECK(lines[0] ==
          "2026-01-01T00:00:00Z prioritize for pod default/web-1, policy default/power-policy revision 3: 3 "
          "nodes scored");
    CHECK(lines[1] == "node-b scores 10: rapl_power_watts 41.2, read 180ms ago");
    CHECK(lines[3] == "node-c scores 0: rapl_power_watts has no value (stale)");
    const auto node = boost::json::parse(to_json(r, letters())).at("nodes").as_array().at(2).as_object();
    CHECK(node.at("score") == 0);
    CHECK(node.at("values").as_array().at(0).as_object().at("absent") == "stale");
    CHECK_FALSE(node.contains("rule"));
  }

  TEST_CASE("preempt says how many of the full nodes may evict pods, and why not the others") {
    record r = three_nodes();
    r.what = verb::preempt;
    CHECK(summary(r) ==
          "preempt for pod default/web-1, policy default/power-policy revision 3: kube-scheduler may evict "
          "pods at 2 of 3 full nodes, 1 of them unknown to this aggregator");
    CHECK(to_text(r, letters()).at(1).find("node-b refused: rapl_power_watts 71.4 > 60") == 0);
    const auto json = boost::json::parse(to_json(r, letters())).as_object();
    CHECK(json.at("verb") == "preempt");
    CHECK(json.at("passed") == 2);
    CHECK_FALSE(json.at("nodes").as_array().at(0).as_object().contains("score"));
  }

  TEST_CASE("what passed everybody says why") {
    record r = power_record();
    r.policy = nullptr;
    r.asked = 3;
    struct {
      outcome how;
      verb what;
      std::string_view text;
    } const table[] = {
        {outcome::no_label, verb::filter,
         "filter for pod default/web-1: no label telemetry-policy, so all nodes pass"},
        {outcome::no_label, verb::prioritize,
         "prioritize for pod default/web-1: no label telemetry-policy, so no scores"},
        {outcome::no_label, verb::preempt,
         "preempt for pod default/web-1: no label telemetry-policy, so kube-scheduler may evict pods at any "
         "node"},
        {outcome::no_policy, verb::filter,
         "filter for pod default/web-1: no policy power-policy in namespace default, so all nodes pass"},
        {outcome::no_strategy, verb::filter,
         "filter for pod default/web-1: policy default/power-policy has no dontschedule rules, so all nodes "
         "pass"},
    };
    for (const auto& row : table) {
      r.how = row.how;
      r.what = row.what;
      CHECK(summary(r) == row.text);
      const auto json = boost::json::parse(to_json(r, letters())).as_object();
      CHECK(json.at("policy").is_null());
      CHECK(json.at("rules").as_array().empty());
      CHECK(json.at("nodes").as_array().empty());
      CHECK(json.at("passed") == 3);
      CHECK(json.at("nodesOmitted") == 3);
    }
    r = three_nodes();
    r.how = outcome::no_data;
    CHECK(summary(r).find("no telemetry for any of these nodes yet") != std::string::npos);
  }

  TEST_CASE("DryRun: all pass, and how many would not") {
    record r = three_nodes();
    auto facts = power_facts();
    facts->how = policy::mode::dry_run;
    r.policy = facts;
    CHECK(summary(r).find("3 of 3 nodes pass (DryRun: 1 would be refused)") != std::string::npos);
    const auto json = boost::json::parse(to_json(r, letters())).as_object();
    CHECK(json.at("dryRun") == true);
    CHECK(json.at("passed") == 3);
    CHECK(json.at("refused") == 1);
  }

  TEST_CASE("names with quotes stay inside their JSON strings") {
    record r = power_record("po\"d\\");
    add(r, {no_node, candidate_outcome::unknown, 0, 0}, {cell{}});
    r.strangers = {"st\"range\n"};
    const auto json = boost::json::parse(to_json(r, letters())).as_object();
    CHECK(json.at("pod").at("name") == "po\"d\\");
    CHECK(json.at("nodes").as_array().at(0).at("node") == "st\"range\n");
  }
}

}  // namespace explain_test
