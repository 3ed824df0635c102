// A replica begins after something changed that its state does not say as a newer one would: the release of
// the replica that gave it, or who owns the labels of a policy's name.
#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace restart_upgrade_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

/// A policy "hot" that labels nodes by a rule on their temperature, perhaps with more settings.
std::string hot_in(const std::string& name_space, const std::string& uid, int year, const std::string& rule,
                   const std::string& more = {}) {
  return fmt::format(
      "{{apiVersion: telemetry.intel.com/v1alpha1, kind: TASPolicy, metadata: {{name: hot, namespace: {}, "
      "uid: {}, creationTimestamp: \"{}-01-01T00:00:00Z\"}}, spec: {{strategies: {{deschedule: {{{}rules: "
      "[{{metricname: temp, operator: GreaterThan, {}}}]}}}}}}}}\n---\n",
      name_space, uid, year, more, rule);
}

/// A core without Kubernetes.
struct replica {
  replica()
      : whole(core_options{}, std::make_shared<const metrics::alias_table>(),
              [this](const change& c) { hear(c); }) {}
  void hear(const change& c) {
    const auto* news = std::get_if<faces_news>(&c);
    const auto* l = news == nullptr ? nullptr : std::get_if<labels_carried>(news);
    if (l == nullptr) return;
    if (l->labels.contains("hot")) {
      labelled.insert(l->node);
    } else {
      labelled.erase(l->node);
    }
  }
  void policies(const std::string& text, instant now) {
    policies_in_force all;
    for (const auto& p : policy::parse_policies("p.yaml", text).policies) all.policies.push_back(p.value);
    all.complete = true;
    whole.policies(all, now);
  }
  void connect(const std::string& node, instant now) {
    const auto id = whole.node(node).value();
    whole.connected(id, "1.0", "10.0.0.1", now);
    REQUIRE(whole.catalog(id, announced, now).has_value());
  }
  void value(const std::string& node, std::int64_t temp, instant now) {
    const auto id = whole.node(node).value();
    REQUIRE(whole.batch(id, store::batch_at(announced, now, {{0, temp}}), 0s, now).has_value());
    whole.tick(now);
  }
  snapshot taken(instant now) const {
    auto d = whole.begin_snapshot();
    while (!whole.add_nodes(d, 2)) {
    }
    d.all.boot_id = "boot";
    d.all.taken = now;
    return std::move(d.all);
  }

  wire::catalog announced = store::catalog_builder().group("os", 4'000).series("temp");
  std::set<std::string> labelled;  // nodes
  core whole;
};

/// What another replica reads of it.
kept_state read_again(snapshot s) {
  auto read = decode(encode(std::move(s)));
  REQUIRE(read.has_value());
  kept_state out;
  out.all = std::move(*read);
  return out;
}

/// The same as a release that knew no contacts would have written it.
snapshot of_older_release(snapshot s) {
  s.says_heard = false;
  for (snapshot::node& n : s.nodes) n.heard.reset();
  return s;
}

/// The nodes that are labelled by a replica that was down while all but the last of `edits` were in force.
/// Before, `policies` were, and two nodes were hot first and then in the band.
std::set<std::string> labelled_after(const std::string& policies, const std::vector<std::string>& edits) {
  replica whole, again;
  instant now = store::at_s(1000);
  whole.policies(policies, now);
  for (const char* node : {"a", "b"}) whole.connect(node, now);
  for (const std::int64_t temp : {90, 90, 75}) {
    now += 1s;
    for (const char* node : {"a", "b"}) whole.value(node, temp, now);
  }
  REQUIRE(whole.labelled.size() == 2);
  std::vector<kept_state> file;
  file.push_back(read_again(whole.taken(now)));
  for (const std::string& edit : edits) whole.policies(edit, now);
  again.whole.recall(std::move(file), now);
  REQUIRE(again.labelled.size() == 2);
  again.policies(edits.back(), now);
  for (const char* node : {"a", "b"}) again.connect(node, now);
  now += 1s;
  for (const char* node : {"a", "b"}) {
    whole.value(node, 75, now);
    again.value(node, 75, now);
  }
  CHECK_MESSAGE((again.labelled == whole.labelled), "as one that was never down");
  return again.labelled;
}

const std::string band = "target: 80, clearBelow: 70", higher_band = "target: 95, clearBelow: 70";
const std::set<std::string> none, both{"a", "b"};

}  // namespace

TEST_SUITE("aggregator/core/restart_upgrade") {
  TEST_CASE("a living replica of an older release takes a node from a file that says when it was heard") {
    replica killed, peer;
    instant now = store::at_s(10'000);
    for (replica* r : {&killed, &peer}) {
      r->policies(hot_in("default", "u", 2026, band), now);
      r->connect("a", now);
    }
    killed.connect("b", now);
    REQUIRE(peer.whole.node("b").has_value());  // as from its Node object: its agent reaches the other alone
    for (int t = 0; t < 3; ++t) {
      now += 1s;
      for (const char* node : {"a", "b"}) killed.value(node, 90, now);
    }
    snapshot file = killed.taken(now);
    for (snapshot::node& n : file.nodes) n.heard->since -= 20h;
    now += 40s;
    peer.value("a", 50, now);
    std::vector<kept_state> states;
    states.push_back(read_again(of_older_release(peer.taken(now))));
    states.push_back(read_again(std::move(file)));
    replica again;
    CHECK((again.whole.recall(std::move(states), now) == std::vector<std::size_t>{1, 1}));
    // The next replica of this release is to prefer this one's state in turn.
    const snapshot next = again.taken(now);
    REQUIRE(next.nodes.size() == 2);
    CHECK(next.nodes[0].name == "a");
    CHECK((next.nodes[0].heard == snapshot::contact{now - snapshot::longest_contact, now}));
  }

  TEST_CASE("labels of an owner that went while a replica was down turn no rule of the next one on") {
    const std::string owner = hot_in("first", "u1", 2025, band),
                      other = hot_in("default", "u2", 2026, higher_band);
    CHECK_MESSAGE((labelled_after(owner + other, {owner + other}) == both), "nothing changed");
    CHECK((labelled_after(owner + other, {other}) == none));
    CHECK_MESSAGE((labelled_after(owner, {"", other}) == none), "the next one is new, too");
  }

  // As where that is seen in one change: values alone cannot decide in the band, so the label does.
  TEST_CASE("labels of a policy that was made anew while a replica was down are its own") {
    const std::string first = hot_in("default", "u1", 2025, band),
                      second = hot_in("default", "u2", 2026, band);
    CHECK((labelled_after(first, {first}) == both));
    CHECK((labelled_after(first, {second}) == both));
  }

  // Its slots while it owned nothing stood for labels that nobody wrote.
  TEST_CASE("after a restart labels of the former owner count for maxNodes, as where that was seen") {
    const std::string owner = hot_in("first", "u1", 2025, band),
                      other = hot_in("default", "u2", 2026, "target: 60", "maxNodes: 1, ");
    CHECK((labelled_after(owner + other, {other}) == both));
  }
}

}  // namespace restart_upgrade_test
