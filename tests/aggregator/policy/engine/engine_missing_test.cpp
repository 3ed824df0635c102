#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/world.hpp"

namespace engine_missing_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/engine/missing") {
  TEST_CASE("dontschedule goes on without a missing rule: the known one decides, allOf cannot be met") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot + "," + low)}}) + "---\n" +
            manifest({{"dontschedule", rules(hot + "," + low, "logicalOperator: allOf")}}, "all"));
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::violating);
    CHECK(w.of('a').unknown == 1);
    CHECK(w.what('a', dont, "all") == state::pass);
    CHECK(w.of('a', dont, "all").unknown == 1);
    w.absent('a', "temp");
    CHECK(w.what('a') == state::pass);
    CHECK(w.of('a').unknown == 2);
  }

  TEST_CASE("onMissing: Reject rejects when data is missing, after one stale-after since the start") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot + "," + low, "onMissing: Reject")}}));
    w.e.node_added(world::id('a'), w.now);
    w.value('b', "temp", 50, 30s);
    w.value('b', "ram", 500, 30s);
    w.value('c', "temp", 90, 30s);
    CHECK(w.what('a') == state::pass);
    CHECK(w.what('c') == state::violating);
    const auto& verdicts = *w.out.table->begin()->second->strategies[0].verdicts;
    w.at(29'999ms);  // the metric's own stale-after is 30 s
    CHECK(w.what('a') == state::pass);
    CHECK(verdicts.of_unknown_node(w.now).what == state::pass);
    w.value('b', "temp", 50, 30s);
    w.value('b', "ram", 500, 30s);
    w.value('c', "temp", 50, 30s);
    w.at(30s);
    CHECK(w.what('a') == state::missing);
    CHECK(w.of('a').rule == 0);
    CHECK(w.of('a').unknown == 2);
    CHECK(w.what('b') == state::pass);
    CHECK_MESSAGE(w.what('c') == state::missing, "temp passes, ram is missing and could violate");
    CHECK(w.of('c').rule == 1);
    CHECK(verdicts.of_unknown_node(w.now).what == state::missing);
    w.value('c', "temp", 90, 30s);
    CHECK_MESSAGE(w.what('c') == state::violating, "one true rule is enough to know");
    w.at(60s);
    CHECK(w.what('b') == state::missing);
    w.value('b', "temp", 50);
    w.value('b', "ram", 500);
    CHECK(w.what('b') == state::pass);
  }

  TEST_CASE("onMissing: Reject with allOf: one known rule that is false makes the missing one irrelevant") {
    world w;
    w.apply(
        manifest({{"dontschedule", rules(hot + "," + low, "logicalOperator: allOf, onMissing: Reject")}}));
    w.at(10s);
    w.value('a', "temp", 50);
    CHECK(w.what('a') == state::pass);
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::missing);
  }

  TEST_CASE("onMissing: Reject refuses a node whose maximum has lost a member and does not violate without") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot, "onMissing: Reject")}}));
    w.at(10s);
    const auto partial = [&w](double v) {
      w.sample('a', "temp",
               {from_double(v, -3).value(), w.now, w.now + 10s, absence::none, true, false,
                store::certainty::at_least});
    };
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::violating);
    partial(40);
    CHECK(w.what('a') == state::missing);
    partial(85);
    CHECK(w.what('a') == state::violating);
    w.value('a', "temp", 40);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE(
      "a value that had its metric's stale-after behind it when it came counts by the rule's staleAfter") {
    world w;
    w.apply(manifest(
        {{"dontschedule",
          rules("{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70, staleAfter: 5m}")}}));
    w.value('a', "temp", 90);
    w.at(120s);
    CHECK(w.what('a') == state::violating);
    // When a catalog has changed, the store reports the old value again, like this.
    w.sample('a', "temp", {{90, 0}, w.start, w.start + 10s, absence::none});
    CHECK(w.what('a') == state::violating);
    w.value('a', "temp", 75);
    CHECK(w.what('a') == state::violating);
  }

  TEST_CASE("if no series can have the metric's name, the condition says so") {
    for (const char* name : {"cpu-x", "a.b", "9lives"}) {
      world w;
      w.apply(one("dontschedule", fmt::format("{{metricname: {}, operator: GreaterThan, target: 1}}", name)));
      w.e.node_added(world::id('a'), w.now);
      w.at(1min);
      CHECK(w.why(condition_kind::metric_missing)
                .find(fmt::format("no agent can have a series called {}:", name)) != std::string::npos);
    }
  }

  TEST_CASE("onMissing: Reject rejects as soon as the fleet has come, before the time for it is over") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot, "onMissing: Reject")}}));
    w.e.node_added(world::id('a'), w.now);
    w.value('b', "temp", 50);
    const auto& verdicts = *w.out.table->begin()->second->strategies[0].verdicts;
    CHECK(w.what('a') == state::pass);
    w.at(1s);
    w.e.fleet_has_come(w.now);
    CHECK(w.what('a') == state::missing);
    CHECK(verdicts.of_unknown_node(w.now).what == state::missing);
    CHECK(w.what('b') == state::pass);
    w.value('a', "temp", 50);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("a node whose agent comes back again and again without data gets no grace from that") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot, "onMissing: Reject")}}));
    w.e.fleet_has_come(w.now);
    for (int i = 1; i < 5; ++i) {
      w.at(i * 3s);
      w.e.node_added(world::id('a'), w.now);
      w.absent('a', "temp");
      CHECK(w.what('a') == state::missing);
    }
  }

  TEST_CASE("a policy that is applied or edited long after the start rejects at once") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    w.e.node_added(world::id('a'), w.now);
    w.at(1min);
    w.value('b', "temp", 50);
    w.apply(manifest({{"dontschedule", rules(hot, "onMissing: Reject")}}));
    CHECK(w.what('a') == state::missing);
    CHECK(w.what('b') == state::pass);
    w.at(2min);
    w.apply(manifest({{"dontschedule", rules(low, "onMissing: Reject")}}));  // a metric that nobody watched
    CHECK(w.what('a') == state::missing);
    CHECK(w.what('b') == state::missing);
    CHECK_MESSAGE(w.why(condition_kind::metric_missing).empty(), "that is said when it had time to come");
  }

  TEST_CASE("a node that appears after the start is rejected until it has data") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot, "onMissing: Reject")}}));
    w.at(11s);
    w.e.node_added(world::id('a'), w.now);
    CHECK(w.what('a') == state::missing);
    w.value('a', "temp", 50);
    CHECK(w.what('a') == state::pass);
    w.e.node_gone(world::id('a'), w.now);
    CHECK(w.what('a') == state::missing);
  }
}

}  // namespace engine_missing_test
