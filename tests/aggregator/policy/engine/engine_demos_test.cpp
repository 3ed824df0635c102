#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/text_file.hpp"
#include "tests/aggregator/policy/world.hpp"

#include <string>

namespace engine_demos_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/engine/demos") {
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
}

}  // namespace engine_demos_test
