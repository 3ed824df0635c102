#include "aggregator/ops/lists.hpp"
#include "aggregator/ops/own_metrics_text.hpp"
#include "aggregator/ops/policy_nodes.hpp"
#include "aggregator/ops/units.hpp"
#include "tests/aggregator/ops/house.hpp"
#include "tests/support/whole.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace ops_metrics_test {

using namespace binnacle;
using namespace binnacle::ops;
using support::whole;

namespace {

std::string joined(const http::response& r) {
  std::string text;
  for (const auto& piece : r.body) text += piece;
  return text;
}

/// The samples as a text, written in one go.
std::string own_metrics_text(std::vector<own_sample> samples) {
  own_text text;
  text.add(std::move(samples));
  (void)text.write(std::numeric_limits<std::size_t>::max());
  return std::move(text.take().front());
}

/// The samples about one strategy's nodes, made in one go.
std::vector<own_sample> policy_nodes(const policy::view& nodes, const policy::strategy_status& said,
                                     std::size_t most) {
  policy_node_samples all(nodes, {said}, most);
  std::vector<own_sample> out;
  while (all.go_on(std::numeric_limits<std::size_t>::max(), out)) {
  }
  return out;
}

}  // namespace

TEST_SUITE("aggregator/ops/metrics") {
  TEST_CASE_FIXTURE(
      house,
      "every present series of the fleet comes with its node, families together, stale ones left out") {
    const auto answer =
        whole(fleet_exposition(nodes, {"inlet_celsius", "rapl_power_watts"}, store::at_s(101)));
    CHECK(answer.content_type == "text/plain; version=0.0.4; charset=utf-8");
    const std::string text = joined(answer);
    CHECK(text.starts_with("# HELP rapl_power_watts "));
    CHECK(
        text.ends_with("# TYPE rapl_power_watts gauge\n"
                       "rapl_power_watts{node=\"node-a\",package=\"0\"} 60.0\n"
                       "rapl_power_watts{node=\"node-a\",package=\"1\"} 55.0\n"));

    CHECK(joined(whole(fleet_exposition(nodes, {"inlet_celsius"}, store::at_s(41)))) ==
          "# HELP inlet_celsius Air at the \"front\"\n"
          "# TYPE inlet_celsius gauge\n"
          "inlet_celsius{node=\"node-b\",rack=\"A 7\"} 21.5\n");
  }

  TEST_CASE_FIXTURE(house, "a foreign number has no zeros at its end, wherever it is shown") {
    store::catalog_builder c;
    c.group("textfile").series("my_frac", {}, -9);
    auto d = add("node-d", c);
    d->set_value(0, 100'000'000);
    d->set_read(0, store::at_s(100));
    CHECK(joined(whole(fleet_exposition(nodes, {"my_frac"}, store::at_s(101)))) ==
          "# TYPE my_frac gauge\n"
          "my_frac{node=\"node-d\"} 0.1\n");

    fleet_query q;
    q.metrics = {{"my_frac", ask("my_frac", {}), true}};
    q.now = store::at_s(101);
    CHECK(joined(whole(fleet_json(nodes, std::move(q)))).find(R"("my_frac":{"value":0.1,)") !=
          std::string::npos);

    policy::published_rule rule;
    rule.definition.metric = "my_frac";
    rule.text = "my_frac GreaterThan 1";
    auto column = std::make_shared<store::shared_column>(rule.definition.column());
    column->store(node("node-d").id, d->load(0));
    rule.values = column;
    policy::policy_table table = nodes.policies();
    auto p = std::make_shared<policy::published_policy>(*table.begin()->second);
    p->strategies.front().rules = {rule};
    table.begin()->second = p;
    const std::string text = joined(whole(node_in_full(node("node-d"), table, store::at_s(101))));
    CHECK(text.find(R"({"rule":"my_frac GreaterThan 1","value":0.1,)") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house,
                    "labels that clash with the node's or are Prometheus' own are renamed as it does") {
    store::catalog_builder c;
    c.group("textfile")
        .series("feed_watts", {{"node", "feed-a"}, {"__name__", "x"}}, 0)
        .series("feed_watts", {{"exported_node", "old"}, {"node", "feed-b"}}, 0);
    auto d = add("node-d", c);
    for (std::size_t i = 0; i < 2; ++i) d->set_value(i, 100 + static_cast<std::int64_t>(i));
    d->set_read(0, store::at_s(100));
    CHECK(joined(whole(fleet_exposition(nodes, {"feed_watts"}, store::at_s(101)))) ==
          "# TYPE feed_watts gauge\n"
          "feed_watts{node=\"node-d\",exported_node=\"feed-a\",exported___name__=\"x\"} 100\n"
          "feed_watts{node=\"node-d\",exported_node=\"old\",exported_exported_node=\"feed-b\"} 101\n");
  }

  TEST_CASE_FIXTURE(house, "without a choice all families are there, each once") {
    const std::string text = joined(whole(fleet_exposition(nodes, {}, store::at_s(101))));
    for (const char* family :
         {"rapl_power_watts", "rapl_zone_power_watts", "rapl_energy_joules_total", "rapl_tdp_watts"}) {
      CAPTURE(family);
      const std::string type = std::string("# TYPE ") + family + " ";
      const auto first = text.find(type);
      CHECK(first != std::string::npos);
      CHECK(text.find(type, first + 1) == std::string::npos);
    }
  }

  TEST_CASE_FIXTURE(
      house, "of a list of all, exporters' families beyond a number are left out, and none of our own") {
    store::catalog_builder c;
    c.group("textfile");
    for (int i = 0; i < 3'000; ++i) c.series("a" + std::to_string(i), {}, 0);
    auto row = add("many", c);
    for (std::size_t i = 0; i < 3'000; ++i) row->set_value(i, 1);
    row->set_read(0, store::at_s(100));
    const std::string text = joined(whole(fleet_exposition(nodes, {}, store::at_s(101))));
    std::size_t theirs = 0;
    for (auto at = text.find("# TYPE a"); at != std::string::npos; at = text.find("# TYPE a", at + 1))
      ++theirs;
    CHECK(theirs > 1'990);
    CHECK(theirs <= 2'000);
    CHECK(text.find("# more than 2000 families of exporters: ") != std::string::npos);
    CHECK(text.find("# TYPE rapl_power_watts ") != std::string::npos);
    CHECK(joined(whole(fleet_exposition(nodes, {"a2999"}, store::at_s(101)))).find("a2999{") !=
          std::string::npos);
  }

  TEST_CASE_FIXTURE(
      house, "what one node's exporters are called keeps no other node's families out of a list of all") {
    const auto announce = [this](const std::string& name, const std::string& prefix, int families) {
      store::catalog_builder c;
      c.group("textfile");
      for (int i = 0; i < families; ++i) c.series(prefix + std::to_string(i), {}, 0);
      auto row = add(name, c);
      for (int i = 0; i < families; ++i) row->set_value(static_cast<std::size_t>(i), 1);
      row->set_read(0, store::at_s(100));
    };
    announce("a-liar", "a", 9'000);  // first by node and by family
    for (const char* name : {"worker-1", "worker-2", "worker-3"}) announce(name, "honest", 900);
    const std::string text = joined(whole(fleet_exposition(nodes, {}, store::at_s(101))));
    std::size_t honest = 0;
    for (auto at = text.find("# TYPE honest"); at != std::string::npos;
         at = text.find("# TYPE honest", at + 1))
      ++honest;
    CHECK(honest == 900);
    CHECK(text.find("# TYPE a0 ") != std::string::npos);
    CHECK(text.find("# more than 2000 families of exporters: ") != std::string::npos);
    CHECK(text.find("# TYPE rapl_power_watts ") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "a text that grows too large is cut off and says so") {
    for (int i = 0; i < 3000; ++i) {
      auto row =
          add("worker-" + std::to_string(i), store::catalog_builder().group("os").series("os_load1", {}, -2));
      row->set_value(0, 123);
      row->set_read(0, store::at_s(100));
    }
    const std::string text = joined(whole(fleet_exposition(nodes, {}, store::at_s(101), 40'000)));
    CHECK(text.size() < 80'000);
    CHECK(text.find("# cut off: ") != std::string::npos);
  }

  TEST_CASE_FIXTURE(
      house, "where the text is cut off, our own families are in it, and exporters' are what is missing") {
    for (int i = 0; i < 300; ++i) {
      store::catalog_builder c;
      c.group("os").series("os_load1", {}, -2);
      c.group("textfile").series("a_first", {{"text", std::string(1'000, 'x')}}, 0);
      auto row = add("worker-" + std::to_string(i), c);
      row->set_value(0, 123);
      row->set_value(1, 1);
      for (std::size_t group = 0; group < 2; ++group) row->set_read(group, store::at_s(100));
    }
    for (const std::vector<std::string>& asked :
         {std::vector<std::string>{}, std::vector<std::string>{"a_first", "os_load1"}}) {
      CAPTURE(asked.size());
      const std::string text = joined(whole(fleet_exposition(nodes, asked, store::at_s(101), 100'000)));
      CHECK(text.find("os_load1{node=\"worker-0\"} 1.23") != std::string::npos);
      CHECK(text.find("os_load1{node=\"worker-299\"} 1.23") != std::string::npos);
      CHECK(text.find("a_first{node=\"worker-0\"") != std::string::npos);
      CHECK(text.find("# cut off: ") != std::string::npos);
    }
  }

  TEST_CASE_FIXTURE(house, "the series of one node's family take many slices if they are many or long") {
    add_many_of_foo("evil", 10'000, 32);
    const auto answer = whole(fleet_exposition(nodes, {"foo"}, store::at_s(101)));
    std::size_t longest = 0;  // each piece is what one slice has written
    for (const std::string& piece : answer.body) longest = std::max(longest, piece.size());
    CHECK(longest < 70'000);
    const std::string text = joined(answer);
    CHECK(text.starts_with("# TYPE foo gauge\nfoo{node=\"evil\",series=\"0\",label_1=\"fifteen letters\","));
    CHECK(std::count(text.begin(), text.end(), '\n') == 1 + 10'000);
  }

  TEST_CASE_FIXTURE(
      house,
      "a family's series on a node come once each, also if the node changes or goes while it is written") {
    add_many_of_foo("many", 3'000, 1);
    const std::string at_once = joined(whole(fleet_exposition(nodes, {"foo"}, store::at_s(101))));
    CHECK(at_once.ends_with("foo{node=\"many\",series=\"2999\"} 1\n"));
    const auto of_changed = fleet_exposition(nodes, {"foo"}, store::at_s(101));
    REQUIRE(of_changed->step());
    const auto of_forgotten = fleet_exposition(nodes, {"foo"}, store::at_s(101));
    REQUIRE(of_forgotten->step());
    add_many_of_foo("many", 10, 1);
    const bool same_if_changed = joined(whole(*of_changed)) == at_once;
    CHECK(same_if_changed);
    nodes.forget({nodes.find("many")->id});
    const bool same_if_forgotten = joined(whole(*of_forgotten)) == at_once;
    CHECK(same_if_forgotten);
  }

  TEST_CASE("our own numbers come with their family's help and type") {
    std::vector<own_sample> samples = {
        {"binnacle_sessions", {}, std::uint64_t{3}},
        {"binnacle_nodes", {{"state", "connected"}}, std::uint64_t{3}},
        {"binnacle_of_no_family", {}, std::uint64_t{1}},
        {"binnacle_nodes", {{"state", "disconnected"}}, std::uint64_t{0}},
        {"binnacle_aggregator_cpu_seconds_total", {}, 1.25},
        {"binnacle_decision_age_seconds", {}, histogram_sample{{0.1, 1}, {2, 1, 0}, 0.75}},
    };
    CHECK(
        own_metrics_text(samples) ==
        "# HELP binnacle_sessions Agent sessions open.\n"
        "# TYPE binnacle_sessions gauge\n"
        "binnacle_sessions 3\n"
        "# HELP binnacle_nodes Nodes known, by state (connected, disconnected).\n"
        "# TYPE binnacle_nodes gauge\n"
        "binnacle_nodes{state=\"connected\"} 3\n"
        "binnacle_nodes{state=\"disconnected\"} 0\n"
        "# HELP binnacle_aggregator_cpu_seconds_total CPU time the aggregator has used.\n"
        "# TYPE binnacle_aggregator_cpu_seconds_total counter\n"
        "binnacle_aggregator_cpu_seconds_total 1.25\n"
        "# HELP binnacle_decision_age_seconds Age of the oldest value that a scheduler call's answer used.\n"
        "# TYPE binnacle_decision_age_seconds histogram\n"
        "binnacle_decision_age_seconds_bucket{le=\"0.1\"} 2\n"
        "binnacle_decision_age_seconds_bucket{le=\"1\"} 3\n"
        "binnacle_decision_age_seconds_bucket{le=\"+Inf\"} 3\n"
        "binnacle_decision_age_seconds_sum 0.75\n"
        "binnacle_decision_age_seconds_count 3\n");
  }

  TEST_CASE_FIXTURE(house,
                    "each strategy has its nodes counted by state, and those that it does not pass named") {
    policy::strategy_status said{.policy = {"default", "power"}};
    said.pass = 1;
    said.violating = 1;
    said.missing = 1;
    const std::string of = "{namespace=\"default\",policy=\"power\",strategy=\"dontschedule\",";
    const std::string text = own_metrics_text(policy_nodes(nodes, said, 20));
    CAPTURE(text);
    for (const char* counted : {"state=\"pass\"} 1\n", "state=\"violating\"} 1\n", "state=\"missing\"} 1\n",
                                "state=\"held\"} 0\n", "state=\"frozen\"} 0\n"}) {
      CAPTURE(counted);
      CHECK(text.find("binnacle_policy_nodes" + of + counted) != std::string::npos);
    }
    CHECK(
        text.ends_with("# TYPE binnacle_policy_node_state gauge\n"
                       "binnacle_policy_node_state" +
                       of +
                       "node=\"node-a\",state=\"violating\"} 1\n"
                       "binnacle_policy_node_state" +
                       of + "node=\"node-b\",state=\"missing\"} 1\n"));
  }

  TEST_CASE_FIXTURE(house, "the first nodes of a state by name are named, and all of them counted") {
    for (const std::uint32_t id : {1u, 2u}) verdicts->store(store::node_id{id}, {policy::state::violating});
    policy::strategy_status said{.policy = {"default", "power"}};
    said.violating = 3;
    const auto samples = policy_nodes(nodes, said, 2);
    std::vector<std::string> named;
    for (const own_sample& s : samples) {
      if (s.family == "binnacle_policy_node_state") named.push_back(s.labels[3].second);
    }
    CHECK(named == std::vector<std::string>{"node-a", "node-b"});
    CHECK(own_metrics_text(samples).find("state=\"violating\"} 3\n") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "the metrics of many policies take many slices, and each family comes once") {
    add_policies(299);
    std::vector<policy::strategy_status> said;
    for (const auto& [key, p] : nodes.policies())
      said.push_back({.policy = key, .pass = 1, .violating = 1, .missing = 1, .violated_by = 1});
    const auto page = own_exposition({{"binnacle_sessions", {}, std::uint64_t{2}}}, nodes, said);
    int steps = 1;
    while (page->step()) ++steps;
    CHECK(steps >= 5);
    const std::string text = joined(page->take());
    CHECK(text.starts_with("# HELP binnacle_sessions "));
    for (const char* family : {"binnacle_policy_info", "binnacle_policy_revision", "binnacle_policy_nodes",
                               "binnacle_policy_violating_nodes", "binnacle_policy_node_state"}) {
      CAPTURE(family);
      const std::string head = "\n# TYPE " + std::string(family) + " gauge\n";
      CHECK(text.find(head) != std::string::npos);
      CHECK(text.find(head) == text.rfind(head));
      const std::string of_the_last = "\n" + std::string(family) + R"({namespace="tenant",policy="p298")";
      CHECK(text.find(of_the_last) != std::string::npos);
    }
    CHECK(text.find(R"(binnacle_policy_node_state{namespace="tenant",policy="p7",strategy="dontschedule",)"
                    R"(node="node-b",state="missing"} 1)") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "a policy that is gone names no nodes") {
    policy::strategy_status said{.policy = {"default", "gone"}};
    said.violating = 1;
    const std::string text = own_metrics_text(policy_nodes(nodes, said, 20));
    CHECK(text.find("binnacle_policy_nodes{") != std::string::npos);
    CHECK(text.find("binnacle_policy_node_state") == std::string::npos);
  }

  TEST_CASE("a histogram in microseconds has bounds and a sum in seconds without noise") {
    metrics::histogram<4> h({50, 100, 300, 700});
    for (const int us : {10, 20}) h.observe(us);
    const auto text = own_metrics_text({{"binnacle_extender_request_seconds", {}, in_units(h, 1e6)}});
    for (const char* part : {"{le=\"5e-05\"} 2\n", "{le=\"0.0001\"} 2\n", "{le=\"0.0003\"} 2\n",
                             "{le=\"0.0007\"} 2\n", "{le=\"+Inf\"} 2\n", "_sum 3e-05\n", "_count 2\n"}) {
      CAPTURE(text);
      CHECK(text.find(part) != std::string::npos);
    }
  }

  TEST_CASE("units come from the family, else from the name") {
    struct row {
      const char* name;
      const char* unit;
    };
    const row rows[] = {
        {"rapl_power_watts", "watts"},
        {"os_cpu_utilization_ratio", "ratio"},
        {"rapl_power_watts_0", "watts"},
        {"inlet_celsius", "celsius"},
        {"collectd_package_0_power_power", "watts"},
        {"collectd_cpu_total", ""},
        {"my_wattsup_total", ""},
        {"watts", ""},
        {"queue_length", ""},
    };
    for (const row& r : rows) {
      CAPTURE(r.name);
      CHECK(unit_of(r.name) == r.unit);
    }
  }
}

}  // namespace ops_metrics_test
