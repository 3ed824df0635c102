#include "aggregator/snapshot/kept_state.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kept_state_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

constexpr instant now(100h);

/// A node whose agent was connected for `known`, until `ago`.
snapshot::node node(const std::string& name, duration known, duration ago) {
  snapshot::node out{name, {}, {}};
  out.heard = snapshot::contact{now - ago - known, now - ago};
  return out;
}
snapshot::node never_heard(const std::string& name) { return {name, {}, {}}; }

kept_state state(std::vector<snapshot::node> nodes) {
  kept_state out;
  out.all.nodes = std::move(nodes);
  return out;
}

/// Whether node "a" is taken from the file and not from the replica.
bool file_counts(const snapshot::node& of_replica, const snapshot::node& of_file) {
  const std::vector<kept_state> states{state({of_replica}), state({of_file})};
  const auto best = best_nodes(states, now);
  REQUIRE(best.size() == 1);
  return best[0].state == 1;
}

}  // namespace

TEST_SUITE("aggregator/snapshot/kept_state") {
  TEST_CASE("each node of any state is there once, in the order of the states") {
    const std::vector<kept_state> states{state({node("a", 1h, 0s), node("b", 1h, 0s)}),
                                         state({node("c", 1h, 5s), node("a", 1h, 5s)})};
    const std::vector<kept_node> expected{{0, 0}, {0, 1}, {1, 0}};
    CHECK((best_nodes(states, now) == expected));
    CHECK(best_nodes({}, now).empty());
  }

  TEST_CASE("of two states that know a node well the living replica's counts, which lacks nothing") {
    CHECK_FALSE(file_counts(node("a", 200h, 0s), node("a", 300h, 10s)));
    CHECK_FALSE(file_counts(node("a", 30min, 0s), node("a", 31min, 10s)));
    CHECK_FALSE(file_counts(node("a", 20s, 0s), node("a", 40s, 5s)));
  }

  TEST_CASE("a replica that has never heard a node's agent takes nothing from a file that knows the node") {
    CHECK(file_counts(never_heard("a"), node("a", 10s, 30s)));
    CHECK_FALSE(file_counts(node("a", 10s, 0s), never_heard("a")));
    CHECK_FALSE(file_counts(never_heard("a"), never_heard("a")));
  }

  TEST_CASE("a replica that began with nothing while this one was down takes nothing from its file") {
    CHECK(file_counts(node("a", 61s, 0s), node("a", 24h, 80s)));
  }

  TEST_CASE("a replica that has lost a node's agent takes nothing from a file that heard it until the end") {
    CHECK(file_counts(node("a", 24h, 10min), node("a", 24h, 5s)));
    CHECK_FALSE(file_counts(node("a", 24h, 0s), node("a", 24h, 10min)));
  }

  TEST_CASE("a file with a gap until now takes nothing from a replica that heard the node all that time") {
    CHECK_FALSE(file_counts(node("a", 10min, 0s), node("a", 24h, 5min)));
    CHECK_FALSE(file_counts(node("a", 5min, 0s), node("a", 24h, 5min)));
    CHECK(file_counts(node("a", 4min, 0s), node("a", 24h, 5min)));
  }

  TEST_CASE("a replica that was off for most of an hour takes nothing from the file of one that was not") {
    // Its contact began anew when it came back (node_contact).
    CHECK(file_counts(node("a", 10s, 0s), node("a", 24h, 5s)));
  }

  TEST_CASE("a state whose age is not known counts only for nodes that no other state has") {
    std::vector<kept_state> states{state({node("a", 10s, 0s)}),
                                   state({node("a", 24h, 0s), node("b", 1h, 0s)})};
    states[1].is_dated = false;
    const std::vector<kept_node> expected{{0, 0}, {1, 1}};
    CHECK((best_nodes(states, now) == expected));
  }

  TEST_CASE("the times of another boot are shifted before they are compared") {
    kept_state other = state({never_heard("a")});
    other.all.nodes[0].heard = snapshot::contact{instant(10s), instant(1h)};
    other.shift = now - instant(1h);
    CHECK(knowledge_of(other, other.all.nodes[0], now) == 1h - 10s);
    CHECK(knowledge_of(other, other.all.nodes[0], now + 5min) == 55min - 10s);
    CHECK_MESSAGE(knowledge_of(other, other.all.nodes[0], now - 5min) == 1h - 10s,
                  "what comes from the future is no better for it");
  }
}

}  // namespace kept_state_test
