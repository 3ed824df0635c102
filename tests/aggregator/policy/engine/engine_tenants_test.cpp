#include "aggregator/policy/label_keys.hpp"
#include "tests/aggregator/policy/world.hpp"

namespace engine_tenants_test {
namespace {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

/// A policy that labels nodes above 80, perhaps with more settings of the strategy. `created` is the time in
/// the API server's form.
std::string hot_in(const std::string& name_space, const std::string& created = {},
                   const std::string& more = {}, const std::string& name = "p",
                   const std::string& mode = "Enforce") {
  std::string out = manifest({{"deschedule", rules(hot, more)}}, name, name_space, mode);
  if (!created.empty())
    out.insert(out.find(", namespace:"), fmt::format(", creationTimestamp: \"{}\"", created));
  return out + "---\n";
}

TEST_SUITE("aggregator/policy/tenants") {
  TEST_CASE("a policy of the same name in another namespace does not get round maxNodes") {
    world w;
    w.apply(hot_in("a-first", "2026-01-01T00:00:00Z", "maxNodes: 1") +
            hot_in("attacker", "2026-02-01T00:00:00Z"));
    for (const char node : {'a', 'b', 'c'}) w.value(node, "temp", 90);
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "-p");
    CHECK(w.labels('c') == "-p");
    CHECK(w.why(condition_kind::conflict) ==
          "the labels of policies named p belong to namespace a-first, which had one first: no label of this "
          "policy is written; give it another name");
    for (const condition& c : w.e.conditions()) {
      if (c.what == condition_kind::conflict) CHECK(c.policy.name_space == "attacker");
    }
  }

  TEST_CASE("the oldest object has the labels, wherever its namespace stands in the alphabet") {
    world w;
    w.apply(hot_in("aaa", "2026-02-01T00:00:00Z") + hot_in("zzz", "2026-01-01T00:00:00Z", "maxNodes: 1"));
    w.value('a', "temp", 90);
    w.value('b', "temp", 90);
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.labels('b') == "-p");
    CHECK(w.why(condition_kind::conflict).find("belong to namespace zzz") != std::string::npos);
    world files;
    files.apply(hot_in("zzz") + hot_in("aaa", {}, "maxNodes: 1"));
    files.value('a', "temp", 90);
    files.value('b', "temp", 90);
    CHECK_MESSAGE(files.labels('b') == "-p", "of files the first namespace by name");
  }

  TEST_CASE("the other's strategies besides labels work, and its labels begin when the name is free") {
    world w;
    const std::string mine = hot_in("first", "2026-01-01T00:00:00Z");
    std::string other =
        manifest({{"deschedule", rules("{metricname: temp, operator: GreaterThan, target: 50}")},
                  {"dontschedule", rules(hot)}},
                 "p", "default");
    other.insert(other.find(", namespace:"), ", creationTimestamp: \"2026-03-01T00:00:00Z\"");
    w.apply(mine + other);
    w.value('a', "temp", 60);
    w.value('b', "temp", 90);
    CHECK(w.what('b') == state::violating);
    CHECK(w.labels('a') == "-p");
    w.apply(other);
    CHECK(w.labels('a') == "p=violating");
    CHECK_FALSE(w.holds(condition_kind::conflict));
    w.out.relabelled.clear();
    w.apply(mine + other);
    CHECK(w.labels('a') == "-p");
    CHECK(w.labels('b') == "p=violating");
    CHECK_MESSAGE(w.out.relabelled.size() == 2, "who gives the labels has changed");
  }

  TEST_CASE("the labels of the namespace that has the name say nothing of the other's rules") {
    const std::string mine = hot_in("first", "2026-01-01T00:00:00Z");
    std::string other =
        one("deschedule", "{metricname: temp, operator: GreaterThan, target: 95, clearBelow: 70}");
    other.insert(other.find(", namespace:"), ", creationTimestamp: \"2026-03-01T00:00:00Z\"");
    world w;
    w.apply(mine + other);
    w.value('a', "temp", 90, 1h);
    CHECK(w.labels('a') == "p=violating");
    w.e.set_node_labels(world::id('a'), violating, w.now);
    CHECK_MESSAGE(w.what('a', evict) == state::pass, "the other's rule was never true");
    w.apply(other);
    CHECK(w.labels('a') == "-p");
    w.e.set_node_labels(world::id('a'), violating, w.now);
    CHECK_MESSAGE(w.labels('a') == "-p", "told again before it is off");
    CHECK(w.what('a', evict) == state::pass);
    w.value('a', "temp", 96, 1h);
    CHECK(w.labels('a') == "p=violating");
  }

  TEST_CASE("labels of the former owner take slots of maxNodes until they are off") {
    const std::string mine = hot_in("first", "2026-01-01T00:00:00Z");
    const std::string other = hot_in("default", "2026-03-01T00:00:00Z", "maxNodes: 1");
    world w;
    w.apply(mine + other);
    for (const char node : {'a', 'b'}) w.value(node, "temp", 90, 1h);
    for (const char node : {'a', 'b'}) w.e.set_node_labels(world::id(node), violating, w.now);
    w.apply(other);
    w.value('c', "temp", 90, 1h);
    CHECK(w.labels('c') == "-p");
    CHECK(w.what('c', evict) == state::held);
  }

  TEST_CASE("a dry run owns no name, and says that it could give nothing") {
    world w;
    w.apply(hot_in("old", "2020-01-01T00:00:00Z", {}, "p", "DryRun") +
            hot_in("young", "2026-01-01T00:00:00Z"));
    w.value('a', "temp", 90);
    CHECK(w.labels('a') == "p=violating");
    CHECK(w.would_be('a').empty());
    CHECK(w.why(condition_kind::conflict).find("belong to namespace young") != std::string::npos);
  }

  TEST_CASE("a namespace that may not label owns no name") {
    world w({.label_namespaces = {"platform"}});
    w.apply(hot_in("attacker", "2020-01-01T00:00:00Z") + hot_in("platform", "2026-01-01T00:00:00Z"));
    w.value('a', "temp", 90);
    CHECK(w.labels('a') == "p=violating");
    CHECK_FALSE(w.holds(condition_kind::conflict));
    CHECK(w.holds(condition_kind::not_allowed));
  }

  TEST_CASE("keys that look like somebody else's are not written") {
    for (const char* name : {"nvidia.present",
                             "nvidia.com",
                             "node.kubernetes.io",
                             "kubernetes.io",
                             "x.k8s.io",
                             "node-role.kubernetes.io",
                             "gpu",
                             "zone",
                             "disktype",
                             "node.openshift.io",
                             "dedicated",
                             "role",
                             "pool",
                             "nodegroup",
                             "nodepool",
                             "spot",
                             "eks.amazonaws.com",
                             "alpha.eksctl.io.amazonaws",
                             "x.oraclecloud.com",
                             "doks.digitalocean.com",
                             "karpenter.sh",
                             "projectcalico.org"}) {
      CAPTURE(name);
      CHECK_FALSE(others_key(name, label_form::policy_name).empty());
      CHECK(others_key(name, label_form::of_rules).empty());
      world w;
      w.apply(hot_in("default", {}, {}, name));
      w.value('a', "temp", 90);
      CHECK(w.labels('a').empty());
      CHECK(w.e.label_keys().empty());
      CHECK(w.why(condition_kind::not_allowed).starts_with("no label of the policy is written: "));
    }
    for (const char* name : {"power-policy", "demo-policy", "nvidia-hot", "gpu-heat", "my.power", "zone-heat",
                             "health-metric-policy", "intelligent.cooling", "pool-power", "scheduling-policy",
                             "power", "hot", "cpu-policy"}) {
      CAPTURE(name);
      CHECK(others_key(name, label_form::policy_name).empty());
    }
  }

  TEST_CASE("labels of rules have a prefix of ours, whatever the policy is called") {
    world w;
    w.apply(manifest(
        {{"labeling", rules("{metricname: temp, operator: GreaterThan, target: 80, labels: [a=b]}")}},
        "gpu"));
    w.value('a', "temp", 90);
    CHECK(w.labels('a') == "gpu/a=b");
  }

  TEST_CASE("with a prefix set only policies whose names begin so label nodes") {
    world w({.label_prefix = "tas-"});
    w.apply(hot_in("default", {}, {}, "tas-power") + hot_in("default", {}, {}, "power"));
    w.value('a', "temp", 90);
    CHECK(w.labels('a') == "tas-power=violating");
    CHECK(w.why(condition_kind::not_allowed) ==
          "names of policies that label nodes begin with tas- here: rename the policy");
  }

  TEST_CASE("default-max-nodes holds where a policy gives no limit, and only there") {
    world w({.default_max_nodes = node_limit{1, false}});
    w.apply(hot_in("default") + hot_in("default", {}, "maxNodes: 2", "q"));
    for (const char node : {'a', 'b', 'c'}) w.value(node, "temp", 90);
    CHECK(w.labels('a') == "p=violating q=violating");
    CHECK(w.labels('b') == "-p q=violating");
    CHECK(w.labels('c') == "-p -q");
    CHECK(w.what('b', evict) == state::held);
    const auto* shown = w.e.table()->at({"default", "p"})->find(evict);
    REQUIRE(shown != nullptr);
    CHECK(shown->max_nodes == node_limit{1, false});
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    CHECK_FALSE(w.e.table()->at({"default", "p"})->find(strategy_kind::dontschedule)->max_nodes);
  }

  TEST_CASE("a number of nodes or a share of them") {
    CHECK(*parse_node_limit("3") == node_limit{3, false});
    CHECK(*parse_node_limit("20%") == node_limit{20, true});
    for (const char* wrong : {"", "%", "0", "0%", "101%", "-1", "3.5", "x", "99999999999"})
      CHECK_MESSAGE(parse_node_limit(wrong).has_error(), wrong);
  }
}

}  // namespace
}  // namespace engine_tenants_test
