// A replica begins with a state that an older release wrote.
#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
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
  replica() : whole(core_options{}, std::make_shared<const metrics::alias_table>(), [](const change&) {}) {}
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

const std::string band = "target: 80, clearBelow: 70";

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
}

}  // namespace restart_upgrade_test
