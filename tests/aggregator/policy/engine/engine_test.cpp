#include "aggregator/policy/engine/engine.hpp"

#include "tests/aggregator/policy/world.hpp"

#include <string>
#include <utility>
#include <vector>

namespace engine_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

namespace {

constexpr auto label = strategy_kind::labeling;

}  // namespace

TEST_SUITE("aggregator/policy/engine") {
  TEST_CASE("anyOf and allOf, strict and exact") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot + "," + low)}}) + "---\n" +
            manifest({{"dontschedule", rules(hot + "," + low, "logicalOperator: allOf")}}, "all"));
    struct row {
      double temp, ram;
      state any, all;
    };
    for (const row& r :
         {row{80, 200, state::pass, state::pass}, row{80.001, 200, state::violating, state::pass},
          row{80, 199.999, state::violating, state::pass}, row{81, 199, state::violating, state::violating},
          row{79, 201, state::pass, state::pass}}) {
      CAPTURE(r.temp);
      CAPTURE(r.ram);
      w.value('a', "temp", r.temp);
      w.value('a', "ram", r.ram);
      CHECK(w.what('a') == r.any);
      CHECK(w.what('a', dont, "all") == r.all);
    }
    w.value('a', "temp", 1);
    w.value('a', "ram", 1);
    CHECK(w.of('a').rule == 1);
    CHECK(w.of('a').unknown == 0);
  }

  TEST_CASE("GreaterOrEqual and LessOrEqual take their target with them, and clear past it") {
    world w;
    w.apply(manifest({{"dontschedule", rules("{metricname: m, operator: GreaterOrEqual, target: 20}")}}) +
            "---\n" +
            manifest({{"dontschedule", rules("{metricname: m, operator: LessOrEqual, target: 20}")}}, "low") +
            "---\n" +
            manifest({{"dontschedule",
                       rules("{metricname: m, operator: GreaterOrEqual, target: 20, clearBelow: 20}")}},
                     "band"));
    struct row {
      double value;
      state high, low;
    };
    for (const row& r :
         {row{19.999, state::pass, state::violating}, row{20, state::violating, state::violating},
          row{20.001, state::violating, state::pass}, row{20, state::violating, state::violating},
          row{19.999, state::pass, state::violating}}) {
      CAPTURE(r.value);
      w.value('a', "m", r.value);
      CHECK(w.what('a') == r.high);
      CHECK(w.what('a', dont, "low") == r.low);
      CHECK_MESSAGE(w.what('a', dont, "band") == r.high, "clearBelow: at the target it is still true");
    }
  }

  TEST_CASE("a Quantity decides exactly: 20500m violates 20, 20 does not") {
    world w;
    w.apply(manifest({{"dontschedule", rules("{metricname: m, operator: GreaterThan, target: 20}")}}));
    w.value('a', "m", 20.5);
    CHECK(w.what('a') == state::violating);
    w.value('a', "m", 20);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("scheduleonmetric watches its first rule and judges nobody") {
    world w;
    w.apply(
        manifest({{"scheduleonmetric",
                   rules("{metricname: temp, operator: LessThan}, {metricname: ram, operator: LessThan}")}}));
    CHECK(w.columns.watches == 1);
    w.value('a', "temp", 42);
    const auto& s = w.out.table->begin()->second->strategies.at(0);
    CHECK(s.verdicts == nullptr);
    REQUIRE(s.rules.size() == 1);
    CHECK(s.rules[0].load(world::id('a')).value == decimal{42, 0});
    CHECK(w.labels('a').empty());
    w.at(10s);
  }

  TEST_CASE("DryRun: verdicts and would-be labels, no labels") {
    world w;
    const std::vector<std::pair<std::string, std::string>> strategies{
        {"dontschedule", rules(hot)},
        {"deschedule", rules(hot)},
        {"labeling", rules("{metricname: temp, operator: GreaterThan, target: 80, labels: [heat=high]}")}};
    w.apply(manifest(strategies, "p", "default", "DryRun"));
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::violating);
    CHECK(w.what('a', evict) == state::violating);
    CHECK(w.out.table->begin()->second->how == mode::dry_run);
    CHECK(w.labels('a').empty());
    CHECK(w.would_be('a') == "p=violating p/heat=high");
    CHECK(w.out.events.back().dry_run);

    const auto before = w.columns.watches;
    w.apply(manifest(strategies));
    CHECK_MESSAGE(w.labels('a') == "p=violating p/heat=high", "the state went on when the mode changed");
    CHECK(w.would_be('a').empty());
    CHECK(w.columns.watches == before);
    CHECK(w.what('a', evict) == state::violating);
  }

  TEST_CASE("only one node waits to be judged: another one's value ends its batch") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    const auto& column = w.columns.at({"temp"});
    const store::sample s{{90, 0}, w.now, w.now + 10s, absence::none};
    w.out.events.clear();
    w.e.update(column.id, world::id('a'), s, w.now);
    CHECK(w.what('a') == state::pass);
    w.e.update(column.id, world::id('b'), s, w.now);
    CHECK(w.what('a') == state::violating);
    CHECK(w.what('b') == state::pass);
    CHECK_MESSAGE(w.out.events.empty(), "the sink is told when all is done");
    w.e.tick(w.now);
    CHECK(w.what('b') == state::violating);
    CHECK(w.out.events.size() == 2);
  }

  TEST_CASE("a sample of a column that nobody watches is ignored") {
    world w;
    w.value('a', "temp", 90);
    w.e.update(store::column_id{77}, world::id('a'), {}, w.now);
    CHECK(w.e.counters().updates == 0);
    CHECK_FALSE(w.e.next_deadline().has_value());
  }

  TEST_CASE(
      "a policy is judged by what its column holds already, nodes by what was there before they were named") {
    world w;
    w.value('a', "temp", 90);
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    CHECK_MESSAGE(w.what('a') == state::pass, "the engine has not heard of the node yet");
    w.e.node_added(world::id('a'), w.now);
    CHECK(w.what('a') == state::violating);
    w.apply(manifest({{"dontschedule", rules(hot)}}) + "---\n" +
            manifest({{"dontschedule", rules(hot)}}, "late"));
    CHECK(w.what('a', dont, "late") == state::violating);
  }

  TEST_CASE("what a labelled node looks like in the verdicts") {
    world w;
    w.apply(manifest(
        {{"labeling", rules("{metricname: temp, operator: GreaterThan, target: 80, labels: [heat=high]}")}}));
    w.value('a', "temp", 90);
    CHECK(w.of('a', label) == verdict{state::violating, true, 0, 0});
    w.at(10s);
    CHECK(w.of('a', label) == verdict{state::frozen, true, 0, 1});
    w.value('a', "temp", 10);
    CHECK(w.of('a', label) == verdict{state::pass, false, 0, 0});
  }
}

}  // namespace engine_test
