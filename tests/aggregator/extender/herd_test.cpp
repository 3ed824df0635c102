#include "aggregator/decision/explain.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <map>

namespace herd_test {

using namespace binnacle;
using namespace binnacle::test;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> all_nodes = {"node-a", "node-b", "node-c", "node-d"};

/// 20, 24, 28 and 60 W: scores 10, 9, 8 and 0.
struct herd_fleet : fleet {
  explicit herd_fleet(policy::herd_damping damping = policy::herd_damping::enabled) {
    measure();
    policy::policy p;
    p.key = {"default", "power"};
    p.damping = damping;
    p.strategies.push_back(scheduleonmetric(rule("watts", policy::comparison::less_than, 0)));
    publish(p);
  }
  void measure() {
    const std::int64_t watts[] = {20, 24, 28, 60};
    for (std::size_t i = 0; i < 4; ++i) value(all_nodes[i], "watts", {watts[i], 0}, 0ms);
  }
  std::map<std::string, int> scores_for(const std::string& name) {
    return prioritize(names_args(pod_json(name, "power"), all_nodes)).scores();
  }
  /// Does what kube-scheduler does: the best score wins. Of equal nodes, the one with the fewest of our pods
  /// wins, as in NodeResourcesFit.
  std::string place(const std::string& pod) {
    std::string best;
    const auto scores = scores_for(pod);
    for (const auto& [node, score] : scores) {
      if (best.empty() || score > scores.at(best) || (score == scores.at(best) && on[node] < on[best]))
        best = node;
    }
    ++on[best];
    now += 5ms;
    return best;
  }
  std::map<std::string, int> on;  // how many pods each node has
};

}  // namespace

TEST_SUITE("aggregator/extender/herd") {
  TEST_CASE("a hundred pods at once spread by what the API server and our own answers say of them") {
    herd_fleet f;
    std::size_t lag = 0;
    SUBCASE("standalone: our answers alone") { lag = 1000; }
    SUBCASE("bindings are told at once") { lag = 0; }
    SUBCASE("bindings are told when five more pods were asked about") { lag = 5; }
    f.face().placed().bindings_followed(lag < 1000);
    std::vector<std::pair<std::string, std::string>> bound;
    for (int i = 0; i < 100; ++i) {
      const std::string pod = "web-" + std::to_string(i);
      bound.emplace_back("8f1e-" + pod, f.place(pod));
      if (bound.size() > lag) {
        const auto& [uid, node] = bound[bound.size() - 1 - lag];
        f.face().placed().bound(uid, node, f.now);
      }
    }
    CHECK(f.on["node-a"] <= 40);
    CHECK(f.on["node-a"] > f.on["node-d"]);
    CHECK(f.on["node-d"] >= 10);
  }

  TEST_CASE("without damping all of them go to the coolest node") {
    herd_fleet f(policy::herd_damping::disabled);
    for (int i = 0; i < 100; ++i) f.place("web-" + std::to_string(i));
    CHECK(f.on == std::map<std::string, int>{{"node-a", 100}});
  }

  TEST_CASE("what every node has counts against none: under a steady stream of pods the values still rank") {
    herd_fleet f;
    for (const std::string& node : all_nodes) {
      for (int i = 0; i < 30; ++i) f.face().placed().bound(node + std::to_string(i), node, f.now);
    }
    f.face().placed().bound("one-more", "node-b", f.now);
    CHECK(f.scores_for("web") ==
          std::map<std::string, int>{{"node-a", 10}, {"node-b", 8}, {"node-c", 8}, {"node-d", 0}});
  }

  TEST_CASE("a few pods lower a score by a point each, never below 0, until the data shows them") {
    herd_fleet f;
    auto& placed = f.face().placed();
    placed.bindings_followed(true);
    for (const char* uid : {"u1", "u2", "u3"}) placed.bound(uid, "node-a", f.now);
    placed.bound("u4", "node-d", f.now);
    placed.bound("u5", "elsewhere", f.now);
    const std::map<std::string, int> damped{{"node-a", 7}, {"node-b", 9}, {"node-c", 8}, {"node-d", 0}};
    CHECK(f.scores_for("web") == damped);
    for (const char* uid : {"u1", "u2", "u3"}) placed.ready(uid, true, f.now);
    f.now += 11s;
    CHECK(
        f.scores_for("web") ==
        std::map<std::string, int>{{"node-a", 0}, {"node-b", 0}, {"node-c", 0}, {"node-d", 0}});  // all stale
    f.measure();
    const std::map<std::string, int> seen{{"node-a", 10}, {"node-b", 9}, {"node-c", 8}, {"node-d", 0}};
    CHECK(f.scores_for("web") == seen);
  }

  TEST_CASE("where no node has a value, none is expected to get the pod") {
    herd_fleet f;
    f.now += 60s;  // all stale
    f.scores_for("web");
    CHECK(f.face().placed().size() == 0);
    f.value("node-d", "watts", {60, 0}, 0ms);
    f.scores_for("web");
    REQUIRE(f.face().placed().size() == 1);
    CHECK(f.face().placed().crowds(f.now).at(0).node == "node-d");
  }

  TEST_CASE("the decision says what was taken off") {
    herd_fleet f;
    f.face().placed().bound("u1", "node-a", f.now);
    f.face().placed().bound("u2", "node-a", f.now);
    f.scores_for("web");
    const auto& r = *f.decisions.find({}).at(0);
    CHECK(r.candidates[0].score == 8);
    CHECK(r.candidates[0].crowd == 2);
    CHECK(decision::sentence(r, 0, "node-a") ==
          "node-a scores 8: watts 20, read 0ms ago, less 2 for pods just placed there, whose load it does "
          "not show "
          "yet");
    const auto json = boost::json::parse(decision::to_json(r, f.decisions.names()));
    CHECK(json.at("nodes").at(1).at("crowd").as_int64() == 2);
    CHECK_FALSE(json.at("nodes").at(0).as_object().contains("crowd"));
  }

  TEST_CASE("TAS's order is damped alike, and a dry run expects nothing") {
    herd_fleet f;
    f.settings.scores = extender::score_mode::rank;
    f.face().placed().bound("u1", "node-a", f.now);
    f.face().placed().bound("u2", "node-a", f.now);
    CHECK(f.scores_for("web")["node-a"] == 8);
    policy::policy p;
    p.key = {"default", "power"};
    p.how = policy::mode::dry_run;
    p.strategies.push_back(fleet::scheduleonmetric(fleet::rule("watts", policy::comparison::less_than, 0)));
    f.publish(p);
    const std::size_t before = f.face().placed().size();
    f.scores_for("other");
    CHECK(f.face().placed().size() == before);
  }
}

}  // namespace herd_test
