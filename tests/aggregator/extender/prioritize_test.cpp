#include "aggregator/decision/explain.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <doctest/doctest.h>

namespace prioritize_test {

using namespace binnacle;
using namespace binnacle::test;

namespace {

/// The power demo's values: 72.133, 40.821 and 51.774 %; policy default/power: less is better.
struct demo_fleet : fleet {
  explicit demo_fleet(policy::mode how = policy::mode::enforce,
                      policy::comparison op = policy::comparison::less_than) {
    value("node-a", "package_power_avg", {72133, -3});
    value("node-b", "package_power_avg", {40821, -3});
    value("node-c", "package_power_avg", {51774, -3});
    node("node-d");
    policy::policy p;
    p.key = {"default", "power"};
    p.how = how;
    p.strategies.push_back(scheduleonmetric(rule("package_power_avg", op, 0)));
    publish(p);
  }
};

std::string body_for(const std::string& policy,
                     const std::vector<std::string>& names = {"node-a", "node-b", "node-c"}) {
  return names_args(pod_json("web-1", policy), names);
}

}  // namespace

TEST_SUITE("aggregator/extender/prioritize") {
  TEST_CASE("scores follow the values, in the order of the request, both forms alike") {
    demo_fleet f;
    const std::string scores =
        R"([{"Host":"node-a","Score":0},{"Host":"node-b","Score":10},{"Host":"node-c","Score":7}])";
    const auto answer = f.prioritize(body_for("power"));
    CHECK(answer.status == 200);
    CHECK(answer.body == scores);
    CHECK(answer.outcome == "decided");
    CHECK(f.prioritize(nodes_args(pod_json("web-1", "power"),
                                  {node_json("node-a"), node_json("node-b"), node_json("node-c")}),
                       11)
              .body == scores);
  }

  TEST_CASE("a name that comes twice is one host, in both forms") {
    demo_fleet f;
    const std::string once = R"([{"Host":"node-a","Score":0},{"Host":"node-b","Score":10}])";
    CHECK(f.prioritize(body_for("power", {"node-a", "node-b", "node-a", "node-b"})).body == once);
    const std::string a = node_json("node-a"), b = node_json("node-b");
    CHECK(f.prioritize(nodes_args(pod_json("web-1", "power"), {a, a, b}), 50).body == once);
  }

  TEST_CASE(
      "a node that lies about its value is clamped, and the record, the sentence and the counters say so") {
    fleet f;
    std::vector<std::string> names;
    for (int i = 0; i < 30; ++i) {
      names.push_back("node-" + std::to_string(i));
      f.value(names.back(), "package_power_avg", {100 + i, 0});
    }
    names.push_back("liar");
    f.value("liar", "package_power_avg", {5'000, 0});
    policy::policy p;
    p.key = {"default", "power"};
    p.strategies.push_back(
        fleet::scheduleonmetric(fleet::rule("package_power_avg", policy::comparison::less_than, 0)));
    f.publish(p);
    CHECK(f.prioritize(body_for("power", names)).outcome == "decided");
    const auto r = f.decisions.find({}).at(0);
    CHECK(r->candidates[30].value == decision::standing::beyond);
    CHECK(r->candidates[0].value == decision::standing::usual);
    CHECK(r->candidates[0].score >= r->candidates[29].score + 3);
    CHECK(decision::sentence(*r, 30, "liar").find("far outside the other nodes' range") != std::string::npos);
    CHECK(f.face().stats().beyond == 1);
    CHECK(f.face().stats().last_beyond.node == "liar");
  }

  TEST_CASE("a value that cannot be gives no score, and the record, the sentence and the counters say so") {
    for (const auto how : {extender::score_mode::value, extender::score_mode::rank}) {
      demo_fleet f;
      f.settings.scores = how;
      f.value("node-c", "package_power_avg", {-1, 0});
      CHECK(
          f.prioritize(body_for("power")).body ==
          (how == extender::score_mode::value
               ? R"([{"Host":"node-a","Score":0},{"Host":"node-b","Score":10},{"Host":"node-c","Score":0}])"
               : R"([{"Host":"node-a","Score":9},{"Host":"node-b","Score":10},{"Host":"node-c","Score":0}])"));
      const auto* r = f.decisions.find({}).at(0);
      CHECK(r->candidates[2].what == decision::candidate_outcome::unscored);
      CHECK(r->candidates[2].value == decision::standing::implausible);
      CHECK(
          decision::sentence(*r, 2, "node-c")
              .starts_with("node-c scores 0: package_power_avg says -1, which cannot be (the least is 0, the "
                           "most 10000), read "));
      CHECK(decision::to_json(*r, f.decisions.names()).find(R"("implausible":true)") != std::string::npos);
      CHECK(f.face().stats().implausible == 1);
      CHECK(f.face().stats().last_implausible.node == "node-c");
    }
  }

  TEST_CASE("--score=rank gives the order of TAS") {
    demo_fleet f;
    f.settings.scores = extender::score_mode::rank;
    CHECK(f.prioritize(body_for("power")).body ==
          R"([{"Host":"node-a","Score":8},{"Host":"node-b","Score":10},{"Host":"node-c","Score":9}])");
  }

  TEST_CASE("a candidate without a fresh value is listed with 0") {
    demo_fleet f;
    f.value("node-c", "package_power_avg", {1, 0}, std::chrono::seconds(11));
    CHECK(
        f.prioritize(body_for("power", {"node-a", "node-b", "node-c", "node-d", "stranger"})).body ==
        R"([{"Host":"node-a","Score":0},{"Host":"node-b","Score":10},{"Host":"node-c","Score":0},{"Host":"node-d","Score":0},{"Host":"stranger","Score":0}])");
    const auto* r = f.decisions.find({}).at(0);
    CHECK(r->what == decision::verb::prioritize);
    CHECK(r->candidates[1].score == 10);
    CHECK(r->candidates[1].what == decision::candidate_outcome::scored);
    CHECK(r->candidates[2].what == decision::candidate_outcome::unscored);
    CHECK(r->cells[2].reason == absence::stale);
  }

  TEST_CASE("a node whose hottest sensor is gone is not preferred for looking cool") {
    const std::string with_c =
        R"([{"Host":"node-a","Score":0},{"Host":"node-b","Score":8},{"Host":"node-c","Score":10}])";
    const std::string without_c =
        R"([{"Host":"node-a","Score":0},{"Host":"node-b","Score":10},{"Host":"node-c","Score":0}])";
    demo_fleet f;
    const auto now = std::chrono::milliseconds(180);
    for (const bool listed : {true, false}) {
      CAPTURE(listed);
      f.decisions = decision::ring({.bytes = listed ? std::size_t{32} << 20 : 0});
      f.value("node-c", "package_power_avg", {35, 0}, now, store::certainty::at_most);
      CHECK(f.prioritize(body_for("power")).body == with_c);
      f.value("node-c", "package_power_avg", {35, 0}, now, store::certainty::at_least);
      CHECK(f.prioritize(body_for("power")).body == without_c);
    }
  }

  TEST_CASE("a rule's staleAfter replaces the metric's own") {
    demo_fleet f;
    policy::policy p;
    p.key = {"default", "strict"};
    auto strict = fleet::rule("package_power_avg", policy::comparison::less_than, 0);
    strict.stale_after = std::chrono::milliseconds(100);
    p.strategies.push_back(fleet::scheduleonmetric(strict));
    f.publish(p);
    f.value("node-a", "package_power_avg", {72133, -3}, std::chrono::milliseconds(50));
    CHECK(f.prioritize(body_for("strict")).body ==
          R"([{"Host":"node-a","Score":10},{"Host":"node-b","Score":0},{"Host":"node-c","Score":0}])");
  }

  TEST_CASE("nothing to score by: an empty list and the reason") {
    demo_fleet f;
    policy::policy no_scores;
    no_scores.key = {"default", "filter-only"};
    no_scores.strategies.push_back(
        fleet::dontschedule({fleet::rule("package_power_avg", policy::comparison::greater_than, 60)}));
    f.publish(no_scores);
    struct {
      const char *policy, *outcome;
    } const table[] = {{"", "no_label"}, {"unheard-of", "no_policy"}, {"filter-only", "no_strategy"}};
    for (const auto& row : table) {
      CAPTURE(row.policy);
      const auto answer = f.prioritize(body_for(row.policy));
      CHECK(answer.status == 200);
      CHECK(answer.body == "[]");
      CHECK(answer.outcome == row.outcome);
    }
    CHECK(f.prioritize(body_for("power", {})).body == "[]");
  }

  TEST_CASE("DryRun gives no score and records those it would have given") {
    demo_fleet f(policy::mode::dry_run);
    CHECK(f.prioritize(body_for("power")).body == "[]");
    CHECK(f.decisions.find({}).at(0)->candidates.at(1).score == 10);
  }

  TEST_CASE("no data at all: zeros for all, and said so") {
    demo_fleet f;
    f.now += std::chrono::seconds(60);
    const auto answer = f.prioritize(body_for("power"));
    CHECK(answer.outcome == "no_data");
    CHECK(answer.body ==
          R"([{"Host":"node-a","Score":0},{"Host":"node-b","Score":0},{"Host":"node-c","Score":0}])");
  }
}

}  // namespace prioritize_test
