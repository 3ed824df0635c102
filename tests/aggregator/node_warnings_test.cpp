#include "aggregator/node_warnings.hpp"

#include "aggregator/policy_blame.hpp"

#include <doctest/doctest.h>

namespace node_warnings_test {

namespace {

using namespace binnacle::aggregator;

TEST_SUITE("aggregator/node_warnings") {
  TEST_CASE("node ids that come to their end are said from half of them on") {
    CHECK(id_warnings(0, 0).empty());  // before the first report
    CHECK(id_warnings(0, 16).empty());
    CHECK(id_warnings(7, 16).empty());
    REQUIRE(id_warnings(8, 16).size() == 1);
    CHECK(id_warnings(8, 16)[0].starts_with("8 of 16 node ids are used up"));
    CHECK(id_warnings(16, 16).size() == 1);
  }

  TEST_CASE("a value that prioritize clamped, or did not take, is said for ten minutes") {
    using namespace std::chrono_literals;
    const binnacle::instant then(1h);
    CHECK(score_warnings({}, then).empty());
    binnacle::extender::counters seen;
    seen.last_beyond = {"n7", "rapl_power_watts", then};
    seen.last_implausible = {"n8", "rapl_power_watts", then};
    const auto said = score_warnings(seen, then + 10min);
    REQUIRE(said.size() == 2);
    CHECK(said[0].starts_with("node n7: its rapl_power_watts was far out"));
    CHECK(said[1].starts_with("node n8: its rapl_power_watts was a value that cannot be"));
    CHECK(score_warnings(seen, then + 10min + 1s).empty());
  }

  TEST_CASE("a denied certificate is said for ten minutes, for each port that saw it") {
    using namespace std::chrono_literals;
    const binnacle::instant then(1h);
    CHECK(denial_warnings({{"extender", {0, {}, ""}}}, binnacle::instant()).empty());
    const auto said =
        denial_warnings({{"ingest", {2, then, "10.0.0.7:4711"}}, {"ops", {0, {}, ""}}}, then + 10min);
    REQUIRE(said.size() == 1);
    CHECK(said[0].starts_with("ingest: 2 connections showed a certificate whose serial number is denied"));
    CHECK(said[0].find("10.0.0.7:4711") != std::string::npos);
    CHECK(denial_warnings({{"ingest", {2, then, ""}}}, then + 10min + 1s).empty());
  }

  TEST_CASE("sessions that end again and again are reported once for each reason, with some of their nodes") {
    const auto said = session_warnings(
        {{{binnacle::wire::reason::bad_message, "a wish"}, {"a", "b", "c", "d", "e", "f"}}}, {});
    REQUIRE(said.size() == 1);
    CHECK(said[0].starts_with("the sessions of 6 nodes (a, b, c, d, e and 1 more) end again and again"));
    CHECK(said[0].find("bad_message: a wish") != std::string::npos);
  }

  TEST_CASE("issue_16_0_sessions_that_end_over_a_policy_s_metric_name_the_policy") {
    namespace policy = binnacle::policy;
    const auto asks_for = [](const char* metric) {
      auto p = std::make_shared<policy::published_policy>();
      policy::published_rule rule;
      rule.definition.metric = metric;
      p->strategies.emplace_back().rules.push_back(rule);
      return p;
    };
    const policy::policy_table all{{{"default", "fine"}, asks_for("cpu")},
                                   {{"default", "hot"}, asks_for("cpu-x")},
                                   {{"team", "hot"}, asks_for("cpu-x")}};
    const std::vector<binnacle::ingest::repeated_end> ends{
        {{binnacle::wire::reason::bad_message, "a wish for \"cpu-x\", which is not a metric name"},
         {"a", "b"}}};
    const auto said = session_warnings(ends, all);
    REQUIRE(said.size() == 1);
    CHECK(
        said[0].ends_with("policy default/hot asks for \"cpu-x\", policy team/hot asks for \"cpu-x\": name "
                          "another metric there, or bring the agents to this version"));
    CHECK(refusal_of_agents(ends, all, {"default", "hot"})
              .starts_with("the sessions of 2 nodes end again and again over \"cpu-x\": bad_message"));
    CHECK(refusal_of_agents(ends, all, {"default", "fine"}).empty());
    // The sentence is an agent's. Three names of it count, and a quote alone begins none.
    const auto behind = [&all](const std::string& text) {
      return policies_behind({binnacle::wire::reason::bad_message, text}, all).size();
    };
    CHECK(behind(std::string(1'000, '"')) == 0);
    CHECK(behind(R"("a", "b" and "cpu")") == 1);
    CHECK(behind(R"("a", "b", "c" and "cpu")") == 0);
    CHECK(behind(R"(no end: "cpu)") == 0);
    CHECK(refusal_of_agents(ends, all, {"default", "gone"}).empty());
    // No policy is to blame for a session that ended for another reason.
    const binnacle::wire::fault other{binnacle::wire::reason::sequence_gap, "\"cpu-x\""};
    CHECK(policies_behind(other, all).empty());
  }

  TEST_CASE("of many nodes with one trouble the first five are named, and how many more there are") {
    const std::vector<binnacle::ingest::contest> seven(7, {"a", "10.0.0.1", "10.0.0.2"});
    const auto said = claim_warnings(seven);
    REQUIRE(said.size() == 6);
    CHECK(said[4].starts_with("node a: two agents claim it"));
    CHECK(said[5] == "2 more nodes are claimed by two agents each");
    CHECK(claim_warnings({}).empty());
  }
}

}  // namespace

}  // namespace node_warnings_test
