#include "aggregator/policy/engine.hpp"
#include "text_file.hpp"
#include "world.hpp"

#include <set>

namespace engine_labels_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

namespace {

constexpr auto evict = strategy_kind::deschedule;
constexpr auto label = strategy_kind::labeling;

const std::string hot = "{metricname: temp, operator: GreaterThan, target: 80}";
const std::string low = "{metricname: ram, operator: LessThan, target: 200}";

std::string rules(const std::string& more, const std::string& strategy = "") {
  return strategy + (strategy.empty() ? "" : ", ") + "rules: [" + more + "]";
}
std::string one(const std::string& kind, const std::string& rule, const std::string& strategy = "") {
  return manifest({{kind, rules(rule, strategy)}});
}

const std::map<std::string, std::string> violating{{"p", "violating"}};

/// The label as an enforcer would leave it that follows the wishes: what is flipped counts.
struct follower {
  explicit follower(world& w) : w(w) {}
  void follow(char node) {
    for (const auto& [key, wish] : w.e.labels(world::id(node))) {
      auto& mine = labels[node];
      const auto before = mine;
      if (wish.what == label_wish::action::set) mine[key] = wish.value;
      if (wish.what == label_wish::action::remove) mine.erase(key);
      if (mine != before) ++changes;
    }
  }
  world& w;
  std::map<char, std::map<std::string, std::string>> labels;
  int changes = 0;
};

}  // namespace

TEST_SUITE("aggregator/policy/labels") {
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

  TEST_CASE("a partial value only decides what its missing members cannot turn round") {
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
             // A maximum without its hottest member.
             {hot.c_str(), more, 40, true, true, false},
             {hot.c_str(), more, 90, false, true, true},
             {hot.c_str(), more, 40, false, false, false},
             {band.c_str(), more, 75, true, true, true},
             {band.c_str(), more, 60, true, true, false},
             {cold.c_str(), more, 10, false, false, false},
             {cold.c_str(), more, 30, true, false, true},
             // A minimum without its coldest.
             {hot.c_str(), less, 90, false, false, false},
             {hot.c_str(), less, 40, true, false, true},
             {band.c_str(), less, 75, true, true, false},
             {cold.c_str(), less, 10, false, true, true},
             {cold.c_str(), less, 30, true, true, false},
             // A mean without any.
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
      w.sample(
          'a', "temp",
          {from_double(r.value, -3).value(), w.now, w.now + 10s, wire::absence::none, true, false, r.sure});
      CHECK(w.of('a', evict).violating == r.labelled_after);
      CHECK((w.what('a', evict) != state::frozen) == r.known);
    }
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

  TEST_CASE("labeling waits for each label's own metric") {
    world w;
    w.apply(data("labeling.yaml"));
    w.value('a', "metric_card1", 900, 1h);
    CHECK(w.labels('a') == "~labeling-policy/card0 labeling-policy/card1=true");
    w.value('a', "metric_card0", 10, 1h);
    CHECK(w.labels('a') == "-labeling-policy/card0 labeling-policy/card1=true");
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
      w.e.set_node_labels(world::id('a'), c.written, w.now);  // told back
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

  TEST_CASE("a restart keeps its places: labelled nodes count before anyone else may ask") {
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
    SUBCASE("different operators: the first true rule, and a condition says so") {
      w.apply(one("labeling",
                  "{metricname: x, operator: GreaterThan, target: 10, labels: [foo=x, bar=1]},"
                  "{metricname: y, operator: LessThan, target: 10, labels: [foo=y, baz=1]}"));
      CHECK(w.why(condition_kind::conflict).find("give the label foo: the first true one wins") !=
            std::string::npos);
      w.value('a', "x", 11);
      w.value('a', "y", 9);
      CHECK(w.labels('a') == "p/bar=1 p/baz=1 p/foo=x");
      w.value('a', "x", 10);
      CHECK(w.labels('a') == "-p/bar p/baz=1 p/foo=y");
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
