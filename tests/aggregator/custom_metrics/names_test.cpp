#include "aggregator/custom_metrics/names.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace names_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;

namespace {

void add(store::view& nodes, std::uint32_t id, const std::string& name, const wire::catalog& c) {
  auto cells =
      std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
  nodes.apply({.id = store::node_id{id}, .name = name, .cells = std::move(cells)});
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

}  // namespace

TEST_SUITE("aggregator/custom_metrics/names") {
  TEST_CASE("without any node the built-in families are listed, but not those about the aggregator") {
    store::view nodes;
    name_list list;
    const auto& names = list.of(nodes);
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
    name_list list;
    const auto& names = list.of(nodes);
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
    name_list list;
    add(nodes, 0, "n1",
        store::catalog_builder().group("textfile").series("node_filter1_metric").series("node_os_load1"));
    const auto& names = list.of(nodes);
    CHECK(has(names, "node_filter1_metric"));
    CHECK(has(names, "filter1_metric"));
    CHECK(list.knows("filter1_metric"));
    CHECK(has(names, "os_load1"));  // our own, whatever a user calls his
    add(nodes, 0, "n1", store::two_packages());
    CHECK_FALSE(has(list.of(nodes), "filter1_metric"));
  }

  TEST_CASE("the list is made anew only when shapes come or go") {
    store::view nodes;
    name_list list;
    list.of(nodes);
    const auto before = list.revision();
    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("inlet_celsius"));
    CHECK(has(list.of(nodes), "inlet_celsius"));
    CHECK(list.revision() != before);
    const auto with_one = list.revision();
    nodes.apply({.id = store::node_id{1}, .name = "n2", .cells = nodes.find("n1")->cells});
    list.of(nodes);
    CHECK(list.revision() == with_one);

    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("outlet_celsius"));
    CHECK(has(list.of(nodes), "inlet_celsius"));  // n2 has it still
    add(nodes, 1, "n2", store::catalog_builder().group("textfile").series("outlet_celsius"));
    CHECK_FALSE(has(list.of(nodes), "inlet_celsius"));
    CHECK(has(list.of(nodes), "outlet_celsius"));
    CHECK(has(list.of(nodes), "rapl_power_watts"));
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
    name_list list;
    CHECK(has(list.of(nodes), "rapl_power_watts_1"));
    CHECK(has(list.of(nodes), "pmu_pod_cycles_per_second"));
    const auto before = list.revision();
    const auto* first = list.of(nodes).data();
    with_pods(0, "n1", many + 1);
    with_pods(1, "n2", 2);
    CHECK(list.of(nodes).data() == first);
    CHECK(list.revision() == before);
  }

  TEST_CASE("nodes are looked at only when one may have another catalog") {
    store::view nodes;
    name_list list;
    add(nodes, 0, "n1", store::catalog_builder().group("textfile").series("inlet_celsius"));
    list.of(nodes);
    const auto before = nodes.catalogs();
    nodes.apply({.id = store::node_id{0}, .name = "n1", .connected = false});
    CHECK(nodes.catalogs() == before);
    nodes.node(store::node_id{0}, "n1").cells = nullptr;  // behind its back
    CHECK(has(list.of(nodes), "inlet_celsius"));
    nodes.forget({store::node_id{0}});
    CHECK(nodes.catalogs() != before);
    CHECK_FALSE(has(list.of(nodes), "inlet_celsius"));
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
    name_list list(names);
    CHECK(has(list.of(nodes), "heat"));
    const auto before = list.revision();
    names.replace(table("warmth"));
    CHECK(has(list.of(nodes), "warmth"));
    CHECK_FALSE(has(list.of(nodes), "heat"));
    CHECK(has(list.of(nodes), "rapl_power_watts_1"));
    CHECK(list.revision() != before);
    CHECK_FALSE(list.knows("heat"));
  }

  TEST_CASE("a fleet with endless names is cut off, not served endlessly") {
    store::view nodes;
    store::catalog_builder c;
    c.group("textfile");
    for (std::size_t i = 0; i < name_list::most + 100; ++i) c.series("user_metric_" + std::to_string(i));
    add(nodes, 0, "n1", c);
    name_list list;
    CHECK(list.of(nodes).size() == name_list::most);
    CHECK(list.knows("user_metric_" + std::to_string(name_list::most + 99)));
  }

  TEST_CASE("an old name is known before any node has its family") {
    store::view nodes;
    name_list list;
    list.of(nodes);
    CHECK(list.knows("collectd_package_0_power_power"));
    CHECK(list.knows("rapl_power_watts"));
    CHECK_FALSE(list.knows("no_such_metric"));
  }
}

}  // namespace names_test
