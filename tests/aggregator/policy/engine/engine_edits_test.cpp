#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/text_file.hpp"
#include "tests/aggregator/policy/world.hpp"

namespace engine_edits_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

namespace {

std::string hot(int target, const std::string& more = "") {
  return "rules: [{metricname: temp, operator: GreaterThan, target: " + std::to_string(target) + more + "}]";
}
std::string label(const std::string& labels) {
  return "rules: [{metricname: temp, operator: GreaterThan, target: 80, labels: [" + labels + "]}]";
}

}  // namespace

TEST_SUITE("aggregator/policy/engine/edits") {
  TEST_CASE("a strategy that is the same goes on, whatever happens to the others") {
    world w;
    w.apply(manifest({{"dontschedule", hot(80, ", for: 10s")}, {"deschedule", hot(90)}}));
    w.value('a', "temp", 85);
    w.at(9s);
    w.value('a', "temp", 85);
    const auto verdicts = w.out.table->begin()->second->find(dont)->verdicts;
    w.apply(manifest(
        {{"dontschedule", hot(80, ", for: 10s")}, {"deschedule", hot(70)}, {"labeling", label("x=1")}}));
    CHECK(w.out.table->begin()->second->find(dont)->verdicts == verdicts);
    CHECK(w.labels('a') == "p=violating p/x=1");
    w.at(10s);
    w.value('a', "temp", 85);
    CHECK_MESSAGE(w.what('a') == state::violating, "its ten seconds went on over the edit");
  }

  TEST_CASE("an unchanged policy is published as the same object") {
    world w;
    const std::string q = manifest({{"dontschedule", hot(50)}}, "q");
    w.apply(manifest({{"dontschedule", hot(80)}}) + "---\n" + q);
    const auto before = w.out.table;
    w.apply(manifest({{"dontschedule", hot(81)}}) + "---\n" + q);
    CHECK(w.out.table->at(policy_key{"default", "q"}) == before->at(policy_key{"default", "q"}));
    CHECK(w.out.table->at(policy_key{"default", "p"}) != before->at(policy_key{"default", "p"}));
    CHECK(w.out.table->at(policy_key{"default", "p"})->revision !=
          before->at(policy_key{"default", "p"})->revision);
    CHECK(w.out.events.back().message == "changed policy in force: dontschedule");
  }

  TEST_CASE("an edited target decides at once, from the values that are there") {
    world w;
    w.apply(manifest({{"dontschedule", hot(80)}, {"deschedule", hot(80)}}));
    w.value('a', "temp", 85);
    w.value('b', "temp", 95);
    w.apply(manifest({{"dontschedule", hot(90)}, {"deschedule", hot(90)}}));
    CHECK(w.what('a') == state::pass);
    CHECK(w.what('b') == state::violating);
    CHECK(w.labels('a') == "-p");
    CHECK(w.labels('b') == "p=violating");
  }

  TEST_CASE("an edit never takes a label off and puts it on again") {
    world w;
    w.apply(manifest({{"deschedule", hot(80, ", for: 5s")}}));
    w.value('a', "temp", 95);
    w.at(5s);
    w.value('a', "temp", 95);
    CHECK(w.labels('a') == "p=violating");
    SUBCASE("another target, with for") { w.apply(manifest({{"deschedule", hot(90, ", for: 60s")}})); }
    SUBCASE("another target while the data is missing") {
      w.at(20s);
      w.apply(manifest({{"deschedule", hot(90)}}));
      CHECK(w.what('a', evict) == state::frozen);
    }
    SUBCASE("a band around the value") { w.apply(manifest({{"deschedule", hot(97, ", clearBelow: 90")}})); }
    SUBCASE("a window") { w.apply(manifest({{"deschedule", hot(80, ", window: 10s")}})); }
    SUBCASE("a limit") { w.apply(manifest({{"deschedule", "maxNodes: 1, coolDown: 1h, " + hot(80)}})); }
    SUBCASE("another rule that nobody has data for") {
      w.apply(manifest({{"deschedule",
                         "rules: [{metricname: typo, operator: GreaterThan, target: 1},"
                         "{metricname: temp, operator: GreaterThan, target: 80}]"}}));
      CHECK(w.labels('a') == "p=violating");
      w.value('a', "temp", 10, 1h);
      CHECK_MESSAGE(w.labels('a') == "~p", "a label from before could be the new rule's");
      w.at(60s);
      CHECK_MESSAGE(w.labels('a') == "-p", "the label was temp's doing, and the other never came");
      return;
    }
    CHECK(w.labels('a') == "p=violating");
  }

  TEST_CASE("an edit to no rules does what a new policy without rules does") {
    world w;
    w.apply(manifest({{"deschedule", hot(80)}, {"dontschedule", hot(80)}}));
    w.value('a', "temp", 90);
    CHECK(w.labels('a') == "p=violating");
    w.apply(manifest({{"deschedule", "rules: []"}, {"dontschedule", "rules: []"}}));
    CHECK(w.labels('a').empty());
    const auto& now = *w.out.table->at(policy_key{"default", "p"});
    CHECK(now.find(strategy_kind::dontschedule) == nullptr);
    CHECK(now.find(evict) == nullptr);
  }

  TEST_CASE("a smaller maxNodes takes labels back, in the order of the nodes, and keeps its cool-down") {
    world w;
    w.apply(manifest({{"deschedule", hot(80)}}));
    for (const char n : {'a', 'b', 'c'}) w.value(n, "temp", 90, 1h);
    w.apply(manifest({{"deschedule", "maxNodes: 2, coolDown: 60s, " + hot(80)}}));
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "p=violating");
    CHECK(w.labels('c') == "-p");
    CHECK(w.what('c', evict) == state::held);
    w.value('a', "temp", 10, 1h);
    CHECK(w.what('c', evict) == state::held);
    w.at(60s);
    CHECK(w.labels('c') == "p=violating");
  }

  TEST_CASE("defect_6_a_removed_strategy_is_gone: its labels belong to nobody, its column is let go") {
    world w;
    w.apply(
        manifest({{"deschedule", hot(80)},
                  {"labeling", "rules: [{metricname: ram, operator: LessThan, target: 5, labels: [x=1]}]"}}));
    w.value('a', "temp", 90);
    w.value('a', "ram", 1);
    CHECK(w.labels('a') == "p=violating p/x=1");
    w.out.relabelled.clear();
    w.apply(manifest({{"deschedule", hot(80)}}));
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.columns.releases == 1);
    CHECK(w.out.relabelled == std::vector{world::id('a')});
    w.apply("");
    CHECK(w.labels('a').empty());
    CHECK(w.columns.releases == 2);
    CHECK(w.out.table->empty());
    const auto judged = w.e.counters().judged;
    CHECK(judged > 0);
    w.value('a', "temp", 95);
    w.at(1h);
    CHECK(w.e.counters().judged == judged);
    CHECK(w.e.deadlines_under_way() == 0);
  }

  TEST_CASE("defect_7_policies_of_one_name_in_two_namespaces_are_two_policies") {
    world w;
    const std::string one = manifest({{"dontschedule", hot(80)}}, "p", "default");
    const std::string two = manifest({{"dontschedule", hot(90)}}, "p", "other");
    w.apply(one + "---\n" + two);
    w.value('a', "temp", 85);
    CHECK(w.what('a') == state::violating);
    CHECK(w.e.table()->size() == 2);
    CHECK(w.e.conditions().empty());
    w.apply(two);
    w.apply(one + "---\n" + two);
    CHECK_MESSAGE(w.what('a') == state::violating, "identical or not, removing one leaves the other alone");
  }

  TEST_CASE("defect_8_label_lists_of_any_length_compare") {
    world w;
    const std::vector<std::string> lists{"x=1", "x=1, y=2", "x=1, y=2, z=3", "", "y=2"};
    for (const auto& before : lists) {
      for (const auto& after : lists) {
        w.apply(manifest({{"labeling", label(before)}}));
        w.apply(manifest({{"labeling", label(after)}}));
        w.value('a', "temp", 90);
      }
    }
    CHECK(w.labels('a') == "p/y=2");
  }

  TEST_CASE(
      "defect_12_an_edit_loses_no_data: the column is watched on, verdicts are right in the moment of the "
      "edit") {
    world w;
    w.apply(manifest({{"dontschedule", hot(80)}}));
    w.value('a', "temp", 90);
    for (int target = 81; target < 89; ++target) {
      w.apply(manifest({{"dontschedule", hot(target)}}));
      CHECK(w.what('a') == state::violating);
    }
    CHECK(w.columns.watches == 1);
    CHECK(w.columns.releases == 0);
  }

  TEST_CASE("defect_14_edits_pile_nothing_up") {
    world w;
    for (int round = 0; round < 200; ++round) {
      w.apply(manifest({{"dontschedule", hot(round, ", staleAfter: " + std::to_string(round + 1) + "s")},
                        {"deschedule", hot(round + 1, ", window: " + std::to_string(round % 7 + 1) + "s")}}));
      for (const char n : {'a', 'b', 'c'}) w.value(n, "temp", 100, 1h);
      CHECK(w.e.deadlines_under_way() < 30);
    }
    CHECK(w.columns.watches - w.columns.releases == 2);
    w.apply("");
    CHECK(w.columns.watches == w.columns.releases);
    CHECK(w.e.deadlines_under_way() == 0);
  }

  TEST_CASE("defect_15_a_column_is_watched_once_and_released_once") {
    world w;  // its fake store checks each call
    const std::string two =
        manifest({{"dontschedule", hot(80)}, {"deschedule", hot(81)}, {"scheduleonmetric", hot(0)}});
    for (int i = 0; i < 3; ++i) {
      w.apply(two);
      w.apply("");
      w.apply("");
    }
    CHECK(w.columns.watches == 3);
    CHECK(w.columns.releases == 3);
  }

  TEST_CASE("defect_25_what_was_published_does_not_change_behind_its_reader") {
    world w;
    w.apply(manifest({{"dontschedule", hot(80)}}));
    w.value('a', "temp", 85);
    const auto old = w.out.table;
    w.apply(manifest({{"dontschedule", hot(90)}}));
    const auto& s = old->begin()->second->strategies[0];
    CHECK(s.rules[0].text == "temp GreaterThan 80");
    CHECK_MESSAGE(s.verdicts->load(world::id('a')).what == state::violating,
                  "the old table still agrees with itself");
  }

  TEST_CASE("only allowed namespaces label nodes; their other strategies work") {
    world w({.label_namespaces = {"platform"}});
    w.apply(manifest({{"dontschedule", hot(80)}, {"deschedule", hot(80)}}, "p", "default") + "---\n" +
            manifest({{"deschedule", hot(80)}}, "q", "platform"));
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::violating);
    CHECK(w.labels('a') == "q=violating");
    CHECK(w.why(condition_kind::not_allowed).find("namespace default may not label nodes") == 0);
  }

  TEST_CASE("a node that is gone leaves nothing behind") {
    world w;
    w.apply(manifest({{"deschedule", "maxNodes: 1, " + hot(80)}}));
    w.value('a', "temp", 90);
    w.value('b', "temp", 90);
    w.e.node_gone(world::id('a'), w.now);
    CHECK(w.labels('a').empty());
    CHECK(w.of('a', evict) == verdict{});
    CHECK(w.labels('b') == "p=violating");
    CHECK(w.e.status()[0].violating == 1);
    w.at(1h);
    CHECK(w.e.status()[0].frozen == 1);
    w.e.node_gone(world::id('a'), w.now);
    w.e.node_gone(world::id('z'), w.now);
    w.value('a', "temp", 90);
    CHECK_MESSAGE(w.what('a', evict) == state::held, "back again, as a new node");
  }
}

}  // namespace engine_edits_test
