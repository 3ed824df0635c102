#include "aggregator/decision/explain.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

namespace extender_filter_test {

using namespace binnacle;
using namespace binnacle::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr auto over = policy::comparison::greater_than;
constexpr auto under = policy::comparison::less_than;

const std::string power_refusal = "policy default/power: rapl_power_watts GreaterThan 60 (dontschedule)";
const std::vector<std::string> abc{"node-a", "node-b", "node-c"};

std::string names_for(const std::string& policy, const std::vector<std::string>& names = abc) {
  return names_args(pod_json("web-1", policy), names);
}

}  // namespace

TEST_SUITE("aggregator/extender/filter") {
  TEST_CASE("names form: survivors by name, the refused with policy and rule, no node objects") {
    watts_fleet f;
    const auto answer = f.filter(names_for("power"));
    CHECK(answer.status == 200);
    CHECK(
        answer.body ==
        R"({"Nodes":null,"NodeNames":["node-a","node-c"],"FailedNodes":{},"FailedAndUnresolvableNodes":{"node-b":")" +
            power_refusal + R"("},"Error":""})");
    CHECK(answer.outcome == "decided");
  }

  TEST_CASE("verdicts that nobody keeps up any more count as missing data, and the answer says so") {
    const auto heart = std::make_shared<policy::heartbeat>();
    for (const auto on_missing : {policy::missing::allow, policy::missing::reject}) {
      watts_fleet f(policy::mode::enforce, on_missing);
      f.data.set_heartbeat(heart);
      heart->beat(f.now);
      CHECK(f.filter(names_for("power")).body.find(power_refusal) != std::string::npos);
      f.now += seconds(5);
      CHECK(f.filter(names_for("power")).body.find(power_refusal) != std::string::npos);
      f.now += milliseconds(1);
      const auto answer = f.filter(names_for("power", {"node-a", "node-b", "stranger"}));
      if (on_missing == policy::missing::allow) {
        CHECK(answer.body.find(R"("NodeNames":["node-a","node-b","stranger"])") != std::string::npos);
      } else {
        CHECK(answer.body.find(R"("NodeNames":[],)") != std::string::npos);
        CHECK(answer.body.find("policy default/power: nothing is judged any more (dontschedule, onMissing: "
                               "Reject)") != std::string::npos);
      }
      const auto* made = f.decisions.find({.limit = 1}).at(0);
      CHECK(made->judging_stopped);
      CHECK(decision::summary(*made).find("nothing is judged any more (onMissing decides)") !=
            std::string::npos);
      heart->beat(f.now);
      CHECK(f.filter(names_for("power")).body.find(power_refusal) != std::string::npos);
    }
  }

  TEST_CASE("an announced length that is not true changes nothing") {
    watts_fleet f;
    const std::string expected = f.filter(names_for("power")).body;
    for (const char* length : {"0", "1", "4000000000", "99999999999999999999999", "x"}) {
      CAPTURE(length);
      f.request.headers = {{"content-length", length}};
      CHECK(f.filter(names_for("power")).body == expected);
    }
  }

  TEST_CASE("the answer is the same wherever the body is cut") {
    watts_fleet f;
    const std::string names = names_for("power");
    const std::string nodes = nodes_args(pod_json("web-1", "power"),
                                         {node_json("node-a"), node_json("node-b"), node_json("node-c")});
    const std::string names_whole = f.filter(names).body;
    const std::string nodes_whole = f.filter(nodes).body;
    for (const std::size_t piece : {1, 2, 3, 7, 64, 1000}) {
      CAPTURE(piece);
      CHECK(f.filter(names, piece).body == names_whole);
      CHECK(f.filter(nodes, piece).body == nodes_whole);
    }
  }

  TEST_CASE("full form: the bytes of the surviving nodes come back as they were, names do not") {
    watts_fleet f;
    const std::string a = node_json("node-a"), b = node_json("node-b"), c = node_json("node-c");
    const auto answer = f.filter(nodes_args(pod_json("web-1", "power"), {a, b, c}));
    CHECK(answer.status == 200);
    CHECK(answer.body ==
          R"({"Nodes":{"metadata":{},"items":[)" + a + "," + c + R"(]},"NodeNames":null,"FailedNodes":{},)" +
              R"("FailedAndUnresolvableNodes":{"node-b":")" + power_refusal + R"("},"Error":""})");
  }

  TEST_CASE("full form with the Pod behind the nodes gives the same answer") {
    watts_fleet f;
    const std::string nodes =
        fmt::format(R"({{"metadata":{{}},"items":[{},{}]}})", node_json("node-a"), node_json("node-b"));
    const std::string pod = pod_json("web-1", "power");
    const auto first = f.filter(R"({"Pod":)" + pod + R"(,"Nodes":)" + nodes + "}");
    const auto last = f.filter(R"({"Nodes":)" + nodes + R"(,"Pod":)" + pod + "}", 100);
    CHECK(last.status == 200);
    CHECK(last.body == first.body);
  }

  TEST_CASE("all nodes refused: an empty list, not null") {
    watts_fleet f;
    CHECK(f.filter(names_for("power", {"node-b"})).body.find(R"({"Nodes":null,"NodeNames":[],)") == 0);
    CHECK(f.filter(nodes_args(pod_json("p", "power"), {node_json("node-b")}))
              .body.find(R"({"Nodes":{"metadata":{},"items":[]},)") == 0);
  }

  TEST_CASE("empty lists are answered by empty lists") {
    watts_fleet f;
    CHECK(f.filter(names_for("power", {})).body.find(R"({"Nodes":null,"NodeNames":[],)") == 0);
    CHECK(f.filter(nodes_args(pod_json("p", "power"), {}))
              .body.find(R"({"Nodes":{"metadata":{},"items":[]},)") == 0);
    CHECK(f.filter(R"({"Pod":{},"Nodes":{},"NodeNames":null})")
              .body.find(R"({"Nodes":{"metadata":{},"items":[]},)") == 0);
  }

  TEST_CASE("what passes everybody and says why") {
    watts_fleet f;
    policy::policy only_scores;
    only_scores.key = {"default", "scores"};
    only_scores.strategies.push_back(fleet::scheduleonmetric(fleet::rule("rapl_power_watts", under, 0)));
    f.publish(only_scores);
    policy::policy empty_rules;
    empty_rules.key = {"default", "empty"};
    empty_rules.strategies.push_back(fleet::dontschedule({}));
    f.publish(empty_rules);
    struct {
      const char *policy, *outcome;
    } const table[] = {
        {"", "no_label"}, {"unheard-of", "no_policy"}, {"scores", "no_strategy"}, {"empty", "no_strategy"}};
    for (const auto& row : table) {
      CAPTURE(row.policy);
      const auto answer = f.filter(names_for(row.policy));
      CHECK(answer.status == 200);
      CHECK(
          answer.body ==
          R"({"Nodes":null,"NodeNames":["node-a","node-b","node-c"],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
      CHECK(answer.outcome == row.outcome);
      const auto full = f.filter(nodes_args(pod_json("p", row.policy), {node_json("node-b")}));
      CHECK(full.body.find(node_json("node-b")) != std::string::npos);
    }
  }

  TEST_CASE("a policy of another namespace is not the pod's") {
    watts_fleet f;
    const auto other = f.filter(names_args(pod_json("web-1", "power", "elsewhere"), abc));
    CHECK(other.outcome == "no_policy");
    CHECK(
        f.filter(
             R"({"Pod":{"metadata":{"name":"p","labels":{"telemetry-policy":"power"}}},"NodeNames":["node-b"]})")
            .outcome == "decided");
  }

  TEST_CASE("an aggregator without data passes all nodes and says so") {
    SUBCASE("no agent was ever seen") {
      fleet f;
      policy::policy p;
      p.key = {"default", "power"};
      p.strategies.push_back(fleet::dontschedule({fleet::rule("rapl_power_watts", over, 60)}));
      f.publish(p);
      const auto answer = f.filter(names_for("power"));
      CHECK(answer.outcome == "no_data");
      CHECK(answer.body.find(R"("NodeNames":["node-a","node-b","node-c"])") != std::string::npos);
    }
    SUBCASE("all values have aged out") {
      watts_fleet f;
      f.now += seconds(60);
      f.absent("node-c", "rapl_power_watts", absence::missing);  // has the verdicts made anew
      CHECK(f.filter(names_for("power")).outcome == "no_data");
    }
  }

  TEST_CASE("DryRun refuses nobody, and the record shows whom it would have refused") {
    watts_fleet f(policy::mode::dry_run);
    const auto answer = f.filter(names_for("power"));
    CHECK(
        answer.body.find(
            R"("NodeNames":["node-a","node-b","node-c"],"FailedNodes":{},"FailedAndUnresolvableNodes":{})") !=
        std::string::npos);
    const auto* r = f.decisions.find({}).at(0);
    CHECK(r->dry_run());
    CHECK(r->refused == 1);
    CHECK(r->candidates[1].what == decision::candidate_outcome::refused);
    CHECK(f.face().stats().dry_run_refusals == 1);
  }

  TEST_CASE("onMissing: Reject refuses nodes without data, known and unknown, with one text") {
    watts_fleet f(policy::mode::enforce, policy::missing::reject);
    const auto answer = f.filter(names_for("power", {"node-a", "node-c", "stranger"}));
    const std::string why = R"x(:"policy default/power: no data (dontschedule, onMissing: Reject)")x";
    CHECK(answer.body.find(R"("NodeNames":["node-a"],)") != std::string::npos);
    CHECK(answer.body.find(R"({"node-c")" + why + R"(,"stranger")" + why + "}") != std::string::npos);
  }

  TEST_CASE("anyOf names the rule that decided, allOf all of them") {
    fleet f;
    f.value("hot", "temperature", {90, 0});
    f.value("hot", "free_ram", {500, 0});
    f.value("full", "temperature", {70, 0});
    f.value("full", "free_ram", {100, 0});
    f.value("both", "temperature", {90, 0});
    f.value("both", "free_ram", {100, 0});
    for (const auto op : {policy::logic::any_of, policy::logic::all_of}) {
      policy::policy p;
      p.key = {"default", op == policy::logic::any_of ? "any" : "all"};
      p.strategies.push_back(fleet::dontschedule(
          {fleet::rule("temperature", over, 80), fleet::rule("free_ram", under, 200)}, op));
      f.publish(p);
    }
    const std::vector<std::string> nodes{"hot", "full", "both"};
    CHECK(f.filter(names_for("any", nodes))
              .body.find(R"x({"hot":"policy default/any: temperature GreaterThan 80 (dontschedule)",)x"
                         R"x("full":"policy default/any: free_ram LessThan 200 (dontschedule)",)x"
                         R"x("both":"policy default/any: temperature GreaterThan 80 (dontschedule)"})x") !=
          std::string::npos);
    CHECK(
        f.filter(names_for("all", nodes))
            .body.find(
                R"x({"both":"policy default/all: temperature GreaterThan 80 and free_ram LessThan 200 (dontschedule)"})x") !=
        std::string::npos);
  }

  TEST_CASE("names that need escaping come back escaped, and the answer stays JSON") {
    watts_fleet f;
    f.value("b\"\\\n\u00fc", "rapl_power_watts", {900, 0});
    const auto answer = f.filter(names_for("power", {"a\\\"b", "b\\\"\\\\\\nü", "node-a", "\\u00fc"}));
    const auto json = boost::json::parse(answer.body).as_object();
    CHECK(json.at("NodeNames").as_array() == boost::json::array{"a\"b", "node-a", "ü"});
    CHECK(json.at("FailedAndUnresolvableNodes").as_object().contains("b\"\\\nü"));
  }

  TEST_CASE("survivors in every pattern come out in order with single commas") {
    watts_fleet f;
    for (unsigned mask = 0; mask < 64; ++mask) {
      std::vector<std::string> asked;
      boost::json::array expected;
      for (unsigned i = 0; i < 6; ++i) {
        const bool passes = (mask >> i & 1) != 0;
        asked.push_back(fmt::format("n{}-{}", i, mask));
        f.value(asked.back(), "rapl_power_watts", {passes ? 10 : 90, 0});
        if (passes) expected.emplace_back(asked.back());
      }
      CAPTURE(mask);
      // With a space after a comma the names before and after it cannot be copied into the answer as one
      // piece.
      std::string body = names_for("power", asked);
      if (mask % 2 == 1) body.replace(body.find("\",\"n3"), 3, "\" ,\n\"");
      CHECK(boost::json::parse(f.filter(body, 40).body).at("NodeNames").as_array() == expected);
    }
  }

  TEST_CASE("a name that comes twice is answered once, in either list and both forms") {
    watts_fleet f;
    const std::string once = f.filter(names_for("power", {"node-a", "node-b", "stranger"})).body;
    // An escaped name is the same name as the plain one.
    for (const auto& asked : std::vector<std::vector<std::string>>{
             {"node-a", "node-a", "node-b", "node-b", "stranger", "stranger"},
             {"node-a", "node-b", "stranger", "node-b", "node-a", "stranger"},
             {"node-a", "node-b", "n\\u006fde-b", "stranger", "node-\\u0061"}}) {
      for (const std::size_t piece : {7, 65536}) {
        CHECK(f.filter(names_for("power", asked), piece).body == once);
        const auto* record = f.decisions.find({}).at(0);
        CHECK(record->asked == 3);
        CHECK(record->refused == 1);
        CHECK(record->strangers.size() == 1);
      }
    }
    CHECK(f.filter(names_for("", {"x", "x"})).body.starts_with(R"({"Nodes":null,"NodeNames":["x"],)"));

    const std::string a = node_json("node-a"), b = node_json("node-b");
    const std::string full = f.filter(nodes_args(pod_json("p", "power"), {a, b})).body;
    CHECK(f.filter(nodes_args(pod_json("p", "power"), {a, b, a, b, b}), 100).body == full);
    const std::string early = R"({"Nodes":{"items":[)" + a + "," + a + "," + b + "," + b + R"(]},"Pod":)" +
                              pod_json("p", "power") + "}";
    CHECK(f.filter(early, 100).body == full);
  }

  TEST_CASE("both lists: Nodes count, as for the scheduler that reads nodes") {
    watts_fleet f;
    const std::string nodes = nodes_args(pod_json("p", "power"), {node_json("node-a"), node_json("node-b")});
    std::string both = nodes;
    both.replace(both.find(R"("NodeNames":null)"), 16, R"("NodeNames":["node-a","node-b"])");
    CHECK(f.filter(both).body == f.filter(nodes).body);
    CHECK(f.decisions.find({}).at(0)->asked == 2);
  }

  TEST_CASE("a policy that is replaced while a request comes in counts as it was") {
    watts_fleet f;
    auto call = f.face().begin(decision::verb::filter, f.request);
    const std::string body = nodes_args(pod_json("p", "power"), {node_json("node-a"), node_json("node-b")});
    const std::size_t half = body.find("node-b") - 20;
    REQUIRE(call->consume(body.substr(0, half)));
    f.unpublish({"default", "power"});
    f.face();
    CHECK(f.send(*call, body.substr(half), 65536).body.find(power_refusal) != std::string::npos);
    CHECK(f.filter(body).outcome == "no_policy");
  }

  TEST_CASE("each decision leaves a record with values, ages and margins to explain it") {
    watts_fleet f;
    f.filter(names_for("power", {"node-a", "node-b", "node-c", "stranger"}));
    const auto* r = f.decisions.find({}).at(0);
    CHECK(r->pod.name_space == "default");
    CHECK(r->pod.name == "web-1");
    CHECK(r->pod.uid == "8f1e-web-1");
    CHECK(r->policy->revision == 3);
    CHECK(r->asked == 4);
    CHECK(r->refused == 1);
    CHECK(r->unknown == 1);
    CHECK(r->strangers == std::vector<std::string>{"stranger"});
    REQUIRE(r->cells.size() == 4);
    CHECK(r->cells[1].value() == decimal{714, -1});
    CHECK(r->cells[1].age_ms == 180);
    CHECK(r->cells[2].reason == absence::not_read_yet);
    CHECK(f.decisions.names().name(r->candidates[1].id) == "node-b");
  }

  TEST_CASE("counters and the age histogram follow what was answered") {
    watts_fleet f;
    f.filter(names_for("power"));
    f.filter(names_for(""));
    f.filter("[]");
    const auto& c = f.face().stats();
    CHECK(c.of(decision::verb::filter).answered[static_cast<std::size_t>(decision::outcome::decided)] == 1);
    CHECK(c.of(decision::verb::filter).answered[static_cast<std::size_t>(decision::outcome::no_label)] == 1);
    CHECK(c.of(decision::verb::filter).bad_request == 1);
    CHECK(c.of(decision::verb::filter).latency_us.count() == 2);
    CHECK(c.candidates[static_cast<std::size_t>(decision::candidate_outcome::refused)] == 1);
    CHECK(c.candidates[static_cast<std::size_t>(decision::candidate_outcome::passed)] == 2);
    CHECK(c.oldest_age_ms.count() == 1);
    CHECK(c.oldest_age_ms.sum() == 180);
    CHECK(c.of(decision::verb::prioritize).latency_us.count() == 0);
  }
}

}  // namespace extender_filter_test
