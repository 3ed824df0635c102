#include "aggregator/policy/engine.hpp"

#include "text_file.hpp"
#include "world.hpp"

namespace engine_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

namespace {

constexpr auto dont = strategy_kind::dontschedule;
constexpr auto evict = strategy_kind::deschedule;
constexpr auto label = strategy_kind::labeling;

const std::string hot = "{metricname: temp, operator: GreaterThan, target: 80}";
const std::string low = "{metricname: ram, operator: LessThan, target: 200}";

std::string rules(const std::string& more, const std::string& strategy = "") {
  return strategy + (strategy.empty() ? "" : ", ") + "rules: [" + more + "]";
}

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

  TEST_CASE("a Quantity decides exactly: 20500m violates 20, 20 does not") {
    world w;
    w.apply(manifest({{"dontschedule", rules("{metricname: m, operator: GreaterThan, target: 20}")}}));
    w.value('a', "m", 20.5);
    CHECK(w.what('a') == state::violating);
    w.value('a', "m", 20);
    CHECK(w.what('a') == state::pass);
  }

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

  TEST_CASE("defect_16_a_value_ages_out_by_itself") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    w.value('a', "temp", 90, 10s);
    REQUIRE(w.e.next_deadline().has_value());
    w.at(9'999ms);
    CHECK(w.what('a') == state::violating);
    w.at(10s);
    CHECK(w.what('a') == state::pass);
    CHECK(w.of('a').unknown == 1);
  }

  TEST_CASE("a value that does not change but is read again stays") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    for (int s = 0; s < 60; ++s) {
      w.at(std::chrono::seconds(s));
      w.value('a', "temp", 90, 10s);
    }
    CHECK(w.what('a') == state::violating);
    CHECK(w.e.deadlines_under_way() <= 2);
    w.at(68'999ms);
    CHECK(w.what('a') == state::violating);
    w.at(69s);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("a shorter life than the one before counts at once") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    w.value('a', "temp", 90, 60s);
    w.at(1s);
    w.value('a', "temp", 90, 2s);
    w.at(3s);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("staleAfter of a rule replaces the metric's own, for that rule") {
    world w;
    w.apply(manifest({{"dontschedule",
                       rules("{metricname: temp, operator: GreaterThan, target: 80, staleAfter: 3s}")}}) +
            "---\n" +
            manifest({{"dontschedule",
                       rules("{metricname: temp, operator: GreaterThan, target: 80, staleAfter: 1h}")}},
                     "long") +
            "---\n" + manifest({{"dontschedule", rules(hot)}}, "own"));
    CHECK(w.columns.watches == 1);
    w.value('a', "temp", 90, 10s);
    w.at(3s);
    CHECK(w.what('a') == state::pass);
    CHECK(w.what('a', dont, "own") == state::violating);
    w.at(10s);
    CHECK(w.what('a', dont, "own") == state::pass);
    CHECK(w.what('a', dont, "long") == state::violating);
    const auto& shown = w.out.table->find(policy_key{"default", "long"})->second->strategies[0].rules[0];
    CHECK(shown.load(world::id('a')).present(w.now));
    w.at(1h);
    CHECK(w.what('a', dont, "long") == state::pass);
    CHECK_FALSE(shown.load(world::id('a')).present(w.now));
  }

  TEST_CASE("for: true this long, in sample time") {
    world w;
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, for: 5s}")}}));
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::pass);
    w.at(4'999ms);
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::pass);
    SUBCASE("the sample that completes it") {
      w.at(5s);
      CHECK_MESSAGE(w.what('a') == state::pass, "time alone proves nothing");
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
      w.at(6s);
      w.value('a', "temp", 80);
      CHECK(w.what('a') == state::pass);
      w.at(7s);
      w.value('a', "temp", 90);
      CHECK_MESSAGE(w.what('a') == state::pass, "it counts from the beginning again");
    }
    SUBCASE("one value that is not true starts it anew") {
      w.at(5s);
      w.value('a', "temp", 80);
      w.at(6s);
      w.value('a', "temp", 90);
      w.at(10s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::pass);
      w.at(11s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
    }
    SUBCASE("absence starts it anew") {
      w.absent('a', "temp");
      w.at(5s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::pass);
      w.at(10s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
    }
    SUBCASE("so does expiry, also when the timer was late") {
      w.now = w.start + 15s;  // no tick came; the next sample did
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::pass);
      w.at(20s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
    }
    SUBCASE("sample time is the read time, not the time of arrival") {
      w.at(8s);
      w.sample('a', "temp",
               {from_double(90, 0).value(), w.start + 4'999ms, w.start + 20s, wire::absence::none});
      CHECK(w.what('a') == state::pass);
      w.sample('a', "temp", {from_double(90, 0).value(), w.start + 5s, w.start + 20s, wire::absence::none});
      CHECK(w.what('a') == state::violating);
    }
  }

  TEST_CASE("for goes by the newest member of a number that is made of several") {
    world w;
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, for: 30s}")}}));
    // The oldest member was read 50 s before the first sample, and again before the last.
    const auto read = [&w](duration oldest, double value) {
      store::sample s{from_double(value, -3).value(), w.start + oldest, w.start + oldest + 180s,
                      wire::absence::none};
      s.spread = w.now - s.read_at;
      w.sample('a', "temp", s);
    };
    w.at(50s);
    read(0s, 90);
    CHECK(w.what('a') == state::pass);
    w.at(79s);
    read(0s, 90);
    CHECK(w.what('a') == state::pass);
    w.at(80s);
    read(0s, 90);
    CHECK(w.what('a') == state::violating);
    w.at(81s);
    read(60s, 50);
    CHECK(w.what('a') == state::pass);
    // An edit goes on by the same time.
    w.at(100s);
    read(60s, 90);
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, for: 20s}")}}));
    w.at(119s);
    read(60s, 90);
    CHECK(w.what('a') == state::pass);
    w.at(120s);
    read(60s, 90);
    CHECK(w.what('a') == state::violating);
  }

  TEST_CASE("clearBelow and clearAbove: violated at the target, cleared only past the other end") {
    world w;
    w.apply(manifest({{"dontschedule",
                       rules("{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}")}}) +
            "---\n" +
            manifest({{"dontschedule",
                       rules("{metricname: temp, operator: LessThan, target: 20, clearAbove: 30}")}},
                     "cold"));
    struct row {
      double temp;
      state warm, cold;
    };
    int step = 0;
    for (const row& r : {row{75, state::pass, state::pass},
                         {80, state::pass, state::pass},
                         {80.001, state::violating, state::pass},
                         {75, state::violating, state::pass},
                         {70, state::violating, state::pass},
                         {69.999, state::pass, state::pass},
                         {75, state::pass, state::pass},
                         {20, state::pass, state::pass},
                         {19, state::pass, state::violating},
                         {30, state::pass, state::violating},
                         {30.001, state::pass, state::pass},
                         {25, state::pass, state::pass}}) {
      CAPTURE(++step);
      w.at(std::chrono::seconds(step));
      w.value('a', "temp", r.temp);
      CHECK(w.what('a') == r.warm);
      CHECK(w.what('a', dont, "cold") == r.cold);
    }
  }

  TEST_CASE("a dontschedule in its band forgets with its data: it was allowed, so it is again") {
    world w;
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}")}}));
    w.value('a', "temp", 90);
    w.absent('a', "temp");
    w.value('a', "temp", 75);
    CHECK(w.what('a') == state::pass);
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
               {from_double(v, -3).value(), w.now, w.now + 10s, wire::absence::none, true, false,
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
    // As the store tells it again when a catalogue has changed.
    w.sample('a', "temp", {{90, 0}, w.start, w.start + 10s, wire::absence::none});
    CHECK(w.what('a') == state::violating);
    w.value('a', "temp", 75);
    CHECK(w.what('a') == state::violating);
  }

  TEST_CASE("a node that appears after the grace is rejected until it has data") {
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
          "no node has a value of queue_length: /apis/custom.metrics.k8s.io/v1beta2 lists the names that "
          "there are");
    CHECK(why(ours, {"bmc_power_watts"}) ==
          "no node has a value of rapl_power_watts: `binnacle-agent --probe` on a node says what it cannot "
          "read, and why");
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

  TEST_CASE("a sample of a column that nobody watches is nobody's business") {
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

  TEST_CASE("the power demo: the hottest node is refused at 60 %, the others pass") {
    world w;
    w.apply(data("power-demo.yaml"));
    w.value('a', "package_power_avg", 72.133);
    w.value('b', "package_power_avg", 40.821);
    w.value('c', "package_power_avg", 51.774);
    const auto& verdicts = *w.out.table->begin()->second->find(dont)->verdicts;
    CHECK(verdicts.load(world::id('a')).what == state::violating);
    CHECK(verdicts.load(world::id('b')).what == state::pass);
    CHECK(verdicts.load(world::id('c')).what == state::pass);
  }

  TEST_CASE("the OpenShift demo's three thresholds") {
    world w;
    w.apply(data("openshift-power.yaml"));
    CHECK(w.columns.watches == 1);
    const std::string watts = "collectd_package_0_power_power";
    struct row {
      double watts;
      state place, evict;
      const char* labels;
    };
    for (const row& r : {row{29.118, state::pass, state::pass, "-power-policy"},
                         {32, state::pass, state::pass, "-power-policy"},
                         {32.5, state::violating, state::pass, "-power-policy"},
                         {33, state::violating, state::pass, "-power-policy"},
                         {33.1, state::violating, state::violating, "power-policy=violating"},
                         {32.9, state::violating, state::pass, "-power-policy"},
                         {20.1, state::pass, state::pass, "-power-policy"}}) {
      CAPTURE(r.watts);
      w.value('a', watts, r.watts);
      CHECK(w.what('a', dont, "power-policy") == r.place);
      CHECK(w.what('a', evict, "power-policy") == r.evict);
      CHECK(w.labels('a') == r.labels);
    }
  }

  TEST_CASE("TAS's health-metric demo, step by step") {
    world w;
    w.apply(data("health-metric.yaml"));
    const policy_key key{"health-metric-demo", "demo-policy"};
    const auto place = [&](char n) {
      return w.out.table->find(key)->second->find(dont)->verdicts->load(world::id(n)).what;
    };
    for (const char n : {'a', 'b', 'c'}) w.value(n, "health_metric", 0);
    CHECK(place('a') == state::pass);
    CHECK(w.labels('a') == "-demo-policy");
    w.value('a', "health_metric", 1);
    CHECK(place('a') == state::violating);
    CHECK(place('b') == state::pass);
    CHECK(w.labels('a') == "-demo-policy");
    w.value('b', "health_metric", 2);
    CHECK(place('b') == state::violating);
    CHECK(w.labels('b') == "demo-policy=violating");
    w.value('b', "health_metric", 0);
    CHECK(place('b') == state::pass);
    CHECK(w.labels('b') == "-demo-policy");
  }

  TEST_CASE("TAS's labeling demo, step by step") {
    world w;
    w.apply(data("labeling.yaml"));
    w.value('a', "metric_card0", 200);
    w.value('a', "metric_card1", 90);
    w.value('b', "metric_card0", 90);
    w.value('b', "metric_card1", 90);
    CHECK(w.labels('a') == "labeling-policy/card0=true -labeling-policy/card1");
    CHECK(w.labels('b') == "-labeling-policy/card0 -labeling-policy/card1");
    w.value('a', "metric_card0", 100);
    CHECK(w.labels('a') == "-labeling-policy/card0 -labeling-policy/card1");
    w.value('a', "metric_card0", 90);
    w.value('b', "metric_card1", 900);
    CHECK(w.labels('b') == "-labeling-policy/card0 labeling-policy/card1=true");
    w.value('a', "metric_card0", 200);
    CHECK(w.labels('a') == "labeling-policy/card0=true -labeling-policy/card1");
    CHECK(w.labels('b') == "-labeling-policy/card0 labeling-policy/card1=true");
  }

  TEST_CASE("TAS's multirules sample: deschedule needs both, dontschedule either") {
    world w;
    w.apply(data("multirules.yaml"));
    const auto of = [&](strategy_kind kind) { return w.what('a', kind, "multirules"); };
    w.value('a', "temperature", 81);
    w.value('a', "freeRAM", 300);
    CHECK(of(dont) == state::violating);
    CHECK(of(evict) == state::pass);
    w.value('a', "freeRAM", 199);
    CHECK(of(evict) == state::violating);
    w.value('a', "temperature", 80);
    CHECK(of(dont) == state::violating);
    CHECK(of(evict) == state::pass);
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
