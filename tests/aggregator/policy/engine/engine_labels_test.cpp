#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/engine/follower.hpp"
#include "tests/aggregator/policy/world.hpp"

#include <string>
#include <vector>

namespace engine_labels_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/engine/labels") {
  TEST_CASE("nothing is wished before the first fresh sample of a node") {
    world w;
    w.apply(one("deschedule", hot) + "---\n" +
            manifest({{"labeling",
                       rules("{metricname: temp, operator: GreaterThan, target: 80, labels: [heat=high]}")}},
                     "q"));
    w.e.node_added(world::id('a'), w.now);
    CHECK(w.labels('a') == "~p ~q/heat");
    w.at(1h);
    CHECK(w.labels('a') == "~p ~q/heat");
    w.value('a', "temp", 10);
    CHECK(w.labels('a') == "-p -q/heat");
    CHECK(w.labels('b').empty());
  }

  TEST_CASE("missing data freezes labels, on and off") {
    world w;
    w.apply(one("deschedule", hot));
    w.value('a', "temp", 90);
    w.value('b', "temp", 10);
    w.at(10s);
    CHECK(w.what('a', evict) == state::frozen);
    CHECK(w.e.status()[0].frozen == 2);
    CHECK(w.e.status()[0].violated_by == 1);
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "-p");
    CHECK(w.holds(condition_kind::frozen));
    CHECK(w.holds(condition_kind::metric_missing));
    w.at(10h);
    CHECK(w.labels('a') == "p=violating");
    w.value('a', "temp", 90);
    w.value('b', "temp", 90);
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "p=violating");
    CHECK_FALSE(w.holds(condition_kind::frozen));
    w.value('a', "temp", 80);
    CHECK(w.labels('a') == "-p");
  }

  TEST_CASE("a partial value only decides what its missing members cannot reverse") {
    using store::certainty;
    struct row {
      const char* rule;
      certainty sure;
      double value;
      bool labelled_before, labelled_after, known;
    };
    const std::string band = "{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}";
    const std::string cold = "{metricname: temp, operator: LessThan, target: 20}";
    const std::string same = "{metricname: temp, operator: Equals, target: 50}";
    const auto more = certainty::at_least, less = certainty::at_most, either = certainty::unsure;
    for (const row& r : std::vector<row>{
             // A maximum, known without its hottest member.
             {hot.c_str(), more, 40, true, true, false},
             {hot.c_str(), more, 90, false, true, true},
             {hot.c_str(), more, 40, false, false, false},
             {band.c_str(), more, 75, true, true, true},
             {band.c_str(), more, 60, true, true, false},
             {cold.c_str(), more, 10, false, false, false},
             {cold.c_str(), more, 30, true, false, true},
             // A minimum, known without its coldest member.
             {hot.c_str(), less, 90, false, false, false},
             {hot.c_str(), less, 40, true, false, true},
             {band.c_str(), less, 75, true, true, false},
             {cold.c_str(), less, 10, false, true, true},
             {cold.c_str(), less, 30, true, true, false},
             // A mean, known without any one of its members.
             {hot.c_str(), either, 90, false, false, false},
             {hot.c_str(), either, 40, true, true, false},
             {same.c_str(), more, 50, false, false, false},
             {same.c_str(), more, 60, true, false, true},
             {same.c_str(), more, 40, true, true, false},
             {same.c_str(), less, 40, true, false, true},
             {same.c_str(), less, 60, true, true, false},
         }) {
      CAPTURE(r.rule);
      CAPTURE(static_cast<int>(r.sure));
      CAPTURE(r.value);
      CAPTURE(r.labelled_before);
      world w;
      w.apply(one("deschedule", r.rule));
      const bool below = r.rule == cold.c_str(), equal = r.rule == same.c_str();
      w.value('a', "temp", !r.labelled_before ? (below || equal ? 45 : 10) : below ? 10 : equal ? 50 : 90);
      REQUIRE(w.of('a', evict).violating == r.labelled_before);
      w.sample('a', "temp",
               {from_double(r.value, -3).value(), w.now, w.now + 10s, absence::none, true, false, r.sure});
      CHECK(w.of('a', evict).violating == r.labelled_after);
      CHECK((w.what('a', evict) != state::frozen) == r.known);
    }
  }

  TEST_CASE("a metric that a node never had freezes nothing there; one that it lost does") {
    world w;
    w.apply(one("deschedule",
                "{metricname: temp, operator: GreaterThan, target: 80},"
                "{metricname: typo, operator: GreaterThan, target: 80}"));
    w.value('a', "temp", 50);
    CHECK(w.what('a', evict) == state::pass);
    CHECK_FALSE(w.holds(condition_kind::frozen));
    CHECK_MESSAGE(w.labels('a') == "~p", "the other may come yet");
    w.at(10s);
    CHECK(w.what('a', evict) == state::frozen);
    CHECK(w.holds(condition_kind::frozen));
  }

  TEST_CASE("a WAN cut evicts nobody: a site falls silent and no label moves") {
    world w;
    w.apply(one("deschedule", hot));
    follower f(w);
    for (int n = 0; n < 26; ++n) {
      const char node = static_cast<char>('a' + n);
      w.value(node, "temp", n < 3 ? 90 : 50);
      f.follow(node);
    }
    CHECK(f.changes == 3);
    w.out.relabelled.clear();
    w.at(1h);
    for (int n = 0; n < 26; ++n) f.follow(static_cast<char>('a' + n));
    CHECK(f.changes == 3);
    CHECK(w.e.status()[0].frozen == 26);
  }

  TEST_CASE(
      "frozen allOf: the rules without a value stay what they were, and nothing starts on account of them") {
    world w;
    w.apply(one("deschedule", hot + "," + low, "logicalOperator: allOf"));
    SUBCASE("violating stays while nothing speaks against it") {
      w.value('a', "temp", 90, 1h);
      w.value('a', "ram", 100);
      w.at(10s);
      CHECK(w.labels('a') == "p=violating");
      CHECK(w.what('a', evict) == state::frozen);
      w.value('a', "temp", 50);
      CHECK(w.labels('a') == "-p");
      CHECK(w.what('a', evict) == state::pass);
      w.value('a', "temp", 90);
      CHECK_MESSAGE(w.labels('a') == "-p",
                    "ram was true when it was last known, which is not enough to begin");
      CHECK(w.out.events.back().what == event_kind::cleared);
    }
    SUBCASE("not violating stays") {
      w.value('a', "temp", 50, 1h);
      w.value('a', "ram", 100);
      w.at(10s);
      w.value('a', "temp", 90);
      CHECK(w.labels('a') == "-p");
      w.value('a', "ram", 100);
      CHECK(w.labels('a') == "p=violating");
    }
  }

  TEST_CASE(
      "frozen anyOf: a rule that is true goes on counting while its data is missing, others come and go") {
    world w;
    w.apply(one("deschedule", hot + "," + low));
    w.value('a', "temp", 50, 1h);
    w.value('a', "ram", 100);
    CHECK(w.labels('a') == "p=violating");
    w.at(10s);
    CHECK(w.labels('a') == "p=violating");
    w.value('a', "temp", 90, 1h);
    CHECK(w.what('a', evict) == state::violating);
    w.value('a', "temp", 50, 1h);
    CHECK(w.what('a', evict) == state::frozen);
    CHECK(w.labels('a') == "p=violating");
    w.value('a', "ram", 300);
    CHECK(w.labels('a') == "-p");
  }

  TEST_CASE("defect_16_hysteresis_keeps_a_label_from_flapping") {
    world plain, banded;
    plain.apply(one("deschedule", hot));
    banded.apply(one("deschedule", "{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 78}"));
    follower without(plain), with(banded);
    for (int i = 0; i < 20; ++i) {
      const double noisy = 80 + (i % 2 == 0 ? 0.5 : -0.5);
      plain.value('a', "temp", noisy);
      banded.value('a', "temp", noisy);
      without.follow('a');
      with.follow('a');
    }
    CHECK(without.changes == 20);
    CHECK(with.changes == 1);
  }

  TEST_CASE("defect_21_the_counts_are_those_of_the_violating_nodes") {
    world w;
    w.apply(one("deschedule", hot));
    for (const char n : {'a', 'b', 'c'}) w.value(n, "temp", n == 'b' ? 90 : 10);
    CHECK(w.e.status()[0].violating == 1);
    CHECK(w.e.status()[0].pass == 2);
  }
}

}  // namespace engine_labels_test
