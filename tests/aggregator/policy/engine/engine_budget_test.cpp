#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/world.hpp"

namespace engine_budget_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

namespace {

constexpr auto label = strategy_kind::labeling;

}  // namespace

TEST_SUITE("aggregator/policy/engine/budget") {
  TEST_CASE(
      "maxNodes: no more nodes than that are labelled; the others wait in the order of their violation") {
    world w;
    w.apply(one("deschedule", hot, "maxNodes: 2"));
    for (const char n : {'d', 'b', 'a', 'c'}) w.value(n, "temp", 90, 1h);
    CHECK(w.labels('d') == "p=violating");
    CHECK(w.labels('b') == "p=violating");
    CHECK(w.labels('a') == "-p");
    CHECK(w.what('a', evict) == state::held);
    CHECK_FALSE(w.of('a', evict).violating);
    CHECK(w.what('c', evict) == state::held);
    CHECK(w.why(condition_kind::held) == "violating nodes wait for their label: maxNodes 2");
    w.value('b', "temp", 10, 1h);
    CHECK(w.labels('b') == "-p");
    CHECK_MESSAGE(w.labels('a') == "p=violating", "a began to violate before c");
    CHECK(w.labels('c') == "-p");
    w.e.node_gone(world::id('d'), w.now);
    CHECK(w.labels('c') == "p=violating");
    CHECK_FALSE(w.holds(condition_kind::held));
    CHECK(w.labels('d').empty());
  }

  TEST_CASE("maxNodes as a share: of the known nodes, rounded down, at least one") {
    world w;
    w.apply(one("deschedule", hot, "maxNodes: 20%"));
    CHECK(w.out.table->begin()->second->strategies.at(0).max_nodes == node_limit{20, true});
    for (char n = 'a'; n < 'a' + 12; ++n) w.value(n, "temp", 10, 1h);
    for (char n = 'a'; n < 'a' + 5; ++n) w.value(n, "temp", 90, 1h);
    CHECK(w.e.status()[0].violating == 2);
    CHECK(w.e.status()[0].held == 3);
    for (char n = 'a' + 12; n < 'a' + 15; ++n) w.e.node_added(world::id(n), w.now);
    CHECK_MESSAGE(w.e.status()[0].violating == 3, "a fifth of fifteen");

    world few;
    few.apply(one("deschedule", hot, "maxNodes: 20%"));
    few.value('a', "temp", 90);
    CHECK(few.labels('a') == "p=violating");
  }

  TEST_CASE("coolDown: least time between two nodes' labels") {
    world w;
    w.apply(one("deschedule", hot, "coolDown: 60s"));
    CHECK(w.out.table->begin()->second->strategies.at(0).cool_down == 60s);
    for (const char n : {'a', 'b', 'c'}) w.value(n, "temp", 90, 1h);
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.what('b', evict) == state::held);
    CHECK(w.why(condition_kind::held).ends_with("coolDown 1m"));
    w.at(59'999ms);
    CHECK(w.what('b', evict) == state::held);
    w.at(60s);
    CHECK(w.what('b', evict) == state::violating);
    CHECK(w.what('c', evict) == state::held);
    w.at(100s);
    w.value('c', "temp", 10, 1h);
    w.at(120s);
    w.value('c', "temp", 90, 1h);
    CHECK_MESSAGE(w.what('c', evict) == state::violating, "it waited long enough, without waiting");
    w.value('a', "temp", 10, 1h);
    w.value('a', "temp", 90, 1h);
    CHECK_MESSAGE(w.what('a', evict) == state::held, "a label that goes on again counts too");
  }

  TEST_CASE("a waiting node whose data goes missing waits no longer, and begins anew") {
    world w;
    w.apply(one("deschedule", hot, "maxNodes: 1"));
    w.value('a', "temp", 90, 1h);
    w.value('b', "temp", 90, 10s);
    w.value('c', "temp", 90, 1h);
    w.at(10s);
    CHECK(w.what('b', evict) == state::frozen);
    CHECK(w.labels('b') == "-p");
    w.value('b', "temp", 90, 1h);
    w.value('a', "temp", 10, 1h);
    CHECK(w.labels('c') == "p=violating");
    CHECK(w.labels('b') == "-p");
  }

  TEST_CASE("a restart keeps its slots: labelled nodes count before anyone else may ask") {
    world w;
    w.apply(one("deschedule", hot, "maxNodes: 1, coolDown: 1h"));
    w.e.set_node_labels(world::id('b'), violating, w.now);
    w.value('a', "temp", 90);
    CHECK(w.what('a', evict) == state::held);
    w.value('b', "temp", 90);
    CHECK(w.labels('b') == "p=violating");
    w.value('b', "temp", 10, 2h);
    w.value('a', "temp", 90, 2h);
    CHECK_MESSAGE(w.labels('a') == "-p", "b's label is still there");
    w.e.set_node_labels(world::id('b'), {}, w.now);
    CHECK_MESSAGE(w.labels('a') == "-p", "it may have gone on just before the restart");
    w.at(1h);
    CHECK(w.labels('a') == "p=violating");
  }

  TEST_CASE("maxNodes for labeling counts nodes, not labels") {
    world w;
    w.apply(one("labeling",
                "{metricname: temp, operator: GreaterThan, target: 80, labels: [heat=high, alarm=on]},"
                "{metricname: ram, operator: LessThan, target: 200, labels: [ram=low]}",
                "maxNodes: 1"));
    w.value('a', "temp", 90, 1h);
    w.value('a', "ram", 100, 1h);
    w.value('b', "temp", 90, 1h);
    w.value('b', "ram", 300, 1h);
    CHECK(w.labels('a') == "p/alarm=on p/heat=high p/ram=low");
    CHECK(w.labels('b') == "-p/alarm -p/heat -p/ram");
    w.value('a', "temp", 10, 1h);
    CHECK(w.labels('a') == "-p/alarm -p/heat p/ram=low");
    CHECK(w.what('b', label) == state::held);
    w.value('a', "ram", 300, 1h);
    CHECK(w.labels('b') == "p/alarm=on p/heat=high -p/ram");
  }
}

}  // namespace engine_budget_test
