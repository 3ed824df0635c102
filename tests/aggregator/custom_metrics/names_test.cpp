#include "aggregator/custom_metrics/names.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace names_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;

namespace {

void add(store::view& nodes, std::uint32_t id, const std::string& name, const wire::catalog& c) {
  auto cells =
      std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
  nodes.apply({.id = store::node_id{id}, .name = name, .cells = std::move(cells)});
}

/// The list, made to its end.
const std::vector<std::string>& of(name_list& list, const store::view& nodes) {
  while (list.step(nodes.catalogs())) {
  }
  return *list.names();
}

bool knows(const store::view& nodes, std::string_view metric,
           const metrics::alias_table& names = metrics::alias_table::built_in()) {
  name_search search(nodes, names, metric);
  while (search.step()) {
  }
  return search.found();
}

/// So many families, PREFIX100000 and so on, of one series each, which has a flat name (PREFIX100000_x).
wire::catalog many_families(std::size_t many, const std::string& prefix) {
  store::catalog_builder c;
  c.group("textfile");
  for (std::size_t i = 0; i < many; ++i) c.series(prefix + std::to_string(100'000 + i), {{"of", "x"}});
  return c;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

}  // namespace

TEST_SUITE("aggregator/custom_metrics/names") {
  TEST_CASE("without any node the built-in families are listed, but not those about the aggregator") {
    store::view nodes;
    name_list list(nodes);
    const auto& names = of(list, nodes);
    CHECK(has(names, "rapl_power_watts"));
    CHECK(has(names, "os_cpu_utilization_ratio"));
    CHECK_FALSE(has(names, "binnacle_sessions"));
    CHECK_FALSE(has(names, "collectd_package_0_power_power"));
    CHECK(std::is_sorted(names.begin(), names.end()));
  }

  TEST_CASE("a node brings its families, flat names and the old names that reach one of them") {
    store::view nodes;
    auto c = store::two_packages();
    c.group("textfile").series("inlet_celsius", {{"rack", "A 7"}}, -1);
    add(nodes, 0, "n1", c);
    name_list list(nodes);
    const auto& names = of(list, nodes);
    CHECK(has(names, "rapl_power_watts_1"));
    CHECK(has(names, "inlet_celsius"));
    CHECK(has(names, "inlet_celsius_a_7"));
    CHECK(has(names, "collectd_package_0_power_power"));
    CHECK(has(names, "collectd_package_1_TDP_power_power"));
    CHECK_FALSE(has(names, "collectd_package_2_power_power"));
    CHECK_FALSE(has(names, "collectd_package_0_die_0_power_power"));
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  }

  TEST_CASE("a family is listed without its node_, too: it is answered for under both names") {
    store::view nodes;
    name_list list(nodes);
    add(nodes, 0, "n1",
        store::catalog_builder().group("textfile").series("node_filter1_metric").series("node_os_load1"));
    const auto& names = of(list, nodes);
    CHECK(has(names, "node_filter1_metric"));
    CHECK(has(names, "filter1_metric"));
    CHECK(knows(nodes, "filter1_metric"));
    CHECK(has(names, "os_load1"));  // our own, whatever a user calls his
    add(nodes, 0, "n1", store::two_packages());
    CHECK_FALSE(has(of(list, nodes), "filter1_metric"));
  }

  TEST_CASE("the list is made anew only when shapes come or go") {
    store::view nodes;
    name_list list(nodes);
    of(list, nodes);
    const auto before = list.revision();
    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("inlet_celsius"));
    CHECK(has(of(list, nodes), "inlet_celsius"));
    CHECK(list.revision() != before);
    const auto with_one = list.revision();
    nodes.apply({.id = store::node_id{1}, .name = "n2", .cells = nodes.find("n1")->cells});
    of(list, nodes);
    CHECK(list.revision() == with_one);

    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("outlet_celsius"));
    CHECK(has(of(list, nodes), "inlet_celsius"));  // n2 has it still
    add(nodes, 1, "n2", store::catalog_builder().group("textfile").series("outlet_celsius"));
    CHECK_FALSE(has(of(list, nodes), "inlet_celsius"));
    CHECK(has(of(list, nodes), "outlet_celsius"));
    CHECK(has(of(list, nodes), "rapl_power_watts"));
  }

  TEST_CASE("a pod that starts adds no name, and the list stays as it is") {
    store::view nodes;
    store::shape_pool pool;
    const auto with_pods = [&](std::uint32_t id, const std::string& node, int pods) {
      store::catalog_builder c = store::two_packages();
      c.group("pmu");
      for (int i = 0; i < pods; ++i)
        c.series("pmu_pod_cycles_per_second", {{"pod_uid", node + "-" + std::to_string(i)}});
      // As an exporter names its newest pod.
      const std::string newest = node + "-" + std::to_string(pods);
      c.group("scrape").series("pod_cpu_usage_seconds_total", {{"namespace", "default"}, {"pod", newest}});
      auto shape = pool.intern(store::make_shape(c, {})->what);
      nodes.apply({.id = store::node_id{id}, .name = node, .cells = std::make_shared<store::row>(shape)});
    };
    // So many series that, counted one by one, they would fill the list and push out the names sorted behind
    // "pmu".
    constexpr auto many = static_cast<int>(name_list::most) + 100;
    with_pods(0, "n1", many);
    with_pods(1, "n2", 3);
    name_list list(nodes);
    CHECK(has(of(list, nodes), "rapl_power_watts_1"));
    CHECK(has(of(list, nodes), "pmu_pod_cycles_per_second"));
    const auto before = list.revision();
    const auto* first = of(list, nodes).data();
    with_pods(0, "n1", many + 1);
    with_pods(1, "n2", 2);
    CHECK(of(list, nodes).data() == first);
    CHECK(list.revision() == before);
  }

  TEST_CASE("nodes are looked at only when one may have another catalog") {
    store::view nodes;
    name_list list(nodes);
    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("inlet_celsius"));
    of(list, nodes);
    const auto before = nodes.catalogs();
    nodes.apply({.id = store::node_id{0}, .name = "n1", .connected = false});
    CHECK(nodes.catalogs() == before);
    nodes.node(store::node_id{0}, "n1").cells = nullptr;  // behind its back
    CHECK(has(of(list, nodes), "inlet_celsius"));
    nodes.forget({store::node_id{0}});
    CHECK(nodes.catalogs() != before);
    CHECK_FALSE(has(of(list, nodes), "inlet_celsius"));
  }

  TEST_CASE("other aliases are listed at once, and those of before no longer") {
    store::view nodes;
    add(nodes, 0, "n1", store::two_packages());
    const auto table = [](std::string_view name) {
      auto made = std::make_shared<metrics::alias_table>();
      made->add({.name = name, .family = "rapl_power_watts", .note = "test"});
      return made;
    };
    metrics::names_in_force names(table("heat"));
    name_list list(nodes, names);
    CHECK(has(of(list, nodes), "heat"));
    const auto before = list.revision();
    names.replace(table("warmth"));
    CHECK(has(of(list, nodes), "warmth"));
    CHECK_FALSE(has(of(list, nodes), "heat"));
    CHECK(has(of(list, nodes), "rapl_power_watts_1"));
    CHECK(list.revision() != before);
    CHECK_FALSE(knows(nodes, "heat", *names.table()));
    CHECK(knows(nodes, "warmth", *names.table()));
  }

  TEST_CASE("a node with endless names is cut off, but what it has can be asked for") {
    store::view nodes;
    name_list list(nodes);
    const std::size_t own = of(list, nodes).size();
    add(nodes, 0, "n1", many_families(10'000, "a_user_metric_"));
    const auto& names = of(list, nodes);
    // Families and the flat names of their series, so many of each.
    CHECK(names.size() == own + 2 * name_list::most_of_a_kind);
    CHECK(has(names, "rapl_power_watts"));
    CHECK(knows(nodes, "a_user_metric_109999"));
    CHECK(knows(nodes, "a_user_metric_109999_x"));
  }

  TEST_CASE("own families and names of a node are listed, however many others it has") {
    store::view nodes;
    auto c = store::catalog_builder{many_families(3'000, "a_user_metric_")};
    c.group("rapl").series("rapl_power_watts", {{"package", "0"}}, -1);
    add(nodes, 0, "n1", c);
    name_list list(nodes);
    CHECK(has(of(list, nodes), "rapl_power_watts_0"));
    CHECK(has(of(list, nodes), "collectd_package_0_power_power"));
  }

  TEST_CASE("a fleet with endless names is cut off: ours stay, then what several nodes have") {
    store::view nodes;
    // Last in byte order, and on two nodes.
    const wire::catalog shared = many_families(10, "zzz_shared_");
    const auto cells = std::make_shared<store::row>(
        std::make_shared<const store::shape>(store::make_shape(shared, {})->what));
    nodes.apply({.id = store::node_id{0}, .name = "n1", .cells = cells});
    nodes.apply({.id = store::node_id{1}, .name = "n2", .cells = cells});
    for (std::uint32_t i = 2; i < 6; ++i) {
      const std::string node = "m" + std::to_string(i);
      add(nodes, i, node, many_families(2'000, "a_" + node + "_"));
    }
    name_list list(nodes);
    const auto& names = of(list, nodes);
    CHECK(names.size() == name_list::most);
    CHECK(has(names, "rapl_power_watts"));
    CHECK(has(names, "zzz_shared_100009"));
    CHECK(has(names, "zzz_shared_100009_x"));
    CHECK(has(names, "a_m2_100000"));
    CHECK_FALSE(has(names, "a_m5_100999_x"));

    nodes.forget({store::node_id{2}, store::node_id{3}, store::node_id{4}});
    CHECK(has(of(list, nodes), "a_m5_100999_x"));
    CHECK_FALSE(has(of(list, nodes), "a_m2_100000"));
    CHECK(has(of(list, nodes), "zzz_shared_100009"));
  }

  TEST_CASE("a step handles a bounded number of names, also when a node has 10,000 others each time") {
    store::view nodes;
    name_list list(nodes);
    add(nodes, 0, "n1", store::two_packages());
    // Beyond per_step, what belongs to the last name: its aliases.
    constexpr std::uint64_t last_one = 200;
    for (std::uint32_t round = 0; round < 3; ++round) {
      CAPTURE(round);
      const std::string prefix = "node_round_" + std::to_string(round) + "_";
      add(nodes, 1, "n2", many_families(10'000, prefix));
      std::size_t steps = 1;
      std::uint64_t most = 0;
      for (bool more = true; more; ++steps) {
        const std::uint64_t before = list.handled();
        more = list.step(nodes.catalogs());
        most = std::max(most, list.handled() - before);
      }
      CHECK(most <= name_list::per_step + last_one);
      CHECK(steps > 20'000 / name_list::per_step);
      CHECK(has(*list.names(), prefix + "100000"));
      CHECK(has(*list.names(), prefix.substr(5) + "100000"));
      CHECK(has(*list.names(), "rapl_power_watts_0"));
      CHECK_FALSE(has(*list.names(), "node_round_" + std::to_string(round + 1) + "_100000"));
      if (round > 0) CHECK_FALSE(has(*list.names(), "node_round_" + std::to_string(round - 1) + "_100000"));
    }
    add(nodes, 1, "n2", store::two_packages());
    CHECK_FALSE(has(of(list, nodes), "node_round_2_100000"));
    CHECK_FALSE(has(of(list, nodes), "round_2_100000"));
    CHECK(has(of(list, nodes), "rapl_power_watts_0"));
  }

  TEST_CASE(
      "nodes that announce without end keep nobody waiting, and the list of before is there meanwhile") {
    store::view nodes;
    name_list list(nodes);
    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("inlet_celsius"));
    of(list, nodes);
    add(nodes, 1, "n2", many_families(2'000, "a_"));
    const std::uint64_t asked = nodes.catalogs();
    std::size_t steps = 1;
    for (; list.step(asked) && steps < 1'000; ++steps) {
      CHECK(has(*list.names(), "inlet_celsius"));
      add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("outlet_celsius"));
    }
    CHECK(steps > 2);
    CHECK(steps < 1'000);
    CHECK(has(*list.names(), "a_100000"));
    CHECK(has(of(list, nodes), "outlet_celsius"));
    CHECK_FALSE(has(of(list, nodes), "inlet_celsius"));
  }

  TEST_CASE("a name that two catalogs have stays until the last of them is gone") {
    store::view nodes;
    name_list list(nodes);
    const auto with = [&](std::uint32_t id, const std::string& more) {
      auto c = store::catalog_builder().group("textfile").series("node_inlet_celsius", {{"rack", "A"}});
      add(nodes, id, "n" + std::to_string(id), c.series(more));
    };
    with(1, "one");
    with(2, "two");
    const auto all = [&] {
      const auto& names = of(list, nodes);
      return int{has(names, "node_inlet_celsius")} + int{has(names, "inlet_celsius")} +
             int{has(names, "node_inlet_celsius_a")};
    };
    CHECK(all() == 3);
    with(1, "another");
    CHECK(all() == 3);
    CHECK_FALSE(has(of(list, nodes), "one"));
    add(nodes, 1, "n1", store::two_packages());
    CHECK(all() == 3);
    nodes.forget({store::node_id{2}});
    CHECK(all() == 0);
    CHECK_FALSE(has(of(list, nodes), "two"));
  }

  TEST_CASE("an old name is known before any node has its family") {
    store::view nodes;
    CHECK(knows(nodes, "collectd_package_0_power_power"));
    CHECK(knows(nodes, "rapl_power_watts"));
    CHECK_FALSE(knows(nodes, "no_such_metric"));
    CHECK_FALSE(knows(nodes, "binnacle_sessions"));  // no node measures the aggregator
  }

  TEST_CASE("a metric is known as soon as a node has announced it, and no longer than it has it") {
    store::view nodes;
    add(nodes, 0, "n1",
        store::catalog_builder()
            .group("textfile")
            .series("inlet_celsius", {{"rack", "A 7"}})
            .series("pod_gpu", {{"namespace", "ops"}, {"pod", "a"}}));
    CHECK(knows(nodes, "inlet_celsius"));
    CHECK(knows(nodes, "inlet_celsius_a_7"));
    CHECK(knows(nodes, "pod_gpu"));
    CHECK_FALSE(knows(nodes, "pod_gpu_ops_a"));
    CHECK_FALSE(knows(nodes, ""));
    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("outlet_celsius"));
    CHECK(knows(nodes, "outlet_celsius"));
    CHECK_FALSE(knows(nodes, "inlet_celsius"));
  }

  TEST_CASE("a search of many nodes takes several steps, one of a name of ours none") {
    store::view nodes;
    for (std::uint32_t i = 0; i < 1'300; ++i) nodes.node(store::node_id{i}, "n" + std::to_string(10'000 + i));
    add(nodes, 1'300, "z", store::catalog_builder().group("textfile").series("inlet_celsius"));
    name_search ours(nodes, metrics::alias_table::built_in(), "rapl_power_watts");
    CHECK(ours.found());
    CHECK_FALSE(ours.step());
    name_search other(nodes, metrics::alias_table::built_in(), "inlet_celsius");
    CHECK(other.step());
    CHECK_FALSE(other.found());
    CHECK(other.step());
    CHECK_FALSE(other.step());
    CHECK(other.found());
  }
}

}  // namespace names_test
