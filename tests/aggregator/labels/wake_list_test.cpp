#include "aggregator/labels/wake_list.hpp"

#include <doctest/doctest.h>

namespace wake_list_test {

namespace {

using namespace binnacle;
using namespace binnacle::labels;
using namespace std::chrono_literals;
using policy::state;

const policy::policy_key power{"default", "power"};

/// Four nodes, n0 to n3, a policy that refuses pods at some of them, and the time.
struct house {
  policy::view nodes;
  decision::node_names names;
  std::shared_ptr<policy::verdict_column> verdicts = std::make_shared<policy::verdict_column>();
  wake_list list;
  instant now{1h};

  house() {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::string name = "n" + std::to_string(i);
      nodes.apply({.id = store::node_id{i}, .name = name});
      names.learn(store::node_id{i}, name);
    }
    enforce_policy(policy::mode::enforce);
    all(state::violating);
  }
  void enforce_policy(policy::mode how) {
    auto p = std::make_shared<policy::published_policy>();
    p->key = power;
    p->how = how;
    policy::published_strategy s;
    s.verdicts = verdicts;
    p->strategies.push_back(std::move(s));
    auto table = std::make_shared<policy::policy_table>();
    table->emplace(power, std::move(p));
    nodes.set_policies(std::move(table));
  }
  void is(std::uint32_t node, state what) { verdicts->store(store::node_id{node}, {what, false, 0, 0}); }
  void all(state what) {
    for (std::uint32_t i = 0; i < 4; ++i) is(i, what);
  }

  /// The pod's filter call with these candidates gets the answer that the verdicts imply.
  void filter(const std::string& pod, std::vector<std::uint32_t> candidates) {
    decision::record r;
    r.pod = {"default", pod, "uid-" + pod};
    auto facts = std::make_shared<decision::policy_facts>();
    facts->key = power;
    facts->how = nodes.policies().at(power)->how;
    r.policy = std::move(facts);
    for (const std::uint32_t i : candidates) {
      const state what = verdicts->load(store::node_id{i}).what;
      const bool refused = what == state::violating || what == state::missing;
      ++r.asked;
      r.refused += refused ? 1 : 0;
      r.candidates.push_back({store::node_id{i}, refused ? decision::candidate_outcome::refused
                                                         : decision::candidate_outcome::passed});
    }
    list.answered(r, now);
  }
  std::vector<std::string> due() { return list.due(nodes, names, now); }
};
using names = std::vector<std::string>;

TEST_SUITE("aggregator/labels/wake_list") {
  TEST_CASE("a node that would take a pod now which it refused is named, once") {
    house h;
    h.filter("web", {0, 1});
    CHECK(h.due().empty());
    h.is(2, state::pass);
    CHECK_MESSAGE(h.due().empty(), "it was not asked for");
    h.is(1, state::pass);
    CHECK(h.due() == names{"n1"});
    CHECK(h.due().empty());
  }

  TEST_CASE("nobody is named when nobody was refused, or the pod has found its node") {
    house h;
    h.all(state::pass);
    CHECK(h.list.empty());
    h.is(0, state::violating);
    h.filter("web", {0, 1});
    CHECK_MESSAGE(h.list.empty(), "n1 took it");
    h.filter("db", {0});
    h.is(0, state::pass);
    h.filter("db", {0});
    CHECK(h.due().empty());
  }

  TEST_CASE("prioritize says nothing, and a DryRun refuses nobody") {
    house h;
    decision::record r;
    r.what = decision::verb::prioritize;
    r.asked = r.refused = 1;
    h.list.answered(r, h.now);
    CHECK(h.list.empty());
    h.enforce_policy(policy::mode::dry_run);
    h.filter("web", {0});
    CHECK(h.list.empty());
  }

  TEST_CASE("every way out of a refusal counts") {
    house h;
    h.is(0, state::missing);
    h.filter("web", {0});
    CHECK(h.due().empty());
    SUBCASE("the data came back") { h.is(0, state::pass); }
    SUBCASE("the policy became a dry run") { h.enforce_policy(policy::mode::dry_run); }
    SUBCASE("the policy went") { h.nodes.set_policies(std::make_shared<policy::policy_table>()); }
    CHECK(h.due() == names{"n0"});
  }

  TEST_CASE("one node wakes all pods that it had refused") {
    house h;
    for (const char* pod : {"a", "b", "c"}) h.filter(pod, {0, 1, 2});
    h.filter("d", {3});
    h.all(state::pass);
    CHECK(h.due() == names{"n0", "n3"});
  }

  TEST_CASE(
      "a pod of which nothing is heard: another node, with longer pauses, and no longer than it can wait") {
    house h;
    h.filter("web", {0, 1, 2});
    h.all(state::pass);
    CHECK(h.due() == names{"n0"});
    h.now += 11s;
    CHECK(h.due().empty());
    h.now += 1s;
    CHECK(h.due() == names{"n1"});
    h.now += 23s;
    CHECK(h.due().empty());
    h.now += 1s;
    CHECK(h.due() == names{"n2"});
    h.now += 10min;
    CHECK(h.due().empty());
    CHECK(h.list.empty());
  }

  TEST_CASE("a node whose value swings wakes pods every few seconds at most, and none is lost") {
    house h;
    for (int i = 0; i < 5; ++i) {
      h.is(0, state::violating);
      h.filter("web", {0});
      h.is(0, state::pass);
      CHECK(h.due().size() == (i == 0 ? 1 : 0));
      h.now += 500ms;
    }
    h.now += 2500ms;
    CHECK(h.due() == names{"n0"});
  }

  TEST_CASE("a node that is not known any more wakes nobody") {
    house h;
    h.filter("web", {0});
    h.nodes.forget({store::node_id{0}});
    h.is(0, state::pass);
    CHECK(h.due().empty());
  }

  TEST_CASE("pods are bounded, and those that were too many are counted") {
    house h;
    for (std::size_t i = 0; i < wake_list::most_pods + 3; ++i) h.filter(std::to_string(i), {0});
    CHECK(h.list.size() == wake_list::most_pods);
    CHECK(h.list.dropped() == 3);
  }
}

}  // namespace

}  // namespace wake_list_test
