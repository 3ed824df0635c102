#include "aggregator/policy/text/yaml.hpp"
#include "tests/aggregator/policy/text/recipe.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>

namespace yaml_bounds_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/text/yaml/bounds") {
  TEST_CASE("bounds: too much is refused by name and never loses what came before") {
    SUBCASE("bytes") {
      const parsed_text t = read(recipe{}.text() + std::string(most_text_bytes, '#'));
      CHECK(t.policies.empty());
      CHECK(t.unattributed);
      CHECK(t.problems.at(0).message.find("more than 1048576 bytes") != std::string::npos);
    }
    SUBCASE("policies") {
      std::string text = "kind: List\nitems:\n";
      for (int i = 0; i < 1'005; ++i) {
        text += fmt::format(
            "- {{apiVersion: telemetry.intel.com/v1alpha1, kind: TASPolicy, metadata: {{name: p{}}}, "
            "spec: {{strategies: {{dontschedule: {{rules: [{{metricname: m, operator: Equals, target: "
            "1}}]}}}}}}}}\n",
            i);
      }
      const parsed_text t = read(text);
      CHECK(t.policies.size() == most_policies);
      CHECK(t.problems.size() == 1);
      CHECK(t.problems.at(0).message.find("split the file") != std::string::npos);
    }
    SUBCASE("rules") {
      std::string many = "metricname: m, operator: Equals, target: 1}";
      for (int i = 0; i < 64; ++i) many += "\n        - {metricname: m, operator: Equals, target: 1}";
      many.pop_back();
      const parsed_text t = read(recipe{.rule = many}.text());
      CHECK(t.problems.at(0).message.find("65 rules are more than the 64") != std::string::npos);
      CHECK(t.policies.at(0).refused == std::set{strategy_kind::dontschedule});
    }
    SUBCASE("documents") {
      std::string text;
      for (int i = 0; i < 6'000; ++i) text += "---\na\n";
      const parsed_text t = read(text);
      CHECK(t.problems.at(0).message.find("more than 5000 documents") != std::string::npos);
    }
    SUBCASE("problems") {
      std::string text;
      for (int i = 0; i < 1'000; ++i) text += "---\n[]\n";
      const parsed_text t = read(text);
      CHECK(t.problems.size() == findings::most + 1);
      CHECK(t.problems.back().message == "800 more problems are not listed: mend these first");
    }
    SUBCASE("nesting") {
      const parsed_text t = read("a: " + std::string(100'000, '['));
      CHECK(t.unattributed);
    }
    SUBCASE("aliases that multiply") {
      std::string text = "a: &a [x,x,x,x,x,x,x,x,x]\n";
      for (char c = 'b'; c <= 'z'; ++c) {
        text += fmt::format("{0}: &{0} [*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1}]\n", c,
                            static_cast<char>(c - 1));
      }
      CHECK(read(text +
                 "kind: TASPolicy\nmetadata: {name: bomb}\nspec: {strategies: {dontschedule: {rules: *z}}}\n")
                .policies.size() == 1);
      std::string list = "x: &p {kind: TASPolicy}\nkind: List\nitems: &i [";
      for (int i = 0; i < 100'000; ++i) list += "*p,";
      CHECK(read(list + "*p]\n").policies.empty());
      CHECK(read("kind: List\nitems: &i [*i, *i]\n").policies.empty());
      CHECK(read("&a {kind: List, items: [*a]}\n").policies.empty());
    }
  }

  TEST_CASE("a name in a message is cut and made harmless") {
    const parsed_text t = read(recipe{.kind = "\"" + std::string(10'000, 'z') + "\\u0007\""}.text());
    REQUIRE(t.problems.size() == 1);
    CHECK(t.problems[0].message.size() < 300);
  }
}

}  // namespace yaml_bounds_test
