#include "aggregator/policy/text/yaml.hpp"

#include "common/text/plain.hpp"
#include "tests/aggregator/policy/text/recipe.hpp"
#include "tests/aggregator/policy/text_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace yaml_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;
using namespace std::chrono_literals;

TEST_SUITE("aggregator/policy/text/yaml") {
  TEST_CASE("TAS's demos apply unchanged and without a word") {
    for (const char* file : {"health-metric.yaml", "labeling.yaml", "multirules.yaml",
                             "labeling-contest.yaml", "power-demo.yaml", "openshift-power.yaml"}) {
      CAPTURE(file);
      const parsed_text t = read(test::data(file));
      CHECK_MESSAGE(t.problems.empty(), all(t.problems));
      REQUIRE(t.policies.size() == 1);
      CHECK(t.policies[0].usable);
      CHECK(t.policies[0].refused.empty());
    }
    const parsed_text multi = read(test::data("multirules.yaml"));
    const binnacle::policy::policy& p = multi.policies[0].value;
    CHECK(p.key == policy_key{"default", "multirules"});
    REQUIRE(p.find(strategy_kind::deschedule) != nullptr);
    CHECK(p.find(strategy_kind::deschedule)->op == logic::all_of);
    CHECK(p.find(strategy_kind::dontschedule)->op == logic::any_of);
    CHECK(p.find(strategy_kind::dontschedule)->rules[1].text() == "freeRAM LessThan 200");
    CHECK(p.find(strategy_kind::scheduleonmetric)->rules[0].op == comparison::less_than);
    CHECK(p.revision == content_revision(p));
    CHECK(p.revision != 0);
  }

  TEST_CASE("every field that we add is read") {
    const parsed_text t = read(test::data("every-field.yaml"));
    REQUIRE_MESSAGE(t.problems.empty(), all(t.problems));
    const binnacle::policy::policy& p = t.policies.at(0).value;
    CHECK(p.key == policy_key{"site-a", "every-field"});
    CHECK(p.how == mode::dry_run);
    const strategy& place = *p.find(strategy_kind::dontschedule);
    CHECK(place.op == logic::all_of);
    CHECK(place.on_missing == missing::reject);
    const rule& first = place.rules.at(0);
    CHECK(first.target == quantity{400'500'000'000});
    CHECK(first.window == 30s);
    CHECK(first.stat == store::statistic::p95);
    CHECK(first.hold == 90s);
    CHECK(first.clear == from_integer(380));
    CHECK(first.stale_after == duration(20s));
    const rule& second = place.rules.at(1);
    CHECK(second.target == from_integer(std::int64_t{2} << 30));
    CHECK(second.clear == from_integer(std::int64_t{3} << 30));
    const strategy& evict = *p.find(strategy_kind::deschedule);
    CHECK(evict.max_nodes == node_limit{20, true});
    CHECK(evict.cool_down == 5min);
    CHECK(evict.rules.at(0).stat == store::statistic::trend);
    const strategy& label = *p.find(strategy_kind::labeling);
    CHECK(label.max_nodes == node_limit{3, false});
    CHECK(label.rules.at(0).labels ==
          std::vector<std::pair<std::string, std::string>>{{"power", "high"}, {"class", ""}});
    CHECK(p.find(strategy_kind::scheduleonmetric)->rules.at(0).target == from_integer(200));
  }

  TEST_CASE("an empty logicalOperator is anyOf, and a strategy may have no rules") {
    const auto t = read(recipe{.strategy = "logicalOperator: \"\""}.text());
    (void)only_rule(t);
    CHECK(t.policies[0].value.strategies[0].op == logic::any_of);
    const auto none = read(
        "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: p}\n"
        "spec: {strategies: {dontschedule: {rules: []}}}\n");
    REQUIRE(none.policies.size() == 1);
    CHECK(none.policies[0].usable);
    CHECK(none.policies[0].refused.empty());
    CHECK(all(none.problems).find("dontschedule does nothing") != std::string::npos);
  }

  TEST_CASE("a List, a TASPolicyList and a stream of documents give all their policies") {
    const parsed_text list = read(test::data("from-a-cluster.yaml"));
    CHECK_MESSAGE(list.problems.empty(), all(list.problems));
    REQUIRE(list.policies.size() == 2);
    CHECK(list.policies[0].value.key == policy_key{"default", "first"});
    CHECK(list.policies[0].line == 3);
    CHECK(list.policies[1].value.key == policy_key{"other", "second"});
    CHECK(list.policies[1].line == 23);

    std::string typed = test::data("from-a-cluster.yaml");
    typed.replace(typed.find("apiVersion: v1"), 14, "apiVersion: telemetry.intel.com/v1alpha1");
    typed.replace(typed.find("kind: List"), 10, "kind: TASPolicyList");
    CHECK(read(typed).policies.size() == 2);

    recipe a{.name = "a"}, b{.name = "b"};
    const parsed_text stream =
        read("# first\n---\n" + a.text() + "...\n--- # second\n" + b.text() + "---\n# nothing\n");
    CHECK_MESSAGE(stream.problems.empty(), all(stream.problems));
    REQUIRE(stream.policies.size() == 2);
    CHECK(stream.policies[1].value.key.name == "b");
    CHECK(stream.policies[1].line == 13);
  }

  TEST_CASE("Windows line ends, a byte order mark and JSON are as good") {
    recipe plain;
    std::string crlf;
    for (const char c : plain.text() + "---\n" + recipe{.name = "q"}.text())
      crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    CHECK(read(crlf).policies.size() == 2);
    CHECK(read("\xef\xbb\xbf" + plain.text()).policies.size() == 1);
    const parsed_text json =
        read(R"({"apiVersion":"telemetry.intel.com/v1alpha1","kind":"TASPolicy","metadata":{"name":"j"},
      "spec":{"strategies":{"dontschedule":{"rules":[{"metricname":"m","operator":"LessThan","target":10}]}}}})");
    CHECK(only_rule(json).text() == "m LessThan 10");
  }

  TEST_CASE("a file with no content is no error") {
    for (const char* text : {"", "\n\n", "# only words\n", "---\n---\n...\n", "%YAML 1.2\n---\n"}) {
      CAPTURE(text);
      const parsed_text t = read(text);
      CHECK(t.policies.empty());
      CHECK_MESSAGE(t.problems.empty(), all(t.problems));
    }
  }

  TEST_CASE("targets: every integer that Kubernetes takes, exactly") {
    struct row {
      const char* written;
      const char* meant;
    };
    for (const row& r : {row{"0", "0"},
                         {"-1", "-1"},
                         {"+5", "5"},
                         {"30.0", "30"},
                         {"3e1", "30"},
                         {"10000000", "10000000"},
                         {"9223372036854775807", "9223372036854775807"},
                         {"-9223372036854775808", "-9223372036854775808"}}) {
      CAPTURE(r.written);
      recipe one{.rule = fmt::format("metricname: m, operator: Equals, target: {}", r.written)};
      CHECK(plain(only_rule(read(one.text())).target) == r.meant);
    }
    struct fraction {
      const char* written;
      const char* meant;
    };
    for (const fraction& f : {fraction{"70.5", "70.5"},
                              {"\"70.5\"", "70.5"},
                              {"500m", "0.5"},
                              {"1Ki", "1024"},
                              {"-2k", "-2000"},
                              {"7", "7"}}) {
      CAPTURE(f.written);
      recipe one{.rule = fmt::format("metricname: m, operator: Equals, targetQuantity: {}", f.written)};
      CHECK(plain(only_rule(read(one.text())).target) == f.meant);
    }
  }
}

}  // namespace yaml_test
