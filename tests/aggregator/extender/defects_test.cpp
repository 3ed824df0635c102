// The defects that TAS has in its extender must not come back. Each case says which one it tests; the numbers
// are only names.
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

namespace defects_test {

using namespace binnacle;
using namespace binnacle::test;

namespace {

policy::policy both_strategies(policy::comparison score_by = policy::comparison::less_than) {
  policy::policy p;
  p.key = {"default", "power"};
  p.strategies.push_back(fleet::dontschedule({fleet::rule("watts", policy::comparison::greater_than, 60)}));
  p.strategies.push_back(fleet::scheduleonmetric(fleet::rule("watts", score_by, 50)));
  return p;
}

/// node-00 with 10 W, node-01 with 11 W…
std::vector<std::string> some_nodes(fleet& f, int n) {
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) {
    names.push_back(fmt::format("node-{:02}", i));
    f.value(names.back(), "watts", {10 + i, 0});
  }
  return names;
}

boost::json::value json(const fleet_answer& a) { return boost::json::parse(a.body); }

}  // namespace

TEST_SUITE("aggregator/extender/defects") {
  TEST_CASE("defect_1_no_empty_name_in_NodeNames") {
    fleet f;
    const auto names = some_nodes(f, 3);
    f.publish(both_strategies());
    const auto list = json(f.filter(names_args(pod_json("p", "power"), names))).at("NodeNames").as_array();
    CHECK(list.size() == 3);
    for (const auto& name : list) CHECK_FALSE(name.as_string().empty());
  }

  TEST_CASE("defect_2_the_refusal_names_policy_and_rule_and_is_the_same_for_every_node") {
    fleet f;
    f.value("x", "watts", {70, 0});
    f.value("y", "watts", {80, 0});
    f.publish(both_strategies());
    const auto failed = json(f.filter(names_args(pod_json("p", "power"), {"x", "y"})))
                            .at("FailedAndUnresolvableNodes")
                            .as_object();
    CHECK(failed.at("x") == "policy default/power: watts GreaterThan 60 (dontschedule)");
    CHECK(failed.at("x") == failed.at("y"));
  }

  TEST_CASE("defect_3_bad_input_gets_4xx_with_a_sentence_never_an_empty_200") {
    fleet f;
    f.publish(both_strategies());
    for (const std::string_view body : {"", "   ", "not json", "[]", "null", "17", "{", "{}",
                                        R"({"Pod":{},"Nodes":null})", R"({"Pod":{},"Nodes":[]})"}) {
      CAPTURE(body);
      for (const auto& answer : {f.filter(body), f.prioritize(body)}) {
        CHECK(answer.status == 400);
        CHECK_FALSE(json(answer).at("Error").as_string().empty());
      }
      CHECK(json(f.filter(body)).as_object().size() == 5);
    }
    CHECK(f.face().stats().of(decision::verb::filter).bad_request == 20);
  }

  TEST_CASE("defect_4_a_request_without_Pod_is_refused_not_a_crash") {
    fleet f;
    for (const std::string_view body :
         {R"({"Pod":null,"Nodes":{"items":[{"metadata":{"name":"a"}}]}})",
          R"({"Nodes":{"items":[{"metadata":{"name":"a"}}]}})", R"({"NodeNames":["a"]})"}) {
      CAPTURE(body);
      CHECK(f.filter(body).status == 400);
      CHECK(f.prioritize(body).status == 400);
    }
  }

  TEST_CASE("defect_5_a_pod_without_policy_is_200_in_both_verbs") {
    fleet f;
    const auto body = names_args(pod_json("p", ""), some_nodes(f, 3));
    CHECK(f.filter(body).status == 200);
    CHECK(f.prioritize(body).status == 200);
  }

  TEST_CASE("defect_6_a_removed_strategy_stops_acting_at_once") {
    fleet f;
    f.value("x", "watts", {70, 0});
    auto p = both_strategies();
    f.publish(p);
    const auto body = names_args(pod_json("p", "power"), {"x"});
    CHECK(json(f.filter(body)).at("NodeNames").as_array().empty());
    p.strategies.erase(p.strategies.begin());
    f.publish(p);
    CHECK(f.filter(body).outcome == "no_strategy");
    f.unpublish(p.key);
    CHECK(f.filter(body).outcome == "no_policy");
  }

  TEST_CASE("defect_7_policies_of_one_name_in_two_namespaces_are_two") {
    fleet f;
    f.value("x", "watts", {70, 0});
    auto p = both_strategies();
    f.publish(p);
    p.key.name_space = "lenient";
    p.strategies[0].rules[0].target = from_integer(90);
    f.publish(p);
    CHECK(json(f.filter(names_args(pod_json("p", "power"), {"x"}))).at("NodeNames").as_array().empty());
    CHECK(json(f.filter(names_args(pod_json("p", "power", "lenient"), {"x"})))
              .at("NodeNames")
              .as_array()
              .size() == 1);
  }

  TEST_CASE("defect_19_scores_stay_within_0_and_10_past_eleven_nodes_and_unscored_ones_do_not_win") {
    for (const auto mode : {extender::score_mode::value, extender::score_mode::rank}) {
      fleet f;
      f.settings.scores = mode;
      auto names = some_nodes(f, 30);
      names.push_back("stranger");
      f.publish(both_strategies());
      const auto scores = json(f.prioritize(names_args(pod_json("p", "power"), names))).as_array();
      REQUIRE(scores.size() == 31);
      for (const auto& s : scores) {
        CHECK(s.at("Score").as_int64() >= 0);
        CHECK(s.at("Score").as_int64() <= 10);
        CHECK(s.at("Score").as_int64() >= scores.back().at("Score").as_int64());
      }
      CHECK(scores.front().at("Score") == 10);
    }
  }

  TEST_CASE("defect_20_Equals_scores_the_same_at_every_call") {
    fleet f;
    const auto names = some_nodes(f, 30);
    f.publish(both_strategies(policy::comparison::equals));
    const auto body = names_args(pod_json("p", "power"), names);
    const auto first = f.prioritize(body).body;
    for (int i = 0; i < 5; ++i) CHECK(f.prioritize(body).body == first);
  }

  TEST_CASE("defect_22_a_charset_in_the_content_type_is_accepted_and_others_are_415") {
    fleet f;
    const auto body = names_args(pod_json("p", ""), some_nodes(f, 1));
    struct {
      const char* type;
      unsigned status;
    } const table[] = {{"application/json", 200},
                       {"application/json; charset=utf-8", 200},
                       {"Application/JSON ;charset=UTF-8", 200},
                       {"text/plain", 415},
                       {"application/x-www-form-urlencoded", 415},
                       {"application/vnd.kubernetes.protobuf", 415},
                       {"", 415}};
    for (const auto& row : table) {
      CAPTURE(row.type);
      f.request.headers = {{"content-type", row.type}};
      CHECK(f.filter(body).status == row.status);
      CHECK(f.prioritize(body).status == row.status);
    }
    f.request.headers = {};
    CHECK(f.filter(body).status == 200);
    f.request.headers = {{"content-encoding", "gzip"}};
    CHECK(f.filter(body).status == 415);
  }

  TEST_CASE("the nodeCacheCapable form works, which TAS answers with an empty 200") {
    fleet f;
    const auto names = some_nodes(f, 2);
    f.publish(both_strategies());
    CHECK(json(f.filter(names_args(pod_json("p", "power"), names))).at("NodeNames").as_array().size() == 2);
  }
}

}  // namespace defects_test
