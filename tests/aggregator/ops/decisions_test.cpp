#include "aggregator/ops/lists.hpp"
#include "tests/aggregator/decision/sample_record.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace ops_decisions_test {

using namespace binnacle;
using namespace binnacle::ops;

namespace {

struct made {
  std::size_t steps = 1;
  std::string text;
};

made whole(http::slices& work) {
  made out;
  while (work.step()) ++out.steps;
  for (const auto& piece : work.take().body) out.text += piece;
  return out;
}

/// One decision by 64 rules about 1,000 nodes: 64,000 values.
struct wide : decision::ring {
  static constexpr std::size_t nodes = 1'000, rules = 64;

  explicit wide(decision::ring_limits limits = {}) : decision::ring(limits) {
    for (std::size_t i = 0; i < nodes; ++i) names().learn(store::node_id(i), "node-" + std::to_string(i));
  }
  void judge() {
    decision::record r = test::power_record();
    auto facts = test::power_facts();
    const auto rule = facts->rules.front();
    facts->rules.resize(rules, rule);
    r.policy = facts;
    for (std::size_t i = 0; i < nodes; ++i) {
      test::add(r, {store::node_id(i), decision::candidate_outcome::passed, 0, 0},
                std::vector<decision::cell>(rules, test::seen(412)));
    }
    add(std::move(r));
  }
};

const decision::explain_options every_node{.all = true};

}  // namespace

TEST_SUITE("aggregator/ops/decisions") {
  TEST_CASE("a decision with many values takes many slices, and reads as if it were written at once") {
    wide r;
    r.judge();
    const auto work = decision_list(r, {}, every_node);
    const made all = whole(*work);
    CHECK(all.steps > wide::nodes * wide::rules / 600);
    const std::string one = decision::to_json(*r.at(1), r.names(), every_node);
    CHECK((all.text == "{\"decisions\":[" + one + "],\"kept\":1,\"total\":1,\"dropped\":0,\"omitted\":0}\n"));
  }

  TEST_CASE("the answer holds the newest decisions that were asked for, and the ring's counters") {
    decision::ring r({1u << 20, 2});
    for (int i = 0; i < 3; ++i) r.add(test::power_record());
    const auto work = decision_list(r, {.limit = 1}, {});
    const auto answer = boost::json::parse(whole(*work).text).as_object();
    CHECK(answer.at("decisions").as_array().size() == 1);
    CHECK(answer.at("decisions").as_array()[0].at("id") == 3);
    CHECK(answer.at("kept") == 2);
    CHECK(answer.at("total") == 3);
    CHECK(answer.at("dropped") == 1);
    const decision::ring none;
    CHECK(boost::json::parse(whole(*decision_list(none, {}, {})).text).at("decisions").as_array().empty());
  }

  TEST_CASE("a node that no decision has is not looked for among two million candidates in one slice") {
    decision::ring r;
    for (int i = 0; i < 20; ++i) {
      decision::record one;
      one.candidates.resize(100'000, {store::node_id(0), decision::candidate_outcome::passed, 0, 0});
      r.add(std::move(one));
    }
    const auto work = decision_list(r, {.node = "nosuch", .limit = 1}, {.node = "nosuch"});
    const made none = whole(*work);
    CHECK(none.steps >= 8);
    CHECK(none.text == "{\"decisions\":[],\"kept\":20,\"total\":20,\"dropped\":0,\"omitted\":0}\n");
  }

  TEST_CASE("an answer that is full says which of its decisions is cut, and how many are left out") {
    wide r;
    for (int i = 0; i < 3; ++i) r.judge();
    const auto work = decision_list(r, {}, every_node, 100'000);
    const auto answer = boost::json::parse(whole(*work).text).as_object();
    CHECK(answer.at("omitted") == 2);
    const auto& cut = answer.at("decisions").as_array().at(0).as_object();
    CHECK(answer.at("decisions").as_array().size() == 1);
    CHECK(cut.at("cut") == true);
    CHECK(cut.at("nodesOmitted") == wide::nodes - cut.at("nodes").as_array().size());
    CHECK(cut.at("nodes").as_array().size() > 1);
  }

  TEST_CASE("a decision that makes room for a new one while it is written is cut there") {
    wide r({32u << 20, 1});
    r.judge();
    const auto work = decision_list(r, {}, every_node);
    for (int i = 0; i < 10; ++i) REQUIRE(work->step());
    r.judge();
    const auto answer = boost::json::parse(whole(*work).text).as_object();
    const auto& cut = answer.at("decisions").as_array().at(0).as_object();
    CHECK(cut.at("id") == 1);
    CHECK(cut.at("cut") == true);
    CHECK(cut.at("nodes").as_array().size() < wide::nodes);
    CHECK(answer.at("omitted") == 0);
  }
}

}  // namespace ops_decisions_test
