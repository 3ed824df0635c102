#include "aggregator/policy/label_keys.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "tests/aggregator/policy/world.hpp"

namespace engine_writer_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

// The labels that the engine wishes are written by this process, or by another replica that has the Lease.

namespace {

std::string hot(const std::string& strategy, int target = 80) {
  return manifest(
      {{"deschedule",
        strategy + (strategy.empty() ? "" : ", ") +
            fmt::format("rules: [{{metricname: temp, operator: GreaterThan, target: {}}}]", target)}});
}

/// A replica that does not write labels, with nodes a, b, c that all violate.
struct standby : world {
  explicit standby(const std::string& strategy) {
    e.set_writes_labels(false, now);
    apply(hot(strategy));
    for (const char n : {'a', 'b', 'c'}) value(n, "temp", 90, 10h);
  }
  void carries(char node, bool on = true) {
    e.set_node_labels(id(node), on ? violating : std::map<std::string, std::string>{}, now);
  }
  std::string all() const { return labels('a') + " " + labels('b') + " " + labels('c'); }
};

TEST_SUITE("aggregator/policy/engine/writer") {
  TEST_CASE("maxNodes: a replica that does not write gives no slot, but follows the labels that are there") {
    standby s("maxNodes: 1");
    CHECK(s.all() == "-p -p -p");
    CHECK_FALSE_MESSAGE(s.holds(condition_kind::held), "its label may be on its way");
    s.carries('b');
    CHECK(s.all() == "-p p=violating -p");
    SUBCASE("and goes on from there when it writes") {
      s.e.set_writes_labels(true, s.now);
      CHECK(s.all() == "-p p=violating -p");
      CHECK(s.holds(condition_kind::held));
      s.value('b', "temp", 10, 10h);
      s.carries('b', false);
      CHECK(s.all() == "p=violating -p -p");
    }
    SUBCASE("also when the writing replica moves the label") {
      s.carries('b', false);
      s.carries('c');
      CHECK(s.all() == "-p -p p=violating");
      s.e.set_writes_labels(true, s.now);
      CHECK(s.all() == "-p -p p=violating");
    }
    SUBCASE("also when the labelled node does not violate by this replica's data") {
      s.value('b', "temp", 10, 10h);
      CHECK(s.all() == "-p -p -p");
      s.e.set_writes_labels(true, s.now);
      CHECK_MESSAGE(s.all() == "-p -p -p", "first b's label has to go");
      s.carries('b', false);
      CHECK(s.all() == "p=violating -p -p");
    }
    SUBCASE("also when that node violates only after its label was seen") {
      s.value('b', "temp", 10, 10h);
      s.value('b', "temp", 90, 10h);
      CHECK(s.all() == "-p p=violating -p");
    }
  }

  TEST_CASE("without a limit both wish the same") {
    standby s("");
    CHECK(s.all() == "p=violating p=violating p=violating");
    s.e.set_writes_labels(true, s.now);
    CHECK(s.all() == "p=violating p=violating p=violating");
  }

  TEST_CASE("coolDown goes on across a change of the writer") {
    standby s("coolDown: 1h");
    s.carries('a');
    s.at(30min);
    s.e.set_writes_labels(true, s.now);
    CHECK(s.all() == "p=violating -p -p");
    s.at(1h - 1ms);
    CHECK(s.all() == "p=violating -p -p");
    s.at(1h);
    CHECK(s.all() == "p=violating p=violating -p");
  }

  TEST_CASE("who loses the Lease counts no more on what it was going to write") {
    standby s("maxNodes: 1");
    s.e.set_writes_labels(true, s.now);
    CHECK(s.all() == "p=violating -p -p");
    s.e.set_writes_labels(false, s.now);
    CHECK(s.all() == "-p -p -p");
    s.carries('c');
    s.e.set_writes_labels(true, s.now);
    CHECK(s.all() == "-p -p p=violating");
  }

  TEST_CASE("a slot is free when the label is off, so that there are never more labels than slots") {
    world w;
    w.apply(hot("maxNodes: 1"));
    w.value('a', "temp", 90, 1h);
    w.value('b', "temp", 90, 1h);
    w.e.set_node_labels(world::id('a'), violating, w.now);
    w.value('a', "temp", 10, 1h);
    CHECK(w.labels('a') == "-p");
    CHECK(w.labels('b') == "-p");
    SUBCASE("it is taken off") {
      w.e.set_node_labels(world::id('a'), {}, w.now);
      CHECK(w.labels('b') == "p=violating");
    }
    SUBCASE("the node is gone") {
      w.e.node_gone(world::id('a'), w.now);
      CHECK(w.labels('b') == "p=violating");
    }
    SUBCASE("it violates again before that: it has its slot") {
      w.value('a', "temp", 90, 1h);
      CHECK(w.labels('a') == "p=violating");
      CHECK(w.labels('b') == "-p");
    }
  }

  TEST_CASE("a smaller maxNodes takes labels off, and their echo does not put them on again") {
    world w;
    w.apply(hot("maxNodes: 2"));
    for (const char n : {'a', 'b'}) {
      w.value(n, "temp", 90, 1h);
      w.e.set_node_labels(world::id(n), violating, w.now);
    }
    w.apply(hot("maxNodes: 1"));
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "-p");
    w.e.set_node_labels(world::id('b'), violating, w.now);
    CHECK(w.labels('b') == "-p");
  }

  TEST_CASE("a policy that comes after the labels were heard of begins with them") {
    world w;
    w.e.set_writes_labels(false, w.now);
    w.e.set_node_labels(world::id('b'), violating, w.now);
    w.apply(hot("maxNodes: 1"));
    w.e.set_writes_labels(true, w.now);
    w.value('a', "temp", 90, 1h);
    CHECK_MESSAGE(w.what('a', evict) == state::held, "b's label counts, though nothing is known of b");
    CHECK(w.labels('b') == "~p");
  }

  TEST_CASE("a node that cannot be labelled takes no slot of those that can") {
    world w({.told_nodes_only = true});
    w.e.all_nodes_told();
    w.apply(hot("maxNodes: 1"));
    w.value('a', "temp", 90, 1h);
    CHECK(w.what('a', evict) == state::violating);
    CHECK_FALSE(w.holds(condition_kind::held));
    w.e.set_node_labels(world::id('b'), {}, w.now);
    w.value('b', "temp", 90, 1h);
    CHECK(w.labels('b') == "p=violating");
    w.e.set_node_labels(world::id('a'), {}, w.now);
    CHECK(w.what('a', evict) == state::held);
    w.e.node_gone(world::id('b'), w.now);
    CHECK(w.labels('a') == "p=violating");
    w.value('b', "temp", 90, 1h);  // its agent goes on
    CHECK(w.what('b', evict) == state::violating);
    w.value('a', "temp", 10, 1h);
    w.e.set_node_labels(world::id('b'), {}, w.now);
    CHECK(w.labels('b') == "p=violating");
  }

  TEST_CASE("a node whose label somebody else has keeps no slot of maxNodes") {
    world w;
    w.apply(hot("maxNodes: 1"));
    for (const char n : {'a', 'b'}) {
      w.e.set_node_labels(w.id(n), {}, w.now);
      w.value(n, "temp", 90, 10h);
    }
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "-p");
    SUBCASE("the next one has it, and nobody else's label is waited for") {
      w.e.set_taken_keys(w.id('a'), {"p"}, w.now);
      CHECK(w.labels('a') == "!p");
      CHECK(w.labels('b') == "p=violating");
      CHECK_FALSE(w.holds(condition_kind::held));
      CHECK(w.what('a', evict) == state::violating);
      w.e.set_taken_keys(w.id('a'), {}, w.now);
      CHECK_MESSAGE(w.labels('a') == "-p", "b has the slot now");
      CHECK(w.holds(condition_kind::held));
      w.value('b', "temp", 10, 10h);
      CHECK(w.labels('a') == "p=violating");
    }
    SUBCASE("also when that is known before it violates") {
      w.value('a', "temp", 10, 10h);
      w.value('b', "temp", 10, 10h);
      w.e.set_taken_keys(w.id('a'), {"p"}, w.now);
      w.value('a', "temp", 90, 10h);
      w.value('b', "temp", 90, 10h);
      CHECK(w.labels('a') == "!p");
      CHECK(w.labels('b') == "p=violating");
    }
    SUBCASE("labels of other policies are no matter") {
      w.e.set_taken_keys(w.id('a'), {"q"}, w.now);
      CHECK(w.labels('a') == "p=violating");
    }
    SUBCASE("a node that is made anew has forgotten it") {
      w.e.set_taken_keys(w.id('a'), {"p"}, w.now);
      w.e.node_gone(w.id('a'), w.now);
      w.value('b', "temp", 10, 10h);
      w.value('a', "temp", 90, 10h);
      CHECK(w.labels('a') == "p=violating");
    }
  }

  TEST_CASE("labeling: a node has a slot as long as one label that it would get is free") {
    const std::string rule = "{{metricname: {0}, operator: GreaterThan, target: 80, labels: [{0}=hot]}}";
    world w;
    w.apply(manifest({{"labeling", "maxNodes: 1, rules: [" + fmt::format(fmt::runtime(rule), "temp") + ", " +
                                       fmt::format(fmt::runtime(rule), "watts") + "]"}}));
    for (const char n : {'a', 'b'}) {
      w.e.set_node_labels(w.id(n), {}, w.now);
      w.value(n, "temp", 90, 10h);
      w.value(n, "watts", 10, 10h);
    }
    CHECK(w.labels('b') == "-p/temp -p/watts");
    w.e.set_taken_keys(w.id('a'), {"telemetry.aware.scheduling.p/temp"}, w.now);
    CHECK(w.labels('a') == "!p/temp -p/watts");
    CHECK(w.labels('b') == "p/temp=hot -p/watts");
    w.value('b', "temp", 10, 10h);
    w.value('a', "watts", 90, 10h);
    CHECK_MESSAGE(w.labels('a') == "p/temp=hot p/watts=hot", "one of them is written");
    // Node a must lose its label of ours before another node may take the slot.
    const std::string watts = "telemetry.aware.scheduling.p/watts";
    w.e.set_node_labels(w.id('a'), {{watts, "hot"}}, w.now);
    w.value('a', "watts", 10, 10h);
    w.value('b', "temp", 90, 10h);
    CHECK(w.labels('a') == "!p/temp -p/watts");
    CHECK(w.labels('b') == "-p/temp -p/watts");
    w.e.set_node_labels(w.id('a'), {}, w.now);
    CHECK(w.labels('b') == "p/temp=hot -p/watts");
  }

  TEST_CASE("a share is of the nodes that can be labelled: others that stream are none of the cluster's") {
    world w({.told_nodes_only = true});
    w.e.all_nodes_told();
    w.apply(hot("maxNodes: 50%"));
    for (const char n : {'a', 'b'}) w.e.set_node_labels(w.id(n), {}, w.now);
    for (char n = 'a'; n < 'k'; ++n) w.value(n, "temp", 90, 10h);
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "-p");
    w.e.set_node_labels(w.id('c'), {}, w.now);
    CHECK_MESSAGE(w.labels('b') == "-p", "half of three is one");
    w.e.set_node_labels(w.id('d'), {}, w.now);
    CHECK(w.labels('b') == "p=violating");
    CHECK(w.labels('c') == "-p");
  }

  TEST_CASE("no replica writes the labels of a dry run, so each judges it as if it were the writer") {
    world w;
    w.e.set_writes_labels(false, w.now);
    w.apply(manifest(
        {{"deschedule", "maxNodes: 1, rules: [{metricname: temp, operator: GreaterThan, target: 80}]"}}, "p",
        "default", "DryRun"));
    w.value('a', "temp", 90);
    w.value('b', "temp", 90);
    CHECK(w.would_be('a') == "p=violating");
    CHECK(w.what('b', evict) == state::held);
    CHECK(w.holds(condition_kind::held));
  }

  TEST_CASE("a dry run that becomes serious labels one node after another, as if nothing had been given") {
    const auto as = [](const std::string& mode, int target) {
      return manifest(
          {{"deschedule", fmt::format("coolDown: 1h, rules: [{{metricname: temp, operator: GreaterThan, "
                                      "target: {}}}]",
                                      target)}},
          "p", "default", mode);
    };
    for (const int target : {80, 70}) {  // the same strategy, and an edited one
      CAPTURE(target);
      world w;
      w.apply(as("DryRun", 80));
      for (const char n : {'a', 'b', 'c'}) w.value(n, "temp", 90, 10h);
      w.at(3h);
      CHECK(w.would_be('a') + w.would_be('b') + w.would_be('c') == "p=violatingp=violatingp=violating");
      w.apply(as("Enforce", target));
      const auto all = [&w] { return w.labels('a') + ' ' + w.labels('b') + ' ' + w.labels('c'); };
      CHECK(all() == "p=violating -p -p");
      w.at(4h);
      CHECK(all() == "p=violating p=violating -p");
    }
  }

  TEST_CASE("an edit that touches no label looks at no node's labels anew") {
    const auto filter = [](int target) {
      return "---\n" + manifest({{"dontschedule", fmt::format("rules: [{{metricname: temp, operator: "
                                                              "GreaterThan, target: {}}}]",
                                                              target)}},
                                "q");
    };
    world w;
    w.apply(hot("") + filter(10));
    w.value('a', "temp", 90);
    w.value('b', "temp", 10);
    const auto relabelled = [&w](const std::string& policies) {
      w.out.relabelled.clear();
      w.apply(policies);
      return w.out.relabelled.size();
    };
    CHECK(relabelled(hot("") + filter(20)) == 0);
    CHECK(relabelled(hot("")) == 0);
    CHECK(relabelled(hot("") + filter(20)) == 0);
    CHECK(relabelled(hot("", 70) + filter(20)) == 2);
    CHECK(relabelled(filter(20)) == 2);
  }

  TEST_CASE("keys belong to policies that label nodes: enforced, and of a namespace that may") {
    const std::string rules = "rules: [{metricname: temp, operator: GreaterThan, target: 80";
    const auto both = [&](const std::string& name, const std::string& space, const std::string& mode) {
      return manifest({{"deschedule", rules + "}]"}, {"labeling", rules + ", labels: [heat=high, x=y]}]"}},
                      name, space, mode) +
             "---\n";
    };
    world w({.label_namespaces = {"default"}});
    w.apply(both("a", "default", "Enforce") + both("b", "default", "DryRun") + both("c", "other", "Enforce"));
    CHECK(w.e.label_keys() == std::set<std::string, std::less<>>{"a", "telemetry.aware.scheduling.a/heat",
                                                                 "telemetry.aware.scheduling.a/x"});
  }

  TEST_CASE("whose a label is") {
    CHECK(policy_of("power") == "power");
    CHECK(policy_of("telemetry.aware.scheduling.my.power/heat") == "my.power");
    CHECK(can_be_ours("power", "violating"));
    CHECK_FALSE(can_be_ours("power", "no"));
    CHECK(can_be_ours("telemetry.aware.scheduling.power/heat", "no"));
  }

  TEST_CASE("policies that are wrong, whole or in part, are named") {
    policy_set set;
    set.put("a.yaml", hot(""));
    CHECK(set.wrong_ones().empty());
    set.put("b.yaml",
            manifest({{"deschedule", "rules: [{metricname: temp, operator: Above, target: 80}]"}}, "b"));
    CHECK(set.wrong_ones() == std::set<std::string, std::less<>>{"b"});
    set.remove("b.yaml");
    CHECK(set.wrong_ones().empty());
  }
}

}  // namespace

}  // namespace engine_writer_test
