#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/world.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace engine_told_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/engine/told") {
  TEST_CASE("an event for each violation, with the rule and without the value") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot + "," + low, "logicalOperator: allOf")}}));
    REQUIRE(w.out.events.size() == 1);
    CHECK(w.out.events[0].what == event_kind::accepted);
    CHECK(w.out.events[0].message == "new policy in force: dontschedule");
    w.value('a', "temp", 91.25);
    w.value('a', "ram", 7);
    w.value('a', "ram", 8);
    w.value('a', "temp", 10);
    REQUIRE(w.out.events.size() == 3);
    CHECK(w.out.events[1].what == event_kind::violating);
    CHECK(w.out.events[1].node == world::id('a'));
    CHECK(w.out.events[1].message == "dontschedule is violated: temp GreaterThan 80 and ram LessThan 200");
    CHECK(w.out.events[2].what == event_kind::cleared);
    CHECK(w.out.events[2].message == "dontschedule is no longer violated");
    w.apply("");
    CHECK(w.out.events.back().what == event_kind::removed);
  }

  TEST_CASE("a metric that no node has is said once the grace is over, and taken back when one has it") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot + "," + low)}}));
    w.value('a', "temp", 1, 60s);
    w.at(59s);
    CHECK_FALSE(w.holds(condition_kind::metric_missing));
    w.value('a', "temp", 1, 60s);
    w.at(60s);
    CHECK(w.why(condition_kind::metric_missing).find("no node has a value of ram:") == 0);
    w.value('b', "ram", 500, 10s);
    CHECK_FALSE(w.holds(condition_kind::metric_missing));
    w.at(70s);
    CHECK(w.holds(condition_kind::metric_missing));
    CHECK_FALSE(w.out.conditions.back().reworded);
    w.at(119s);
    CHECK(w.why(condition_kind::metric_missing).find("no node has a value of temp, ram:") == 0);
    CHECK(w.out.conditions.back().reworded);
  }

  TEST_CASE("a metric that no node has is compared with the names that nodes announce") {
    const auto why = [](const std::string& metrics, family_names announced) {
      world w;
      w.columns.families = std::move(announced);
      w.apply(manifest({{"dontschedule", rules(metrics)}}));
      w.e.node_added(world::id('a'), w.now);
      w.at(61s);
      return w.why(condition_kind::metric_missing);
    };
    const std::string wrong = "{metricname: os_load_1m, operator: GreaterThan, target: 1}";
    const std::string foreign = "{metricname: queue_length, operator: GreaterThan, target: 1}";
    const std::string ours = "{metricname: rapl_power_watts, operator: GreaterThan, target: 1}";
    CHECK(why(wrong, {"os_load1", "os_load15", "x"}) ==
          "no node has a value of os_load_1m: did you mean os_load1?");
    CHECK(why(foreign + "," + wrong, {"os_load1"}) ==
          "no node has a value of queue_length, os_load_1m: did you mean os_load1 instead of os_load_1m?");
    CHECK(why(foreign, {"os_load1"}) ==
          "no node has a value of queue_length: /apis/custom.metrics.k8s.io/v1beta2 lists all names");
    CHECK(why(ours, {"bmc_power_watts"}) ==
          "no node has a value of rapl_power_watts: `binnacle-agent --probe` on a node says what it cannot "
          "read, and why");
  }

  TEST_CASE(
      "attack: many names that no node has are compared for a bounded time, and once, not at each edit") {
    std::vector<std::string> announced;
    for (int i = 0; i < 2'000; ++i) announced.push_back(std::string(60, 'a') + std::to_string(10'000 + i));
    world w;
    w.columns.families.assign(announced.begin(), announced.end());
    const auto policies = [](int target) {
      std::string text;
      for (int i = 0; i < 30; ++i) {
        text += fmt::format(R"(apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {{name: p{}, namespace: default}}
spec:
  strategies:
    dontschedule:
      rules:
)",
                            i);
        for (int r = 0; r < 4; ++r)
          text += fmt::format("      - {{metricname: {}, operator: GreaterThan, target: {}}}\n",
                              std::string(60, 'a') + std::string(20, static_cast<char>('p' + r)),
                              i == 0 ? target : 1);
        text += "---\n";
      }
      return text;
    };
    w.apply(policies(1));
    w.e.node_added(world::id('a'), w.now);
    w.at(61s);
    CHECK(w.e.conditions().size() == 30);
    CHECK(w.columns.listings == 1);
    w.at(70s);
    w.apply(policies(1));
    CHECK(w.columns.listings == 1);
    w.apply(policies(2));
    w.at(200s);
    CHECK(w.columns.listings == 2);
    CHECK(w.e.conditions().size() == 30);
  }

  TEST_CASE("attack: a node whose metrics come and go makes 500 sentences a second, and all in the end") {
    std::string text;
    for (int i = 0; i < 900; ++i)
      text += fmt::format(R"(apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {{name: p{}, namespace: default}}
spec: {{strategies: {{dontschedule: {{rules: [{{metricname: ram, operator: GreaterThan, target: 1}}]}}}}}}
---
)",
                          i);
    world w;
    w.apply(text);
    w.e.node_added(world::id('a'), w.now);
    w.at(10s);
    CHECK(w.e.conditions().size() == 500);
    w.at(11s);
    CHECK(w.e.conditions().size() == 900);
    w.at(20s);
    w.value('a', "ram", 1, 5s);
    CHECK(w.e.conditions().empty());
    w.at(25s);
    CHECK(w.e.conditions().size() == 500);
    w.value('a', "ram", 1, 5s);
    CHECK(w.e.conditions().empty());
    w.at(29s);
    CHECK_MESSAGE(w.e.conditions().empty(), "what was still to be said is true no more");
  }

  TEST_CASE("statuses count the nodes in each state") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}, {"deschedule", rules(hot, "maxNodes: 1")}}));
    for (const char n : {'a', 'b', 'c'}) w.value(n, "temp", n == 'c' ? 10 : 90);
    const auto all = w.e.status();
    REQUIRE(all.size() == 2);
    CHECK(all[0].strategy == dont);
    CHECK(all[0].violating == 2);
    CHECK(all[0].pass == 1);
    CHECK(all[1].strategy == evict);
    CHECK(all[1].violating == 1);
    CHECK(all[1].held == 1);
    CHECK(all[1].pass == 1);
  }
}

}  // namespace engine_told_test
