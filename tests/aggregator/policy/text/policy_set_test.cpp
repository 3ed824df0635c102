#include "aggregator/policy/text/policy_set.hpp"

#include "tests/aggregator/policy/text_file.hpp"
#include "tests/aggregator/policy/world.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace policy_set_test {

using namespace binnacle;
using namespace binnacle::policy;
using binnacle::policy::test::manifest;

namespace {

std::string temp(int target) {
  return fmt::format("rules: [{{metricname: temp, operator: GreaterThan, target: {}}}]", target);
}
const std::string wrong = "rules: [{metricname: temp, operator: Above, target: 1}]";

/// "p: dontschedule temp GreaterThan 1; …" of all policies.
std::string in_force(const policy_set& set) {
  std::string out;
  for (const binnacle::policy::policy& p : set.policies()) {
    out += p.key.text() + ":";
    for (const strategy& s : p.strategies)
      out += fmt::format(" {} {},", to_string(s.kind), s.rules[0].text());
    out.back() = ';';
    out += " ";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

bool says(const policy_set& set, std::string_view what) {
  return std::ranges::any_of(set.problems(),
                             [&](const problem& p) { return p.text().find(what) != std::string::npos; });
}

}  // namespace

TEST_SUITE("aggregator/policy/text/policy_set") {
  TEST_CASE("a wrong strategy stays as it was last good while the rest of the policy changes") {
    policy_set set;
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}, {"deschedule", temp(90)}}));
    set.put("a.yaml", manifest({{"dontschedule", wrong}, {"deschedule", temp(95)}}));
    CHECK(in_force(set) == "default/p: deschedule temp GreaterThan 95, dontschedule temp GreaterThan 80;");
    CHECK(says(set, "\"Above\" is unknown"));
    CHECK(says(set, "the last good version of dontschedule of policy default/p stays in force"));
    const auto revision = set.policies()[0].revision;
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}, {"deschedule", temp(95)}}));
    CHECK(set.problems().empty());
    CHECK_MESSAGE(set.policies()[0].revision != revision, "the order of the strategies is content");
  }

  TEST_CASE("a wrong strategy that was never right is not there; the others are") {
    policy_set set;
    set.put("a.yaml", manifest({{"dontschedule", wrong}, {"deschedule", temp(90)}}));
    CHECK(in_force(set) == "default/p: deschedule temp GreaterThan 90;");
    CHECK_FALSE(says(set, "stays in force"));
  }

  TEST_CASE("a typing error in a strategy's name does not switch it off") {
    policy_set set;
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}}));
    set.put("a.yaml", manifest({{"dontshedule", temp(85)}}));
    CHECK(in_force(set) == "default/p: dontschedule temp GreaterThan 80;");
    set.put("a.yaml", manifest({{"deschedule", temp(85)}}));
    CHECK_MESSAGE(in_force(set) == "default/p: deschedule temp GreaterThan 85;", "removing it does");
  }

  TEST_CASE("a policy that is wrong as a whole stays whole") {
    policy_set set;
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}}));
    set.put("a.yaml", manifest({{"dontschedule", temp(70)}}, "p", "default", "Dry"));
    CHECK(in_force(set) == "default/p: dontschedule temp GreaterThan 80;");
    CHECK(says(set, "the last good version of policy default/p stays in force"));
  }

  TEST_CASE("a broken document keeps every policy of the file that it might have been") {
    policy_set set;
    set.put("a.yaml",
            manifest({{"dontschedule", temp(80)}}) + "---\n" + manifest({{"dontschedule", temp(50)}}, "q"));
    set.put("a.yaml", manifest({{"dontschedule", temp(85)}}) + "---\nspec: [\n");
    CHECK(in_force(set) ==
          "default/p: dontschedule temp GreaterThan 85; default/q: dontschedule temp GreaterThan 50;");
    CHECK(says(set, "a.yaml:10: error: this is not YAML"));
    set.put("a.yaml", manifest({{"dontschedule", temp(85)}}));
    CHECK_MESSAGE(in_force(set) == "default/p: dontschedule temp GreaterThan 85;",
                  "mended without it: now q is gone");
    CHECK(set.problems().empty());
  }

  TEST_CASE("files: unreadable and emptied ones keep their policies, removed ones do not") {
    policy_set set;
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}}));
    set.unreadable("a.yaml", "the file cannot be read: Permission denied");
    CHECK(in_force(set) == "default/p: dontschedule temp GreaterThan 80;");
    CHECK(says(set, "a.yaml: error: the file cannot be read: Permission denied"));
    CHECK(says(set, "its policy stays in force"));
    for (const char* nothing : {"", " \n", "# being written\n", "---\n"}) {
      CAPTURE(nothing);
      set.put("a.yaml", nothing);
      CHECK(in_force(set) == "default/p: dontschedule temp GreaterThan 80;");
      CHECK(says(set, "the file holds no policy now: delete the file to remove its policies"));
    }
    set.put("a.yaml", "");
    CHECK(in_force(set) == "default/p: dontschedule temp GreaterThan 80;");
    CHECK(says(set, "the file holds no policy now: delete the file to remove its policies"));
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}}));
    set.remove("a.yaml");
    CHECK(in_force(set).empty());
    CHECK(set.problems().empty());
  }

  TEST_CASE("a file without a policy is said, also when it never had one") {
    policy_set set;
    set.put("empty.yaml", "");
    CHECK(in_force(set).empty());
    CHECK(says(set, "empty.yaml: warning: the file holds no policy: write one into it or remove it"));
    set.put("empty.yaml", manifest({{"dontschedule", temp(80)}}));
    CHECK(set.problems().empty());
  }

  TEST_CASE("one policy in two files: the first file by name counts, whichever came first") {
    policy_set set;
    set.put("b.yaml", manifest({{"dontschedule", temp(80)}}));
    set.put("a.yaml", manifest({{"dontschedule", temp(70)}}));
    CHECK(in_force(set) == "default/p: dontschedule temp GreaterThan 70;");
    CHECK(says(set, "b.yaml:1: error: policy default/p is in a.yaml too, and that one counts"));
    set.remove("a.yaml");
    CHECK(in_force(set) == "default/p: dontschedule temp GreaterThan 80;");
    CHECK(set.problems().empty());
  }

  TEST_CASE("one name in two namespaces: both hold, and who labels nodes is told so") {
    policy_set set;
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}}, "p", "x") + "---\n" +
                          manifest({{"dontschedule", temp(70)}}, "p", "y"));
    CHECK(set.policies().size() == 2);
    CHECK(set.problems().empty());
    set.put("b.yaml", manifest({{"deschedule", temp(80)}}, "q", "x") + "---\n" +
                          manifest({{"labeling", temp(70)}}, "q", "y"));
    CHECK(says(set, "y/q and x/q label nodes with the same keys"));
  }

  TEST_CASE("trouble with the folder is said first and changes nothing") {
    policy_set set;
    set.put("a.yaml", manifest({{"dontschedule", temp(80)}}));
    set.set_trouble("the policy folder /x cannot be read");
    CHECK(set.problems().at(0).message == "the policy folder /x cannot be read");
    CHECK_FALSE(in_force(set).empty());
    set.set_trouble("");
    CHECK(set.problems().empty());
  }

  /// What a snapshot would keep of a set that has read all its policies.
  std::vector<kept_policy> kept_of(const policy_set& set) {
    const auto sources = set.sources();
    std::vector<kept_policy> out;
    for (const binnacle::policy::policy& p : set.policies())
      out.push_back({p, sources.at(p.key), true, true});
    return out;
  }

  TEST_CASE("after a restart a text that has become wrong leaves the rules that an earlier process read") {
    policy_set before;
    before.put("a.yaml", manifest({{"dontschedule", temp(80)}, {"deschedule", temp(90)}}));
    before.put("b.yaml", manifest({{"dontschedule", temp(70)}}, "q"));
    before.put("c.yaml", manifest({{"dontschedule", temp(60)}}, "r"));
    before.put("d.yaml", manifest({{"dontschedule", temp(50)}}, "s"));
    policy_set again;
    again.recall(kept_of(before));
    for (policy_set* set : {&before, &again}) {
      set->put("a.yaml", manifest({{"dontschedule", wrong}, {"deschedule", temp(95)}}));  // a wrong strategy
      set->put("b.yaml", "{ no YAML");  // whose policy this is cannot be said
      set->unreadable("c.yaml", "it cannot be read");
    }
    before.remove("d.yaml");
    again.forget_recalled();
    CHECK(in_force(before) ==
          "default/p: deschedule temp GreaterThan 95, dontschedule temp GreaterThan 80; default/q: "
          "dontschedule temp GreaterThan 70; default/r: dontschedule temp GreaterThan 60;");
    CHECK(in_force(again) == in_force(before));
    CHECK(again.policies() == before.policies());
    CHECK(again.wrong_ones() == before.wrong_ones());
    CHECK(again.problems().size() == before.problems().size());
  }

  TEST_CASE("an object that was deleted and made again has no rules of the one before it") {
    const auto object = [](const std::string& uid, const std::string& rules) {
      return fmt::format(
          "{{apiVersion: telemetry.intel.com/v1alpha1, kind: TASPolicy, metadata: {{name: p, uid: {}}}, "
          "spec: "
          "{{strategies: {{dontschedule: {{{}}}}}}}}}",
          uid, rules);
    };
    policy_set before;
    before.put_object("TASPolicy default/p", object("one", temp(80)));
    policy_set same, other;
    for (policy_set* set : {&same, &other}) set->recall(kept_of(before));
    same.put_object("TASPolicy default/p", object("one", wrong));
    other.put_object("TASPolicy default/p", object("two", wrong));
    CHECK(in_force(same) == "default/p: dontschedule temp GreaterThan 80;");
    CHECK(other.policies().at(0).strategies.empty());
    // The same holds if the deletion and the new object came between two looks of one process.
    before.put_object("TASPolicy default/p", object("two", wrong));
    CHECK(before.policies().at(0).strategies.empty());
  }
}

}  // namespace policy_set_test
