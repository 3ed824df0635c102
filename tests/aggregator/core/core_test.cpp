#include "aggregator/core/core.hpp"

#include "aggregator/policy/text/yaml.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace aggregator_core_test {

namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

/// A change as one line of text.
struct printer {
  static std::string text(const labels::label_map& all) {
    std::string out;
    for (const auto& [key, value] : all) out += " " + key + "=" + value;
    return out;
  }
  std::string operator()(const store::node_update& u) const {
    return fmt::format("node {}{}{}{}", u.name,
                       u.connected ? (*u.connected ? " connected" : " disconnected") : "",
                       u.cells ? " row" : "", u.sources ? " sources" : "");
  }
  std::string operator()(const labels_carried& l) const { return "labels " + l.node + text(l.labels); }
  std::string operator()(const labels_would_be& l) const { return "dry-run " + l.node + text(l.labels); }
  std::string operator()(const wishes_changed& w) const {
    std::string out = "wishes";
    for (const auto& n : w.wishes) {
      out += " " + n.node;
      for (const auto& [key, wish] : n.wishes)
        out += wish.what == policy::label_wish::action::set ? " " + key + "=" + wish.value : " no " + key;
    }
    return out;
  }
  std::string operator()(const policy::label_claims& c) const {
    return c.no_policies ? "claims: no policies" : fmt::format("claims: {} keys", c.keys.size());
  }
  std::string operator()(const nodes_forgotten& n) const { return fmt::format("forgotten {}", n.ids.size()); }
  std::string operator()(const policies_published& p) const {
    return fmt::format("published {}", p.table->size());
  }
  std::string operator()(const models_learned& m) const { return fmt::format("models {}", m.models.size()); }
  std::string operator()(const aliases_replaced& a) const {
    return fmt::format("aliases {}", a.table->own());
  }
  std::string operator()(const faces_news& n) const { return std::visit(*this, n); }
  std::string operator()(const interest_changed& i) const {
    std::string out = "interest";
    for (const auto& w : i.wanted.wishes) out += " " + w.family;
    return out;
  }
  std::string operator()(const policy_event& e) const {
    return fmt::format("event {} {}", to_string(e.what.what), e.node);
  }
  std::string operator()(const policy::condition& c) const {
    return fmt::format("condition {} {}", to_string(c.what), c.active);
  }
  std::string operator()(const learning_restarted& l) const { return "learns again " + l.node; }
  std::string operator()(const deadline_moved& d) const { return fmt::format("tick at {}", to_ns(d.at)); }
};

/// The policy `hot` with one strategy, of these fields.
std::string hot_by(const std::string& strategy, const std::string& fields) {
  return "apiVersion: telemetry.intel.com/v1alpha1\n"
         "kind: TASPolicy\n"
         "metadata: {name: hot}\n"
         "spec: {strategies: {" +
         strategy + ": {" + fields + "}}}\n";
}

const std::string hot =
    hot_by("deschedule", "rules: [{metricname: temp, operator: GreaterThan, target: 80}]");
constexpr auto both =
    "logicalOperator: allOf, rules: [{metricname: temp, operator: GreaterThan, target: 80}, "
    "{metricname: fan, operator: LessThan, target: 1000}]";

/// A core, the changes that it yielded, and the events that these tests need. Each event comes a second after
/// the one before.
struct house {
  explicit house(bool in_cluster = false, std::size_t most_nodes = 10)
      : whole({.limits = {.nodes = most_nodes}, .in_cluster = in_cluster}, names,
              [this](const change& c) { yielded.push_back(std::visit(printer(), c)); }) {
    announced = store::catalog_builder().group("os").series("temp");
  }
  void policy(const std::string& text, bool complete = false) {
    policies_in_force all;
    for (const auto& p : policy::parse_policies("p.yaml", text).policies) {
      REQUIRE(p.usable);
      all.policies.push_back(p.value);
    }
    all.complete = complete;
    whole.policies(all, now += 1s);
  }
  store::node_id agent(const std::string& name) {
    const auto id = whole.node(name);
    REQUIRE(id.has_value());
    whole.connected(*id, "1.0", "10.0.0.1", now += 1s);
    REQUIRE(whole.catalog(*id, announced, now).has_value());
    return *id;
  }
  void value(store::node_id id, std::int64_t temp) {
    now += 1s;
    REQUIRE(whole.batch(id, store::batch_at(announced, now, {{0, temp}}), 0s, now).has_value());
  }
  instant tick() { return whole.tick(now); }
  bool has(const std::string& line) const { return std::ranges::find(yielded, line) != yielded.end(); }
  std::size_t place(const std::string& line) const {
    return static_cast<std::size_t>(std::ranges::find(yielded, line) - yielded.begin());
  }

  std::vector<std::string> yielded;
  std::shared_ptr<const metrics::alias_table> names = std::make_shared<metrics::alias_table>();
  wire::catalog announced;
  instant now = store::at_s(1000);
  core whole;
};

TEST_SUITE("aggregator/core/core") {
  TEST_CASE("standalone: a batch makes a verdict at once and a label at the next tick") {
    house h;
    h.policy(hot);
    CHECK(h.has("published 1"));
    CHECK(h.has("interest temp"));
    const auto a = h.agent("node-a");
    CHECK(h.has("node node-a connected"));
    CHECK(h.has("node node-a row"));
    h.value(a, 90);
    CHECK(h.has("event Violating node-a"));
    CHECK_FALSE(h.has("labels node-a hot=violating"));
    h.tick();
    CHECK(h.has("labels node-a hot=violating"));
    h.value(a, 70);
    h.tick();
    CHECK(h.has("event Cleared node-a"));
    CHECK(h.yielded.back() == "labels node-a");
  }

  TEST_CASE("a batch is judged as a whole: what only half of its values say never happens") {
    house h;
    h.announced = store::catalog_builder().group("os").series("temp").series("fan");
    h.policy(hot_by("deschedule", both));
    const auto a = h.agent("node-a");
    const auto values = [&](std::int64_t temp, std::int64_t fan) {
      h.now += 1s;
      REQUIRE(h.whole.batch(a, store::batch_at(h.announced, h.now, {{0, temp}, {1, fan}}), 0s, h.now)
                  .has_value());
      h.tick();
    };
    // Each step ends one rule and begins the other. So whichever value is looked at first, both rules would
    // be true halfway in every second step.
    for (int i = 0; i < 3; ++i) {
      values(90, 3000);
      values(70, 300);
    }
    CHECK_FALSE(h.has("event Violating node-a"));
    CHECK_FALSE(h.has("labels node-a hot=violating"));
    values(90, 300);
    CHECK(h.has("event Violating node-a"));
    CHECK(h.has("labels node-a hot=violating"));
  }

  TEST_CASE("a maximum goes on with what is left of it, and so does a rule's `for`") {
    house h;
    h.announced = store::rack_inlets();
    h.policy(hot_by("dontschedule",
                    "rules: [{metricname: rack_inlet, operator: GreaterThan, target: 20, for: 15s}]"));
    const auto a = h.agent("node-a");
    const auto send = [&](std::uint16_t group, std::int64_t value) {
      REQUIRE(
          h.whole.batch(a, store::rack_inlet_at(h.announced, h.now, group, value), 0s, h.now).has_value());
    };
    std::function<void()> first = [] {};
    SUBCASE("the timer comes first") {
      first = [&] { h.tick(); };
    }
    SUBCASE("a batch comes first") {}
    SUBCASE("another event comes first") {
      first = [&] { h.whole.load(0.1, h.now); };
    }
    const instant began = h.now;
    send(0, 30);
    send(1, 25);
    for (int second = 1; second < 15; ++second) {
      h.now = began + std::chrono::seconds(second);
      first();
      if (second % 4 == 0) send(1, 25);
    }
    CHECK_FALSE(h.has("event Violating node-a"));
    h.now = began + 16s;
    send(1, 25);
    CHECK(h.has("event Violating node-a"));
  }

  TEST_CASE("a rule whose own staleAfter ends earlier sees that gap, also if the timer is late") {
    house h;
    h.announced = store::rack_inlets();
    h.policy(hot_by(
        "dontschedule",
        "rules: [{metricname: rack_inlet, operator: GreaterThan, target: 20, for: 15s, staleAfter: 9s}]"));
    const auto a = h.agent("node-a");
    const auto send = [&](std::uint16_t group) {
      REQUIRE(h.whole.batch(a, store::rack_inlet_at(h.announced, h.now, group, 30), 0s, h.now).has_value());
    };
    bool late = false;
    SUBCASE("the timer is on time") {}
    SUBCASE("the timer is late") { late = true; }
    const instant began = h.now;
    const auto until = [&](duration after) {
      while (!late && h.whole.tick(h.now) <= began + after) h.now = std::max(h.now, h.whole.tick(h.now));
      h.now = began + after;
    };
    send(0);
    for (const duration after : {0s, 4s, 8s}) {
      until(after);
      send(1);
    }
    until(
        10'500ms);  // the first value of the two is too old for the rule since 9 s, for the metric since 10 s
    for (const duration after : {12s, 16s}) {
      until(after);
      send(1);
    }
    CHECK_FALSE(h.has("event Violating node-a"));
    for (const duration after : {20s, 24s, 28s}) {
      until(after);
      send(1);
    }
    CHECK(h.has("event Violating node-a"));
  }

  TEST_CASE("the first batch of a node whose object has gone is judged as a whole, too") {
    house h(true);
    h.announced = store::catalog_builder().group("os").series("temp").series("fan");
    h.policy(hot_by("dontschedule", both));
    const auto a = h.agent("node-a");
    const auto values = [&](std::int64_t temp, std::int64_t fan) {
      h.now += 1s;
      REQUIRE(h.whole.batch(a, store::batch_at(h.announced, h.now, {{0, temp}, {1, fan}}), 0s, h.now)
                  .has_value());
    };
    for (int i = 0; i < 2; ++i) {
      values(70, 300);
      h.whole.node_labels({{"node-a", labels::label_map{}}}, h.now += 1s);
      h.whole.node_labels({{"node-a", std::nullopt}}, h.now += 1s);
      values(90, 3000);
      h.whole.node_labels({{"node-a", labels::label_map{}}}, h.now += 1s);
      h.whole.node_labels({{"node-a", std::nullopt}}, h.now += 1s);
    }
    CHECK_FALSE(h.has("event Violating node-a"));
  }

  TEST_CASE("labels that wait make the tick due now, and it is said once") {
    house h;
    h.policy(hot);
    const auto a = h.agent("node-a"), b = h.agent("node-b");
    CHECK(h.tick() > h.now);
    h.yielded.clear();
    h.value(a, 90);
    const auto due = fmt::format("tick at {}", to_ns(h.now));
    CHECK(h.yielded.back() == due);
    h.value(b, 90);
    CHECK(std::ranges::count_if(h.yielded, [](const auto& l) { return l.starts_with("tick"); }) == 1);
    CHECK(h.tick() > h.now);
  }

  TEST_CASE("a value that ages out is seen at the time that the tick asked for, without an event") {
    house h;
    h.policy(hot);
    const auto a = h.agent("node-a");
    h.value(a, 90);
    const instant next = h.tick();
    CHECK(next > h.now);
    CHECK(next <= h.now + 10s);
    for (int i = 0; i < 10 && h.now < store::at_s(1030); ++i) h.now = h.tick();
    CHECK(h.has("condition Frozen true"));
  }

  TEST_CASE("in a cluster nothing is wished for a node before its object is known, and claims come first") {
    house h(true);
    h.whole.set_writes_labels(true, h.now);
    h.policy(hot);
    CHECK_MESSAGE(h.place("claims: 1 keys") == h.yielded.size(), "not all policies are read");
    const auto a = h.agent("node-a");
    h.value(a, 90);
    h.tick();
    CHECK_FALSE(h.has("wishes node-a hot=violating"));
    h.policy(hot, true);
    h.whole.node_labels({{"node-a", labels::label_map{}}}, h.now);
    REQUIRE(h.has("wishes node-a hot=violating"));
    CHECK(h.place("claims: 1 keys") < h.place("wishes node-a hot=violating"));
    h.policy("", true);
    CHECK(h.has("claims: no policies"));
  }

  TEST_CASE("a node whose link is down for long is forgotten, unless it carries a label of ours") {
    house h(true);
    h.policy(hot);
    const auto a = h.agent("node-a"), b = h.agent("node-b");
    h.whole.node_labels({{"node-a", labels::label_map{{"hot", "violating"}}}}, h.now);
    h.whole.disconnected(a, h.now);
    h.whole.disconnected(b, h.now);
    CHECK(h.has("node node-b disconnected"));
    h.now += 24h;
    const auto gone = h.whole.forget_idle(24h, h.now);
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].name == "node-b");
    CHECK(h.has("forgotten 1"));
    CHECK(h.whole.store().find("node-a").has_value());
  }

  TEST_CASE("what the faces and the policies watch is what agents are asked for") {
    house h;
    const auto column = h.whole.watch({"temp"}, h.now);
    CHECK(h.yielded.back() == "interest temp");
    const auto a = h.agent("node-a");
    h.value(a, 42);
    CHECK(column.values->load(a).value == decimal{42, 0});
    h.whole.unwatch(column.id, h.now);
    CHECK(h.yielded.back() == "interest");
  }

  TEST_CASE("another table of aliases counts from its event on, and the core keeps it") {
    house h;
    auto other = std::make_shared<metrics::alias_table>();
    metrics::alias row = metrics::alias_table::built_in().all()[0];
    row.name = "heat";
    row.family = "temp";
    other->add(row);
    h.whole.aliases(std::exchange(other, nullptr), h.now);
    CHECK(h.has("aliases 1"));
    h.whole.watch({"heat"}, h.now);
    CHECK(h.yielded.back() == "interest temp");
  }

  TEST_CASE("a batch that does not fit the catalog is refused and changes nothing") {
    house h;
    h.policy(hot);
    const auto a = h.agent("node-a");
    h.yielded.clear();
    wire::batch wrong = store::batch_at(h.announced, h.now, {{7, 90}});
    CHECK(h.whole.batch(a, wrong, 0s, h.now).has_error());
    CHECK(h.yielded.empty());
  }

  TEST_CASE("time never goes back: an event from before happens at the last one's time") {
    house h;
    h.policy(hot);
    const auto a = h.agent("node-a");
    h.tick();
    const instant before = h.now - 1h;
    REQUIRE(h.whole.batch(a, store::batch_at(h.announced, h.now, {{0, 90}}), 0s, before).has_value());
    CHECK(h.yielded.back() == fmt::format("tick at {}", to_ns(h.now)));
    CHECK(h.whole.tick(before) > h.now);
    CHECK(h.has("labels node-a hot=violating"));
  }

  // Replaying recorded events would depend on this.
  TEST_CASE("the same events at the same times yield the same changes") {
    const auto played = [](bool in_cluster) {
      house h(in_cluster);
      h.whole.set_writes_labels(true, h.now);
      h.policy(hot, in_cluster);
      std::vector<store::node_id> nodes;
      for (const std::string name : {"node-a", "node-b", "node-c"}) {
        nodes.push_back(h.agent(name));
        h.whole.node_labels({{name, labels::label_map{}}}, h.now);
      }
      std::uint32_t noise = 1;
      for (int i = 0; i < 300; ++i) {
        noise = noise * 1664525 + 1013904223;
        const auto id = nodes[noise % 3];
        switch (noise >> 8 & 7) {
          case 0: h.whole.disconnected(id, h.now); break;
          case 1: h.whole.connected(id, "1.0", "10.0.0.1", h.now); break;
          case 2: h.whole.sources(id, {{"os", true, ""}}, h.now); break;
          case 3: h.now += 7s; break;
          default: h.value(id, 60 + static_cast<std::int64_t>(noise >> 12) % 40);
        }
        h.tick();
      }
      return h.yielded;
    };
    for (const bool in_cluster : {false, true}) {
      const auto first = played(in_cluster);
      CHECK(first.size() > 100);
      CHECK(first == played(in_cluster));
    }
  }
}

}  // namespace

}  // namespace aggregator_core_test
