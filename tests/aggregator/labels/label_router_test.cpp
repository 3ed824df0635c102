#include "aggregator/labels/label_router.hpp"

#include "tests/aggregator/policy/world.hpp"

#include <fmt/format.h>

namespace label_router_test {

namespace {

using namespace binnacle;
using namespace binnacle::labels;
using namespace std::chrono_literals;
using policy::test::world;

const label_map violating{{"p", "violating"}};

/// The router with an engine and the store's names, and the wishes that it has sent. Policy p may label one
/// node.
struct house {
  explicit house(bool in_cluster)
      : w({.told_nodes_only = in_cluster}),
        router(in_cluster, stock, w.e,
               {[this](store::node_id, const std::string& name, label_map labels) {
                  carried[name] = std::move(labels);
                },
                [this](store::node_id, const std::string& name, label_map labels) {
                  would_be[name] = std::move(labels);
                  ++dry_letters;
                },
                [this](std::vector<node_wishes> news) {
                  for (node_wishes& n : news) wishes[n.node] = world::text(n.wishes);
                  ++letters;
                },
                [this](store::node_id id) { gone.push_back(stock.name(id)); }}) {
    w.apply(policy::test::manifest(
        {{"deschedule", "maxNodes: 1, rules: [{metricname: temp, operator: GreaterThan, target: 80}]"}}));
  }
  /// An agent connects for this node. The node's name is this letter.
  void agent(char node) {
    const std::string name(1, node);
    const auto id = stock.node(name);
    REQUIRE(id.has_value());
    router.add_node(*id, name, w.now);
    w.e.node_added(*id, w.now);
    work();
  }
  void value(char node, double v) {
    w.value(node, "temp", v, 10h);
    work();
  }
  void tell(char node, std::optional<label_map> labels, const std::string& uid = {}) {
    router.set_labels({{std::string(1, node), std::move(labels), uid}}, w.now);
    work();
  }
  /// Forgets idle nodes as the ingest loop does from time to time, after 24 h.
  void forget_idle() {
    const auto keep = [this](const std::string& name) { return router.keeps(name); };
    router.forget_nodes(stock.forget_idle(24h, w.now, keep), w.now);
    work();
  }
  void work() {
    for (const store::node_id n : std::exchange(w.out.relabelled, {})) router.relabel(n);
    while (router.has_work()) {
      router.do_wishes(w.now);
      for (const store::node_id n : std::exchange(w.out.relabelled, {})) router.relabel(n);
    }
  }

  world w;
  store::warehouse stock;
  std::map<std::string, label_map> carried, would_be;
  int dry_letters = 0;
  std::map<std::string, std::string> wishes;
  int letters = 0;
  std::vector<std::string> gone;
  label_router router;
};

TEST_SUITE("aggregator/labels/label_router") {
  TEST_CASE("standalone: wishes are done in a book, and shown") {
    house h(false);
    h.agent('a');
    h.agent('b');
    h.value('a', 90);
    h.value('b', 90);
    CHECK(h.carried["a"] == violating);
    CHECK(h.carried["b"].empty());
    h.value('a', 10);
    CHECK(h.carried["a"].empty());
    CHECK(h.carried["b"] == violating);
    CHECK(h.letters == 0);
  }

  TEST_CASE("what a dry run would label is shown, once for each change, and nothing is labelled") {
    bool in_cluster = false;
    SUBCASE("standalone") {}
    SUBCASE("cluster") { in_cluster = true; }
    house h(in_cluster);
    const auto as = [&h](const std::string& mode) {
      h.w.apply(policy::test::manifest(
          {{"deschedule", "rules: [{metricname: temp, operator: GreaterThan, target: 80}]"}}, "p", "default",
          mode));
      h.work();
    };
    as("DryRun");
    h.agent('a');
    if (in_cluster) h.tell('a', label_map{});
    h.value('a', 90);
    CHECK(h.would_be["a"] == violating);
    h.value('a', 91);
    CHECK(h.dry_letters == 1);
    CHECK(h.carried["a"].empty());
    CHECK(h.wishes["a"] == "");
    as("Enforce");
    CHECK(h.would_be["a"].empty());
    as("DryRun");
    CHECK(h.would_be["a"] == violating);
    h.value('a', 10);
    CHECK(h.would_be["a"].empty());
    CHECK(h.dry_letters == 4);
  }

  TEST_CASE("cluster: nothing is sent of a node before its labels are known, then each change once") {
    house h(true);
    h.agent('a');
    h.value('a', 90);
    CHECK(h.letters == 0);
    h.tell('a', label_map{});
    CHECK(h.wishes["a"] == "p=violating");
    CHECK(h.letters == 1);
    h.value('a', 91);
    CHECK(h.letters == 1);
    h.tell('a', violating);
    CHECK(h.carried["a"] == violating);
    h.value('a', 10);
    CHECK(h.wishes["a"] == "-p");
    CHECK(h.letters == 2);
  }

  TEST_CASE("cluster: what changes on many nodes is sent in turns, and each node has its own") {
    house h(true);
    std::string labels;
    for (int i = 0; i < 64; ++i) labels += fmt::format("{}k{}=v", i == 0 ? "" : ", ", i);
    h.w.apply(policy::test::manifest(
        {{"labeling",
          "rules: [{metricname: temp, operator: GreaterThan, target: 80, labels: [" + labels + "]}]"}}));
    constexpr std::size_t nodes = label_router::most_at_once / 64 * 2;
    const auto name = [](std::size_t i) { return fmt::format("n{}", i); };
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto id = h.stock.node(name(i));
      REQUIRE(id.has_value());
      h.router.add_node(*id, name(i), h.w.now);
      h.w.e.node_added(*id, h.w.now);
      h.router.set_labels({{name(i), label_map{}}}, h.w.now);
      h.router.relabel(*id);
    }
    h.router.do_wishes(h.w.now);
    CHECK(h.router.has_work());
    CHECK(h.letters == 1);
    const std::size_t first = h.wishes.size();
    CHECK(first > 0);
    CHECK(first < nodes);
    // Those that had their turn wait behind the others.
    for (std::size_t i = 0; i < nodes; ++i) h.router.relabel(*h.stock.node(name(i)));
    h.router.do_wishes(h.w.now);
    CHECK(h.wishes.size() > first);
    h.work();
    CHECK(h.wishes.size() == nodes);
  }

  TEST_CASE("it does not matter whether the Node object or its agent comes first") {
    house h(true);
    h.tell('a', label_map{});
    h.agent('a');
    h.value('a', 90);
    CHECK(h.wishes["a"] == "p=violating");
  }

  TEST_CASE("a label counts before its node's agent has come") {
    house h(true);
    h.tell('a', violating);
    CHECK(h.stock.find("a").has_value());
    CHECK(h.carried["a"] == violating);
    h.agent('b');
    h.tell('b', label_map{});
    h.value('b', 90);
    CHECK(h.wishes["b"] == "-p");
    h.agent('a');
    h.value('a', 10);
    h.tell('a', label_map{});
    CHECK(h.wishes["b"] == "p=violating");
    // The store need not know a node that has no labels of ours and no agent.
    h.tell('c', label_map{});
    CHECK_FALSE(h.stock.find("c").has_value());
  }

  TEST_CASE("a node that carries a label is not forgotten, however long its agent is away") {
    house h(true);
    h.tell('a', violating);
    h.w.at(24h);
    h.forget_idle();
    CHECK(h.stock.find("a").has_value());
    h.agent('b');
    h.tell('b', label_map{});
    h.value('b', 90);
    CHECK(h.wishes["b"] == "-p");
    CHECK(h.wishes["a"] == "~p");
    // When the label is removed, the node may be forgotten.
    h.tell('a', label_map{});
    h.forget_idle();
    CHECK_FALSE(h.stock.find("a").has_value());
    CHECK(h.wishes["b"] == "p=violating");
  }

  TEST_CASE("nobody gets the slot of a labelled node whose agent is away for too long") {
    house h(true);
    for (const char n : {'a', 'b'}) {
      h.agent(n);
      h.tell(n, label_map{});
      h.value(n, 90);
    }
    h.tell('a', violating);
    CHECK(h.wishes["b"] == "-p");
    h.stock.set_linked(*h.stock.find("a"), false, h.w.now);
    h.w.at(24h);
    h.value('b', 90);
    h.forget_idle();
    CHECK(h.wishes["b"] == "-p");
    h.tell('a', std::nullopt);
    CHECK(h.wishes["b"] == "p=violating");
  }

  TEST_CASE("what others have on a node is told to the engine, also when the agent comes later or again") {
    house h(true);
    for (const char n : {'a', 'b'}) h.tell(n, label_map{});
    h.router.set_taken_keys({{"a", {"p"}}, {"nobody", {"p"}}}, h.w.now);
    for (const char n : {'a', 'b'}) {
      h.agent(n);
      h.value(n, 90);
    }
    CHECK(h.wishes["a"] == "!p");
    CHECK(h.wishes["b"] == "p=violating");
    h.tell('b', violating);
    h.tell('b', std::nullopt);
    h.router.set_taken_keys({{"a", {}}}, h.w.now);
    h.work();
    CHECK(h.wishes["a"] == "p=violating");
  }

  TEST_CASE("standalone: a node that is away for too long gives its slot back with the rest") {
    house h(false);
    for (const char n : {'a', 'b'}) {
      h.agent(n);
      h.value(n, 90);
    }
    CHECK(h.carried["b"].empty());
    h.stock.set_linked(*h.stock.find("a"), false, h.w.now);
    h.w.at(24h);
    h.value('b', 90);
    CHECK_MESSAGE(h.carried["b"].empty(), "silent, not gone");
    h.forget_idle();
    CHECK(h.carried["b"] == violating);
  }

  TEST_CASE("a node that is deleted gives its slot back, also while its agent goes on") {
    house h(true);
    for (const char n : {'a', 'b'}) {
      h.agent(n);
      h.tell(n, label_map{});
      h.value(n, 90);
    }
    CHECK(h.wishes["a"] == "p=violating");
    h.tell('a', violating);
    h.tell('a', std::nullopt);
    CHECK(h.carried["a"].empty());
    h.value('a', 90);
    CHECK(h.wishes["b"] == "p=violating");
    // The Node object was made again: its wishes are sent again, even if they did not change.
    h.wishes.clear();
    h.tell('a', label_map{});
    CHECK(h.wishes["a"] == "-p");
  }

  TEST_CASE("a node that was made anew under its name is another node, though nobody saw it go") {
    house h(true);
    h.agent('a');
    h.tell('a', label_map{}, "u1");
    h.value('a', 90);
    h.tell('a', violating, "u1");
    h.wishes.clear();
    h.tell('a', violating, "u1");
    CHECK(h.gone.empty());
    CHECK(h.wishes.empty());
    h.tell('a', label_map{}, "u2");
    CHECK((h.gone == std::vector<std::string>{"a"}));
    CHECK(h.carried["a"].empty());
    CHECK_MESSAGE(h.wishes["a"] == "p=violating", "its agent goes on, and the label is not there yet");
    CHECK(h.router.uid("a") == "u2");
  }

  TEST_CASE("when all Node objects have been told, a node without one is gone") {
    house h(true);
    for (const char n : {'a', 'b'}) h.agent(n);
    h.router.recall(*h.stock.find("a"), {}, "u1", h.w.now);
    CHECK(h.router.uid("a") == "u1");
    h.tell('b', label_map{}, "u2");
    h.router.all_told(h.w.now);
    h.work();
    CHECK((h.gone == std::vector<std::string>{"a"}));
    CHECK(h.router.uid("a").empty());
    CHECK(h.router.uid("b") == "u2");
  }
}

}  // namespace

}  // namespace label_router_test
