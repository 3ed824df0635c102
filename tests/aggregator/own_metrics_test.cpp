#include "aggregator/own_metrics.hpp"

#include "aggregator/extender/counters.hpp"
#include "aggregator/ops/policy_nodes.hpp"
#include "aggregator/outliers/power_outliers.hpp"
#include "aggregator/own_warnings.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/metrics/families.hpp"

#include <doctest/doctest.h>

#include <set>

namespace binnacle::own_metrics_test {

using namespace std::chrono_literals;
using namespace aggregator;

namespace {

/// An aggregator in a cluster that has a value for each of its own metrics.
struct busy_replica {
  busy_replica() {
    auto strategy = policy::published_strategy{.kind = policy::strategy_kind::deschedule};
    auto verdicts = std::make_shared<policy::verdict_column>();
    verdicts->store(id, {policy::state::violating, true, 0, 0});
    strategy.verdicts = verdicts;
    policy::published_policy p{.key = key};
    p.strategies.push_back(std::move(strategy));
    policy::policy_table table;
    table[key] = std::make_shared<const policy::published_policy>(std::move(p));
    nodes.set_policies(std::make_shared<const policy::policy_table>(std::move(table)));
    nodes.node(id, "n1").connected = true;

    ingest.strategies.push_back(
        {.policy = key, .strategy = policy::strategy_kind::deschedule, .violating = 1});
    ingest.readings.parties.push_back({.party = "default", .wished = 2, .granted = 2});
    ingest.conditions.push_back({.policy = key, .what = policy::condition_kind::held, .active = true});
    ingest.sessions.ended[static_cast<std::size_t>(wire::reason::overloaded)] = 1;
  }

  own_numbers numbers() const {
    own_numbers out{ingest, extender, nodes, outliers, troubles};
    out.listeners = {{.name = "ops"}};
    out.certificates = {{"server.crt", 60}};
    out.kubernetes.emplace();
    out.callers.emplace();
    out.tokens.emplace();
    out.model_servers.emplace();
    out.endpoint_providers.emplace();
    out.sending = {{.by = sender::protocol::remote_write}, {.by = sender::protocol::otlp}};
    return out;
  }

  const policy::policy_key key{"default", "p"};
  const store::node_id id{};
  ingest_report ingest;
  extender::counters extender;
  policy::view nodes;
  std::map<std::string, power_outlier> outliers;
  async::reload_troubles troubles;
};

/// Two of thirty nodes draw far more or less than similar nodes.
std::map<std::string, power_outlier> two_odd_nodes() {
  return {{"hot", {.watts = 4000, .least = 200, .most = 300, .others = 28, .hardware = "a 64-core server"}},
          {"idle", {.watts = 5, .least = 200, .most = 300, .others = 28, .hardware = "a 64-core server"}}};
}

}  // namespace

TEST_SUITE("aggregator/own_metrics") {
  TEST_CASE("nodes whose watts are far from those of similar ones are counted") {
    busy_replica replica;
    const auto counted = [&] {
      for (const ops::own_sample& s : own_metrics(replica.numbers()))
        if (s.family == std::string_view("binnacle_power_outlier_nodes"))
          return std::get<std::uint64_t>(s.value);
      return std::uint64_t{99};
    };
    CHECK(counted() == 0);
    replica.outliers = two_odd_nodes();
    CHECK(counted() == 2);
    replica.outliers.erase("idle");
    CHECK(counted() == 1);
  }

  TEST_CASE(
      "each number about the aggregator is a family of METRICS.md with its labels, and each family is "
      "there") {
    const busy_replica replica;
    std::set<std::string_view> seen;
    auto all = own_metrics(replica.numbers());
    ops::policy_samples of_policies(replica.nodes, replica.ingest.strategies);
    while (of_policies.go_on(1'000, all)) {
    }
    for (const ops::own_sample& s : all) {
      CAPTURE(s.family);
      const metrics::family* known = metrics::find(s.family);
      REQUIRE(known != nullptr);
      std::vector<std::string_view> labels;
      for (const auto& [name, value] : s.labels) labels.push_back(name);
      CHECK(std::ranges::equal(labels, known->labels));
      seen.insert(known->name);
    }
    for (const metrics::family& f : metrics::families()) {
      if (f.source != "aggregator") continue;
      CAPTURE(f.name);
      CHECK(seen.contains(f.name));
    }
  }
}

TEST_SUITE("aggregator/own_warnings") {
  TEST_CASE("a node whose watts are far from those of similar ones is named, with both") {
    busy_replica replica;
    replica.outliers = two_odd_nodes();
    const auto said = own_warnings(replica.numbers(), {}, instant{1h});
    REQUIRE(said.size() == 2);
    CHECK(said[0] == sentence_of("hot", replica.outliers.at("hot")));
    CHECK(said[0].find("hot") != std::string::npos);
    CHECK(said[0].find("4000") != std::string::npos);
    CHECK(said[1].find("idle") != std::string::npos);
  }

  TEST_CASE("models that nobody may be asked for are said, of policies that have no other") {
    busy_replica replica;
    const auto said = [&](bool may_ask) {
      own_numbers n = replica.numbers();
      if (!may_ask) n.model_servers.reset();
      return own_warnings(n, {}, instant{1h});
    };
    CHECK(said(false).empty());
    policy::published_policy p;
    p.key = {"default", "watts"};
    p.strategies.push_back({.kind = policy::strategy_kind::minimizepower});
    const auto set = [&](policy::power_model model) {
      p.strategies[0].power.model = model;
      auto table = std::make_shared<policy::policy_table>();
      table->emplace(p.key, std::make_shared<const policy::published_policy>(p));
      replica.nodes.set_policies(table);
    };
    set(policy::power_model::automatic);
    CHECK(said(false).empty());
    set(policy::power_model::external);
    REQUIRE(said(false).size() == 1);
    CHECK(said(false)[0].starts_with("policy default/watts says model: External"));
    CHECK(said(true).empty());
  }

  TEST_CASE("an aggregator to which nothing happened warns of nothing, and each trouble is said") {
    busy_replica replica;
    settings s;
    CHECK(own_warnings(replica.numbers(), s, instant{1h}).empty());

    s.unsafe = true;
    replica.troubles["ops"] = "the new key does not fit";
    replica.ingest.certificate_troubles = {"the agents' key does not fit"};
    replica.ingest.state.trouble = "the disk is full";
    replica.ingest.state.left_out = 7;
    replica.ingest.readings.parties.front().granted = 1;
    replica.ingest.sessions.denied.add("10.0.0.9:1", instant{1h});
    own_numbers n = replica.numbers();
    n.sending.front().numbers.trouble = "401";
    n.kubernetes->troubles = {"policies may be out of date"};
    n.kubernetes->pods_without_labels = 3;
    n.kubernetes->pod_without_labels = "shop/web-7";
    n.callers_trouble = "authorities may be out of date";
    n.without_object = {"stray"};
    n.listeners.front().counters.denied.add("10.0.0.9:2", instant{1h});
    std::string all;
    for (const std::string& one : own_warnings(n, s, instant{1h})) all += one + "\n";
    for (const char* part :
         {"--unsafe", "the new key", "the agents' key", "the disk is full", "no room for 7 windows",
          "agents' port (ingest): 1 connections", "ops: 1 connections", "remote write: 401",
          "policies may be", "3 pods have more labels than are kept (the last is shop/web-7",
          "authorities may be", "stray", "namespace default get 1 of 2"}) {
      CAPTURE(part);
      CHECK(all.find(part) != std::string::npos);
    }
  }
}

}  // namespace binnacle::own_metrics_test
