#include "aggregator/decision/explain.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

namespace extender_preempt_test {

using namespace binnacle;
using namespace binnacle::test;

namespace {

/// With policy default/scores, which has no dontschedule.
struct full_fleet : watts_fleet {
  explicit full_fleet(policy::mode how = policy::mode::enforce,
                      policy::missing on_missing = policy::missing::allow)
      : watts_fleet(how, on_missing) {
    policy::policy q;
    q.key = {"default", "scores"};
    q.strategies.push_back(scheduleonmetric(rule("rapl_power_watts", policy::comparison::less_than, 0)));
    publish(q);
  }
};

const eviction at_a{"node-a", {"v1", "v2"}, 1}, at_b{"node-b", {"v3"}, 0}, at_c{"node-c", {"v4"}, 0};
const std::vector<eviction> abc{at_a, at_b, at_c};

std::string answer_with(const std::vector<eviction>& of) {
  return R"({"NodeNameToMetaVictims":)" + meta_victims(of) + "}";
}

std::string meta_for(const std::string& policy, const std::vector<eviction>& of = abc) {
  return meta_victims_args(pod_json("web-1", policy), of);
}

/// A call with the Pod of `power`, and with `members` besides.
std::string with(const std::string& members) {
  return R"({"Pod":)" + pod_json("web-1", "power") + ',' + members + '}';
}

}  // namespace

TEST_SUITE("aggregator/extender/preempt") {
  TEST_CASE("the node that the policy refuses leaves the map; victims and PDB violations are echoed") {
    full_fleet f;
    const auto answer = f.preempt(meta_for("power"));
    CHECK(answer.status == 200);
    CHECK(answer.body == answer_with({at_a, at_c}));
    CHECK(answer.outcome == "decided");
  }

  TEST_CASE("victims that come as whole Pods go back as UIDs") {
    full_fleet f;
    CHECK(f.preempt(victims_args(pod_json("web-1", "power"), abc)).body == answer_with({at_a, at_c}));
  }

  TEST_CASE("the answer is the same wherever the body is cut") {
    full_fleet f;
    const std::string meta = meta_for("power"), whole = victims_args(pod_json("web-1", "power"), abc);
    for (const std::size_t piece : {1, 2, 3, 7, 64, 1000}) {
      CAPTURE(piece);
      CHECK(f.preempt(meta, piece).body == answer_with({at_a, at_c}));
      CHECK(f.preempt(whole, piece).body == answer_with({at_a, at_c}));
    }
  }

  TEST_CASE("where no policy refuses, the map goes back as it came") {
    full_fleet f;
    struct {
      const char* policy;
      const char* outcome;
    } const table[] = {{"", "no_label"}, {"absent", "no_policy"}, {"scores", "no_strategy"}};
    for (const auto& row : table) {
      CAPTURE(row.policy);
      const auto answer = f.preempt(meta_for(row.policy));
      CHECK(answer.status == 200);
      CHECK(answer.body == answer_with(abc));
      CHECK(answer.outcome == row.outcome);
    }
    full_fleet tries(policy::mode::dry_run);
    CHECK(tries.preempt(meta_for("power")).body == answer_with(abc));
    CHECK(tries.face().stats().dry_run_refusals == 1);
  }

  TEST_CASE("missing data refuses if the policy says so, also at a node that nobody knows") {
    full_fleet f(policy::mode::enforce, policy::missing::reject);
    CHECK(f.preempt(meta_for("power", {at_a, at_c, {"stranger", {"v5"}}})).body == answer_with({at_a}));
  }

  TEST_CASE("nobody may be evicted if all nodes are refused, or none came") {
    full_fleet f;
    CHECK(f.preempt(meta_for("power", {at_b})).body == answer_with({}));
    CHECK(f.preempt(meta_for("power", {})).body == answer_with({}));
  }

  TEST_CASE("a node without victims stays, as a list and never as null") {
    full_fleet f;
    const std::string none = answer_with({{"node-a", {}}, {"node-c", {}}});
    CHECK(f.preempt(meta_for("power", {{"node-a", {}}, {"node-b", {}}, {"node-c", {}}})).body == none);
    CHECK(f.preempt(with(R"("NodeNameToMetaVictims":{"node-a":null,"node-b":null,"node-c":{"Pods":null}})"))
              .body == none);
  }

  TEST_CASE("members in any order and case, unknown ones, and text behind the object change nothing") {
    full_fleet f;
    CHECK(
        f.preempt(R"({"future":[{"Pods":1}],"nodenametometavictims":{"node-b":{},)"
                  R"("node-a":{"numpdbviolations":1,"since":{"UID":2},"PODS":[{"uid":"8f1e-v1","kind":"x"},)"
                  R"({"since":[],"UID":"8f1e-v\u0032"}]}},"POD":)" +
                  pod_json("web-1", "power") + "} and more {")
            .body == answer_with({at_a}));
  }

  TEST_CASE("a call that is wrong gets a 400 with one clear sentence") {
    full_fleet f;
    const std::string deep(70, '['), long_name(254, 'n');
    const auto map = [](const std::string& entries) {
      return with(R"("NodeNameToMetaVictims":{)" + entries + '}');
    };
    struct {
      std::string body, sentence;
    } const table[] = {
        {"", "the body is empty: expected ExtenderPreemptionArgs"},
        {"{", "the body ends after 1 bytes in the middle of its JSON"},
        {"nonsense", "the body is not JSON"},
        {"[]", "the body is an array, not an object: expected ExtenderPreemptionArgs"},
        {"null", "the body is null, not an object"},
        {R"({"NodeNameToMetaVictims":{}})", "Pod is null or absent"},
        {R"({"Pod":null,"NodeNameToMetaVictims":{}})", "Pod is null or absent"},
        {R"({"Pod":7})", "Pod is a number, not an object"},
        {with(R"("NodeNameToVictims":null)"), "are both null or absent"},
        {with(R"("NodeNameToVictims":[])"), "NodeNameToVictims is an array, not an object"},
        {with(R"("NodeNameToVictims":{"a":{"Pods":[{"metadata":{"name":"v"}}]}})"),
         "a victim at node a has no UID"},
        {map(R"("a":true)"), "the entry of node a is a boolean, not an object"},
        {map(R"("a":{"Pods":{}})"), "Pods of node a is an object, not an array"},
        {map(R"("a":{"Pods":[null]})"), "a victim at node a is null, not an object"},
        {map(R"("a":{"Pods":[{"UID":""}]})"), "a victim at node a has no UID"},
        {map(R"("a":{"Pods":[{"UID":7}]})"), "the UID of a victim at node a is a number, not a string"},
        {map(R"("a":{"Pods":[{"UID":")" + long_name + R"("}]})"), "is longer than 253 bytes"},
        {map(R"("a":{"NumPDBViolations":1.5})"),
         "NumPDBViolations of node a is a number with a fraction, not a whole number"},
        {map(R"("a":{"NumPDBViolations":9223372036854775808})"), "is a number beyond 64 bits"},
        {map(R"("a":{"Pods":[],"pods":[]})"), "key pods comes twice"},
        {map(R"("a":{"Pods":[{"UID":"1","uid":"2"}]})"), "key uid comes twice"},
        {map(R"("a":{},"a":{})"), "the node a comes twice"},
        {with(R"("NodeNameToVictims":{"a":{}},"NodeNameToMetaVictims":{"a":{}})"), "the node a comes twice"},
        {with(R"("NodeNameToVictims":{},"NodeNameToVictims":{})"), "key NodeNameToVictims comes twice"},
        {map(R"("":{})"), "has an entry without a node's name"},
        {map('"' + long_name + R"(":{})"), "holds a name longer than 253 bytes"},
        {with("\"future\":" + deep), "is nested deeper than 64 levels"},
        {R"({"Pod":{"metadata":{"namespace":7}},"NodeNameToMetaVictims":{}})",
         "the metadata.namespace of Pod is not a string"},
    };
    for (const auto& row : table) {
      CAPTURE(row.body);
      for (const std::size_t piece : {std::size_t(1), std::size_t(65536)}) {
        const auto answer = f.preempt(row.body, piece);
        CHECK(answer.status == 400);
        const auto json = boost::json::parse(answer.body).as_object();
        CHECK(json.at("NodeNameToMetaVictims").is_null());
        const std::string said = json.at("Error").as_string().c_str();
        CAPTURE(said);
        CHECK(said.find(row.sentence) != std::string::npos);
      }
    }
    CHECK(f.face().stats().of(decision::verb::preempt).bad_request == 2 * std::size(table));
  }

  TEST_CASE("a content type that is not JSON gets 415") {
    full_fleet f;
    f.request.headers = {{"content-type", "text/plain"}};
    CHECK(f.preempt(meta_for("power")).status == 415);
    CHECK(f.face().stats().of(decision::verb::preempt).bad_request == 1);
  }

  TEST_CASE("each bound of a call is 413 with the bound in the sentence") {
    full_fleet f;
    std::string sentence, body = meta_for("power");
    SUBCASE("the body") {
      f.settings.limits.bytes = 500;
      sentence = "larger than the limit of 500 bytes";
    }
    SUBCASE("the nodes") {
      f.settings.victims.nodes = 2;
      sentence = "names more than 2 nodes";
    }
    SUBCASE("what is kept of nodes and victims") {
      f.settings.victims.text = 100;
      sentence = "take more than 100 bytes";
    }
    SUBCASE("… as they are answered") {
      f.settings.victims.text = 1500;
      body = meta_victims_args(pod_json("web-1", "power"), {{std::string(250, '\x7f'), {}}});
      sentence = "take more than 1500 bytes";
    }
    const auto answer = f.preempt(body);
    CHECK(answer.status == 413);
    CAPTURE(answer.body);
    CHECK(answer.body.find(sentence) != std::string::npos);
  }

  TEST_CASE("many victims as whole Pods: only their UIDs count against the bound") {
    full_fleet f;
    f.settings.victims.text = 100'000;
    std::vector<eviction> many;
    for (int n = 0; n < 20; ++n) {
      many.push_back({fmt::format("node-{}", n), {}});
      for (int p = 0; p < 100; ++p) many.back().pods.push_back(fmt::format("v-{}-{}", n, p));
    }
    const std::string body = victims_args(pod_json("web-1", "power"), many);
    REQUIRE(body.size() > 10 * f.settings.victims.text);
    const auto answer = f.preempt(body);
    CHECK(answer.status == 200);
    CHECK(answer.body == answer_with(many));
  }

  TEST_CASE("the record and the counters say what was answered") {
    full_fleet f;
    f.preempt(meta_for("power"));
    f.preempt(meta_for(""));
    const auto found = f.decisions.find({.verb = "preempt"});
    REQUIRE(found.size() == 2);
    const decision::record& r = *found[1];
    CHECK(r.what == decision::verb::preempt);
    CHECK(r.asked == 3);
    CHECK(r.refused == 1);
    CHECK(decision::summary(r) ==
          "preempt for pod default/web-1, policy default/power revision 3: kube-scheduler may evict pods at "
          "2 of "
          "3 full nodes");
    CHECK(
        decision::to_text(r, f.decisions.names()).at(1).find("node-b refused: rapl_power_watts 71.4 > 60") ==
        0);
    const auto& c = f.face().stats();
    CHECK(c.of(decision::verb::preempt).answered[static_cast<std::size_t>(decision::outcome::decided)] == 1);
    CHECK(c.of(decision::verb::preempt).answered[static_cast<std::size_t>(decision::outcome::no_label)] == 1);
    CHECK(c.of(decision::verb::preempt).latency_us.count() == 2);
    CHECK(c.candidates[static_cast<std::size_t>(decision::candidate_outcome::refused)] == 1);
    CHECK(c.of(decision::verb::filter).latency_us.count() == 0);
  }
}

}  // namespace extender_preempt_test
