#pragma once

#include "aggregator/policy/published/view.hpp"
#include "aggregator/questions/store_question.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A small fleet with a policy, as the ops face sees it. It is 101 s after boot.
namespace binnacle::ops {

inline const instant now = store::at_s(101);

/// A catalog of so many series of the family "foo", each with so many labels, of which `series` is the first.
inline store::catalog_builder many_of_foo(int series, std::size_t labels) {
  store::catalog_builder c;
  c.group("textfile");
  for (int i = 0; i < series; ++i) {
    metrics::label_set of_one{{"series", std::to_string(i)}};
    while (of_one.size() < labels)
      of_one.emplace_back("label_" + std::to_string(of_one.size()), "fifteen letters");
    c.series("foo", std::move(of_one));
  }
  return c;
}

/// The cells of a node of eight CPUs whose kilowatts somebody took for watts: 200 W with all of them busy.
inline std::shared_ptr<store::row> row_rated_in_kilowatts() {
  store::catalog_builder c;
  c.group("textfile").series("rated_idle_watts", {}, -2).series("rated_peak_watts", {}, -2);
  c.group("os").series("os_cpus");
  auto row =
      std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
  row->set_value(0, 5);
  row->set_value(1, 20);
  row->set_value(2, 8);
  for (const std::size_t group : {0U, 1U}) row->set_read(group, store::at_s(100.8));
  return row;
}

struct house {
  policy::view nodes;
  std::shared_ptr<policy::verdict_column> verdicts = std::make_shared<policy::verdict_column>();
  std::shared_ptr<store::shared_column> watts;
  questions::watched_columns windows{[](const auto&, const auto&) {}, [](auto) {}};
  questions::question_maker ask = questions::ask_store(windows);

  /// node-a: 60.0 and 55.0 W, 7.1 W of DRAM, read at 100.8 s. node-b: RAPL may not be read, and it has a
  /// metric of a user. node-c: no catalog yet; its link is down since 91 s.
  house() {
    auto a = add("node-a", store::two_packages());
    const std::vector<std::int64_t> mantissas = {600,  550, 71,   400,  9999, 1000,
                                                 2000, 300, 2050, 1650, 2927, 3333};
    for (std::size_t i = 0; i < mantissas.size(); ++i) a->set_value(i, mantissas[i]);
    a->set_read(0, store::at_s(100.8));
    a->set_last_batch(store::at_s(100.9));

    store::catalog_builder c;
    c.group("rapl").series("rapl_power_watts", {{"package", "0"}}, -1);
    c.group("textfile").series("inlet_celsius", {{"rack", "A 7"}}, -1);
    c.made.series.back().help = "Air at the \"front\"";
    auto b = add("node-b", c);
    b->set_absent(0, absence::permission);
    b->set_value(1, 215);
    b->set_read(1, store::at_s(40));
    b->set_last_batch(store::at_s(100.95));
    node("node-b").sources = {{"rapl", false, "energy_uj may not be read: run the agent as root"},
                              {"textfile", true, ""}};

    store::node_update gone{
        .id = store::node_id{2}, .name = "node-c", .at = store::at_s(91), .connected = false};
    nodes.apply(gone);
    set_policy();
  }

  store::node_view& node(const std::string& name) { return nodes.node(nodes.find(name)->id, name); }

  std::shared_ptr<store::row> add(const std::string& name, const wire::catalog& c) {
    auto row =
        std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
    store::node_update u{.id = store::node_id{static_cast<std::uint32_t>(nodes.nodes().size())},
                         .name = name};
    u.at = store::at_s(10);
    u.connected = true;
    u.agent_version = "0.1.0";
    u.peer_address = "10.0.0.7:40312";
    u.cells = row;
    nodes.apply(u);
    return row;
  }

  /// A node with many_of_foo(), each of which has a value.
  void add_many_of_foo(const std::string& name, int series, std::size_t labels) {
    const auto row = add(name, many_of_foo(series, labels));
    for (int i = 0; i < series; ++i) row->set_value(static_cast<std::size_t>(i), 1);
    row->set_read(0, store::at_s(100));
  }

  /// Adds so many policies like default/power, in the namespace "tenant".
  void add_policies(int count) {
    auto table = std::make_shared<policy::policy_table>(nodes.policies());
    for (int i = 0; i < count; ++i) {
      auto p = std::make_shared<policy::published_policy>(*nodes.policies().begin()->second);
      p->key = {"tenant", "p" + std::to_string(i)};
      table->emplace(p->key, p);
    }
    nodes.set_policies(table);
  }

  /// default/power: dontschedule above 60 W; node-a violates, node-b's data is missing.
  void set_policy(policy::mode how = policy::mode::enforce) {
    policy::published_rule rule;
    rule.definition.metric = "rapl_power_watts";
    rule.definition.target = from_integer(60);
    rule.text = "rapl_power_watts GreaterThan 60";
    watts = std::make_shared<store::shared_column>(rule.definition.column());
    store::sample s;
    s.value = {1221, -1};
    s.read_at = store::at_s(100.8);
    s.expires_at = store::at_s(110.8);
    s.reason = absence::none;
    watts->store(store::node_id{0}, s);
    rule.values = watts;
    verdicts->store(store::node_id{0}, {policy::state::violating, true, 0, 0});
    verdicts->store(store::node_id{1}, {policy::state::missing, false, 0, 1});

    auto p = std::make_shared<policy::published_policy>();
    p->key = {"default", "power"};
    p->revision = 3;
    p->how = how;
    p->strategies.push_back({policy::strategy_kind::dontschedule,
                             policy::logic::any_of,
                             policy::missing::reject,
                             {rule},
                             verdicts});
    auto table = std::make_shared<policy::policy_table>();
    table->emplace(p->key, p);
    nodes.set_policies(table);
  }
};

}  // namespace binnacle::ops
