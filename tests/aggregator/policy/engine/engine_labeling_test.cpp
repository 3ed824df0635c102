#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/engine/follower.hpp"
#include "tests/aggregator/policy/text_file.hpp"
#include "tests/aggregator/policy/world.hpp"

#include <map>
#include <string>

namespace engine_labeling_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/engine/labeling") {
  TEST_CASE("labeling waits for each label's own metric") {
    world w;
    w.apply(data("labeling.yaml"));
    w.value('a', "metric_card1", 900, 1h);
    CHECK(w.labels('a') == "~labeling-policy/card0 labeling-policy/card1=true");
    w.value('a', "metric_card0", 10, 1h);
    CHECK(w.labels('a') == "-labeling-policy/card0 labeling-policy/card1=true");
  }

  TEST_CASE("labeling allOf: all labels or none") {
    world w;
    w.apply(one("labeling",
                "{metricname: temp, operator: GreaterThan, target: 80, labels: [a=1]},"
                "{metricname: ram, operator: LessThan, target: 200, labels: [b=1]}",
                "logicalOperator: allOf"));
    w.value('a', "temp", 90);
    w.value('a', "ram", 300);
    CHECK(w.labels('a') == "-p/a -p/b");
    w.value('a', "ram", 100);
    CHECK(w.labels('a') == "p/a=1 p/b=1");
  }

  TEST_CASE(
      "one label, several true rules: the largest value with GreaterThan, the smallest with LessThan, else "
      "the first") {
    world w;
    SUBCASE("GreaterThan") {
      w.apply(data("labeling-contest.yaml"));
      w.value('a', "node_metric_1", 150);
      w.value('a', "node_metric_2", 150);
      CHECK_MESSAGE(w.labels('a') == "contest/foo=1", "a tie goes to the first rule");
      w.value('a', "node_metric_2", 150.001);
      CHECK(w.labels('a') == "contest/foo=2");
      w.value('a', "node_metric_1", 151);
      CHECK(w.labels('a') == "contest/foo=1");
      w.value('a', "node_metric_1", 100);
      CHECK(w.labels('a') == "contest/foo=2");
      w.value('a', "node_metric_2", 100);
      CHECK(w.labels('a') == "-contest/foo");
    }
    SUBCASE("LessThan") {
      w.apply(one("labeling",
                  "{metricname: x, operator: LessThan, target: 10, labels: [foo=x]},"
                  "{metricname: y, operator: LessThan, target: 10, labels: [foo=y]}"));
      w.value('a', "x", 5);
      w.value('a', "y", 4);
      CHECK(w.labels('a') == "p/foo=y");
      w.value('a', "x", 4);
      CHECK(w.labels('a') == "p/foo=x");
    }
    SUBCASE("Equals") {
      w.apply(one("labeling",
                  "{metricname: x, operator: Equals, target: 1, labels: [foo=x]},"
                  "{metricname: y, operator: Equals, target: 2, labels: [foo=y]}"));
      w.value('a', "y", 2);
      CHECK(w.labels('a') == "p/foo=y");
      w.value('a', "x", 1);
      CHECK(w.labels('a') == "p/foo=x");
    }
    SUBCASE(
        "different operators, both true: none of the policy's labels, as TAS does, and a condition says so") {
      w.apply(one("labeling",
                  "{metricname: x, operator: GreaterThan, target: 10, labels: [foo=x, bar=1]},"
                  "{metricname: y, operator: LessThan, target: 10, labels: [foo=y, baz=1]}"));
      CHECK(w.why(condition_kind::conflict)
                .find("give the label foo: where two of them are true the node gets none") !=
            std::string::npos);
      w.value('a', "x", 11);
      w.value('a', "y", 10);
      CHECK(w.labels('a') == "p/bar=1 -p/baz p/foo=x");
      w.value('a', "x", 11);
      w.value('a', "y", 9);
      CHECK(w.labels('a') == "-p/bar -p/baz -p/foo");
      w.value('a', "x", 10);
      CHECK(w.labels('a') == "-p/bar p/baz=1 p/foo=y");
    }
    SUBCASE("GreaterThan and GreaterOrEqual look in one direction: the largest value wins") {
      w.apply(one("labeling",
                  "{metricname: x, operator: GreaterThan, target: 10, labels: [foo=x]},"
                  "{metricname: y, operator: GreaterOrEqual, target: 10, labels: [foo=y]}"));
      CHECK_FALSE(w.holds(condition_kind::conflict));
      w.value('a', "x", 11);
      w.value('a', "y", 10);
      CHECK(w.labels('a') == "p/foo=x");
      w.value('a', "y", 12);
      CHECK(w.labels('a') == "p/foo=y");
    }
    SUBCASE("a contender without a value: the winner stays") {
      w.apply(data("labeling-contest.yaml"));
      w.value('a', "node_metric_1", 150, 10s);
      w.value('a', "node_metric_2", 200, 1h);
      CHECK(w.labels('a') == "contest/foo=2");
      w.at(10s);
      CHECK(w.labels('a') == "contest/foo=2");
      w.value('a', "node_metric_2", 120, 1h);
      CHECK(w.labels('a') == "contest/foo=2");
    }
  }

  TEST_CASE("defect_9_a_changed_label_value_is_one_change") {
    world w;
    w.apply(data("labeling-contest.yaml"));
    follower f(w);
    w.value('a', "node_metric_1", 150);
    w.value('a', "node_metric_2", 50);
    f.follow('a');
    CHECK(f.changes == 1);
    w.value('a', "node_metric_2", 200);
    f.follow('a');
    CHECK(f.changes == 2);
    CHECK(f.labels['a'] ==
          std::map<std::string, std::string>{{"telemetry.aware.scheduling.contest/foo", "2"}});
  }

  TEST_CASE("defect_10_contested_labels_do_not_flap_and_a_loser_gives_its_other_labels") {
    world w;
    w.apply(one("labeling",
                "{metricname: x, operator: GreaterThan, target: 10, labels: [foo=x, only-x=1]},"
                "{metricname: y, operator: GreaterThan, target: 10, labels: [foo=y, only-y=1]}"));
    follower f(w);
    w.value('a', "x", 11);
    w.value('a', "y", 12);
    f.follow('a');
    const int first = f.changes;
    for (int i = 0; i < 50; ++i) {
      w.at(std::chrono::seconds(i));
      w.value('a', "x", 11);
      w.value('a', "y", 12);
      CHECK(w.labels('a') == "p/foo=y p/only-x=1 p/only-y=1");
      f.follow('a');
    }
    CHECK(f.changes == first);
  }
}

}  // namespace engine_labeling_test
