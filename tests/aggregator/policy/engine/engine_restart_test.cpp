#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/text_file.hpp"
#include "tests/aggregator/policy/world.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine_restart_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

namespace {

/// What a snapshot of `w` says of nodes "a" and "b".
engine_memory copy_of(const world& w) {
  struct copied {
    strategy_mark mark;
    std::map<store::node_id, store::words> nodes;
  };
  auto all = std::make_shared<std::vector<copied>>();
  for (const strategy_mark& mark : w.e.marks()) {
    copied c{mark, {}};
    for (const char node : {'a', 'b'}) {
      store::words words;
      if (w.e.save(mark.serial, world::id(node), words)) c.nodes[world::id(node)] = words;
    }
    all->push_back(std::move(c));
  }
  return [all, taken = w.now](const policy_key& key, std::string_view uid,
                              strategy_kind kind) -> std::optional<remembered_strategy> {
    for (const copied& c : *all) {
      const strategy_mark& m = c.mark;
      if (m.key != key || m.uid != uid || m.kind != kind) continue;
      return remembered_strategy{
          m.content, {}, taken, m.last_given, [&c](store::node_id n) -> std::optional<store::word_reader> {
            const auto found = c.nodes.find(n);
            if (found == c.nodes.end()) return std::nullopt;
            return store::word_reader(found->second);
          }};
    }
    return std::nullopt;
  };
}

/// Another replica that begins at the moment of `before`, with its state and its values. The agents have not
/// come yet.
struct replica : world {
  explicit replica(const world& before, engine_options options = {}) : world(std::move(options)) {
    at(before.time());
    for (const char node : {'a', 'b'}) {
      for (const auto& [spec, c] : before.columns.columns) {
        store::sample s = c.values->load(id(node));
        s.link_down = true;
        columns.at(spec).values->store(id(node), s);
      }
      e.node_added(id(node), now);
    }
    e.set_memory(copy_of(before));
  }
};

const std::string in_band = "{metricname: temp, operator: GreaterThan, target: 50, clearBelow: 30}";

}  // namespace

TEST_SUITE("aggregator/policy/engine/restart") {
  TEST_CASE("a metric that the node never had is waited for, then given up") {
    world w;
    w.apply(one("deschedule", hot + "," + low));
    w.value('a', "temp", 50, 1h);
    CHECK_MESSAGE(w.labels('a') == "~p", "a label from before the start may be ram's doing");
    w.at(10s);
    CHECK(w.labels('a') == "-p");
    CHECK(w.what('a', evict) == state::pass);
    CHECK(w.of('a', evict).unknown == 1);
    w.value('a', "ram", 100);
    CHECK(w.labels('a') == "p=violating");
  }

  TEST_CASE("a metric is waited for as long as nodes announced it may take, each rule by itself") {
    world w;
    w.columns.at({"ram"}).stale_after = 30s;
    w.columns.at({"fan"}).stale_after = 20s;
    w.apply(one("deschedule", hot + "," + low + ",{metricname: fan, operator: GreaterThan, target: 1}"));
    w.e.set_node_labels(world::id('a'), violating, w.now);
    w.at(1s);
    w.value('a', "temp", 50, 1h);
    for (const duration t : {10s, 21s, 30s}) {
      w.at(t);
      CHECK(w.labels('a') == "p=violating");
    }
    SUBCASE("it comes at last") {
      w.value('a', "ram", 100, 1h);
      CHECK(w.labels('a') == "p=violating");
    }
    SUBCASE("it does not") {
      w.at(31s);
      CHECK(w.labels('a') == "-p");
    }
    SUBCASE("it is announced as slower still") {
      w.columns.at({"ram"}).stale_after = 90s;
      w.at(90s);
      CHECK(w.labels('a') == "p=violating");
      w.at(91s);
      CHECK(w.labels('a') == "-p");
    }
  }

  TEST_CASE("a label that one rule's values explain says nothing of another rule") {
    const std::map<std::string, std::string> xs{{"telemetry.aware.scheduling.p/x", "1"}};
    struct {
      const char* what;
      std::string policy;
      double undecided;
      std::map<std::string, std::string> written;
      std::string on, off;
    } const cases[] = {
        {"whose `for` is not over",
         one("deschedule", low + ", {metricname: temp, operator: GreaterThan, target: 80, for: 10m}"), 90,
         violating, "p=violating", "-p"},
        {"that is inside its band",
         one("deschedule", low + ", {metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}"),
         75, violating, "p=violating", "-p"},
        {"of the same label",
         one("labeling",
             "{metricname: ram, operator: LessThan, target: 200, labels: [x=1]},"
             "{metricname: temp, operator: GreaterThan, target: 80, for: 10m, labels: [x=1]}"),
         90, xs, "p/x=1", "-p/x"},
    };
    for (const auto& c : cases) {
      CAPTURE(c.what);
      const auto violate = [&](world& w) {
        w.apply(c.policy);
        w.value('a', "temp", c.undecided, 1h);
        w.value('a', "ram", 100, 1h);
        CHECK(w.labels('a') == c.on);
      };
      world w;
      violate(w);
      w.e.set_node_labels(world::id('a'), c.written, w.now);  // the API server shows the written label
      CHECK(w.labels('a') == c.on);
      w.value('a', "ram", 300, 1h);
      CHECK(w.labels('a') == c.off);

      world late;
      violate(late);
      late.value('a', "ram", 300, 1h);
      late.e.set_node_labels(world::id('a'), c.written, late.now);
      CHECK_MESSAGE(late.labels('a') == c.off, "told back after the value has fallen");
      late.e.set_node_labels(world::id('a'), {}, late.now);
      late.e.set_node_labels(world::id('a'), c.written, late.now);
      CHECK_MESSAGE(late.labels('a') == c.on, "gone and there again: another process has its reasons");
    }
  }

  TEST_CASE("an agent that finds a new replica late does not find that dontschedule forgot the band") {
    world before;
    before.apply(one("dontschedule", in_band));
    before.value('a', "temp", 60);
    before.value('a', "temp", 40);
    replica again(before);
    again.apply(one("dontschedule", in_band));
    CHECK(again.what('a') == state::violating);
    SUBCASE("after the value has expired") {
      again.at(45s);
      CHECK_MESSAGE(again.what('a') == state::pass, "nothing is known");
      again.value('a', "temp", 40);
      CHECK(again.what('a') == state::violating);
      again.value('a', "temp", 29);
      again.value('a', "temp", 40);
      CHECK(again.what('a') == state::pass);
    }
    SUBCASE("an absence after it has come is one") {
      again.at(5s);
      again.value('a', "temp", 40);
      again.at(14s);
      again.value('a', "temp", 40);
      CHECK(again.what('a') == state::violating);
      again.at(25s);
      again.value('a', "temp", 40);
      CHECK(again.what('a') == state::pass);
    }
    SUBCASE("nor is it waited for after the snapshot no longer counts") {
      again.at(45s);
      again.e.set_memory({});
      again.value('a', "temp", 40);
      CHECK(again.what('a') == state::pass);
    }
  }

  TEST_CASE("`for` goes on when an agent finds a new replica within a minute") {
    const std::string slow = "{metricname: temp, operator: GreaterThan, target: 50, for: 70s}";
    for (const char* kind : {"dontschedule", "deschedule"}) {
      CAPTURE(kind);
      const strategy_kind asked = kind == std::string("deschedule") ? evict : dont;
      world before;
      before.apply(one(kind, slow));
      before.value('a', "temp", 60);
      replica soon(before), late(before);
      for (replica* r : {&soon, &late}) r->apply(one(kind, slow));
      soon.at(60s);
      soon.value('a', "temp", 60, 1h);
      soon.at(69s);
      soon.value('a', "temp", 60, 1h);
      CHECK(soon.what('a', asked) == state::pass);
      soon.at(70s);
      soon.value('a', "temp", 60, 1h);
      CHECK(soon.what('a', asked) == state::violating);

      late.at(61s);
      late.value('a', "temp", 60, 1h);
      late.at(130s);
      late.value('a', "temp", 60, 1h);
      CHECK_MESSAGE(late.what('a', asked) == state::pass, "it may have been false meanwhile");
      late.at(131s);
      late.value('a', "temp", 60, 1h);
      CHECK(late.what('a', asked) == state::violating);
    }
  }

  TEST_CASE("a replica that ends before the agent has come passes on the band, and `for` not") {
    const std::string both = in_band + ", {metricname: ram, operator: GreaterThan, target: 7, for: 10s}";
    world before;
    before.apply(one("dontschedule", both));
    before.value('a', "temp", 60);
    before.value('a', "temp", 40);
    before.value('a', "ram", 8);
    replica between(before);
    between.apply(one("dontschedule", both));
    between.at(20s);
    replica again(static_cast<const world&>(between));  // not a copy of it
    again.apply(one("dontschedule", both));
    again.value('a', "ram", 8);
    CHECK(again.what('a') == state::pass);
    again.value('a', "temp", 40);
    CHECK(again.what('a') == state::violating);
    CHECK(again.of('a').rule == 0);
  }

  TEST_CASE("a dry run keeps its slots and turns until the Node objects are read") {
    for (const char* limit : {"maxNodes: 1", "maxNodes: 2", "maxNodes: 100%"}) {
      CAPTURE(limit);
      const bool both = limit != std::string("maxNodes: 1");
      const std::string dry = manifest({{"deschedule", rules(hot, limit + std::string(", coolDown: 1h"))}},
                                       "p", "default", "DryRun");
      const engine_options in_cluster{.told_nodes_only = true};
      world before(in_cluster);
      before.apply(dry);
      for (const char node : {'a', 'b'}) before.e.set_node_labels(world::id(node), {}, before.now);
      for (const char node : {'b', 'a'}) before.value(node, "temp", 90, 10h);
      before.at(90min);
      const auto would_be = [](const world& w) { return w.would_be('a') + ' ' + w.would_be('b'); };
      CHECK(would_be(before) == (both ? "p=violating p=violating" : "-p p=violating"));
      replica again(before, in_cluster);
      again.e.set_node_labels(world::id('c'), {}, again.now);  // on the first of several pages
      again.apply(dry);
      for (const char node : {'a', 'b'}) again.e.set_node_labels(world::id(node), {}, again.now);
      again.e.all_nodes_told();
      CHECK(would_be(again) == would_be(before));
    }
  }

  TEST_CASE("what is recalled of a strategy is given once: one that ends and comes back begins anew") {
    world before;
    before.apply(one("dontschedule", in_band));
    before.value('a', "temp", 60);
    before.value('a', "temp", 40);
    replica again(before);
    again.apply(one("dontschedule", in_band));
    again.value('a', "temp", 29);
    CHECK(again.what('a') == state::pass);
    again.apply("");
    again.value('a', "temp", 40);
    again.apply(one("dontschedule", in_band));
    CHECK_MESSAGE(again.what('a') == state::pass, "40 has never been above 50 since 29");
  }

  TEST_CASE("a policy that was deleted and created again with the same text begins anew") {
    const auto object = [](const std::string& uid) {
      std::string out = one("dontschedule", in_band);
      return out.insert(out.find(", namespace:"), ", uid: " + uid);
    };
    world w;
    w.apply(object("u1"));
    w.value('a', "temp", 60);
    w.value('a', "temp", 40);
    SUBCASE("while a replica was down") {
      replica same(w), other(w);
      same.apply(object("u1"));
      other.apply(object("u2"));
      CHECK(same.what('a') == state::violating);
      CHECK(other.what('a') == state::pass);
    }
    SUBCASE("and a replica was only told of the new one") {
      w.apply(object("u2"));
      CHECK(w.what('a') == state::pass);
      CHECK(w.out.events.back().message == "new policy in force: dontschedule");
      w.value('a', "temp", 60);
      CHECK(w.what('a') == state::violating);
      CHECK_MESSAGE(w.columns.releases == 0, "both read the column");
    }
  }

  TEST_CASE("defect_11_a_restart_takes_no_label_away") {
    world w;
    SUBCASE("before the data is there") {
      w.apply(one("deschedule", hot));
      w.e.set_node_labels(world::id('a'), violating, w.now);
      CHECK(w.labels('a') == "~p");
      CHECK(w.of('a', evict) == verdict{state::frozen, true, 0, 1});
      w.value('a', "temp", 90);
      CHECK(w.labels('a') == "p=violating");
      CHECK(w.what('a', evict) == state::violating);
    }
    SUBCASE("inside the band the label decides") {
      w.apply(one("deschedule", "{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}"));
      w.e.set_node_labels(world::id('a'), violating, w.now);
      w.e.set_node_labels(world::id('b'), {{"p", "other"}}, w.now);
      w.value('a', "temp", 75);
      w.value('b', "temp", 75);
      CHECK(w.labels('a') == "p=violating");
      CHECK(w.labels('b') == "-p");
      w.value('a', "temp", 69);
      CHECK(w.labels('a') == "-p");
    }
    SUBCASE("for was over before") {
      w.apply(one("deschedule", "{metricname: temp, operator: GreaterThan, target: 80, for: 60s}"));
      w.e.set_node_labels(world::id('a'), violating, w.now);
      w.value('a', "temp", 90);
      CHECK(w.labels('a') == "p=violating");
    }
    SUBCASE("labels that are heard of late decide what is still open, and only that") {
      w.apply(one("deschedule", "{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}"));
      w.value('a', "temp", 75);
      w.value('b', "temp", 60);
      w.value('b', "temp", 75);
      w.e.set_node_labels(world::id('a'), violating, w.now);
      w.e.set_node_labels(world::id('b'), violating, w.now);
      CHECK(w.labels('a') == "p=violating");
      CHECK_MESSAGE(w.labels('b') == "-p", "its value has cleared already");
      w.value('a', "temp", 60);
      w.e.set_node_labels(world::id('a'), violating, w.now);
      CHECK_MESSAGE(w.labels('a') == "-p", "the echo of our own label");
    }
    SUBCASE("a metric that never comes back does not hold the label for ever") {
      w.apply(one("deschedule", hot + "," + low));
      w.e.set_node_labels(world::id('a'), violating, w.now);
      w.value('a', "temp", 50, 1h);
      CHECK(w.labels('a') == "p=violating");
      w.at(10s);
      CHECK(w.labels('a') == "-p");
    }
    SUBCASE("labeling: each rule by its own label") {
      w.apply(data("labeling.yaml"));
      w.e.set_node_labels(world::id('a'), {{"telemetry.aware.scheduling.labeling-policy/card0", "true"}},
                          w.now);
      w.value('a', "metric_card1", 900);
      CHECK(w.labels('a') == "labeling-policy/card0=true labeling-policy/card1=true");
      w.at(5s);
      w.value('a', "metric_card1", 10, 1h);
      CHECK(w.labels('a') == "labeling-policy/card0=true -labeling-policy/card1");
      w.at(10s);
      CHECK_MESSAGE(w.labels('a') == "-labeling-policy/card0 -labeling-policy/card1", "card0 never came");
    }
  }
}

}  // namespace engine_restart_test
