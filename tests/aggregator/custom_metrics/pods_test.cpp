#include "aggregator/custom_metrics/pods.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace pods_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;
using store::at_s;

namespace {

/// A node whose agent has counters for pods, labelled by UID, and scrapes an exporter that names pods.
struct fixture {
  store::node_view node;
  const questions::selector::look_up none;

  fixture() {
    wire::catalog c;
    c.groups.push_back({"pmu-pods", "", 10'000, 30'000});
    const auto add = [&c](std::string family, metrics::label_set labels) {
      wire::series_info s;
      s.family = std::move(family);
      s.labels = std::move(labels);
      c.series.push_back(std::move(s));
    };
    add("pmu_pod_context_switches_per_second", {{"pod_uid", "u1"}});
    add("pmu_pod_context_switches_per_second", {{"pod_uid", "u2"}});
    add("requests", {{"namespace", "ops"}, {"pod", "web-1"}});
    add("requests", {{"namespace", "dev"}, {"pod", "web-1"}});
    add("queue", {});
    const auto gpu = [&add](const char* name, const char* container) {
      add("gpu_utilization", {{"namespace", "ops"}, {"pod", name}, {"container", container}});
    };
    gpu("web-1", "main");
    gpu("web-1", "sidecar");
    gpu("web-2", "main");
    gpu("web-3", "sidecar");
    add("node_watts", {{"namespace", "ops"}, {"pod", "web-1"}});
    add("node_watts", {{"namespace", "ops"}, {"pod", "web-2"}});
    add("rack", {{"unit", "7"}});
    add("node_rack_7", {{"namespace", "ops"}, {"pod", "web-1"}});
    add("pmu_pod_context_switches_per_second", {{"pod_uid", "0123456789abcdef0123456789abcdef"}});
    node.name = "n1";
    node.cells =
        std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
    auto cells = std::const_pointer_cast<store::row>(node.cells);
    for (std::size_t i = 0; i < c.series.size(); ++i)
      cells->set_value(i, static_cast<std::int64_t>(10 * (i + 1)));
    cells->set_read(0, at_s(995));
  }
  static own_readings own(const char* metric, const char* series = "") {
    const auto selected = questions::selector::parse(series);
    REQUIRE(selected.has_value());
    return own_readings(metric, metrics::alias_table::built_in(), *selected);
  }
  std::optional<questions::reading> of(const char* metric, const char* name_space, const char* name,
                                       const char* uid) const {
    return own(metric).of(node, pod{name_space, name, uid, "n1", none}, at_s(1000));
  }
};

TEST_SUITE("aggregator/custom_metrics/pods") {
  TEST_CASE_FIXTURE(fixture, "a pod's own series is found by its UID, or by its namespace and name") {
    const auto second = of("pmu_pod_context_switches_per_second", "ops", "web-2", "u2");
    REQUIRE(second.has_value());
    CHECK(second->value.present(at_s(1000)));
    CHECK(second->value.value == decimal{20, 0});
    CHECK(second->value.read_at == at_s(995));
    CHECK(second->span == std::chrono::seconds(10));
    CHECK(of("requests", "ops", "web-1", "u1")->value.value == decimal{30, 0});
    CHECK(of("requests", "dev", "web-1", "u9")->value.value == decimal{40, 0});
  }

  TEST_CASE_FIXTURE(fixture, "a static pod's own series is found by the UID that its kubelet gave it") {
    const pod etcd{"kube-system", "etcd-n1", "u7", "n1", none, "0123456789abcdef0123456789abcdef"};
    const auto got = own("pmu_pod_context_switches_per_second").of(node, etcd, at_s(1000));
    REQUIRE(got.has_value());
    CHECK(got->value.value == decimal{140, 0});
    CHECK(of("pmu_pod_context_switches_per_second", "ops", "web-1", "u1")->value.value == decimal{10, 0});
  }

  TEST_CASE_FIXTURE(fixture, "a pod that such a metric does not name has none, and not the node's sum") {
    const auto other = of("pmu_pod_context_switches_per_second", "ops", "web-3", "u3");
    REQUIRE(other.has_value());
    CHECK_FALSE(other->value.present(at_s(1000)));
    CHECK(other->value.reason == absence::missing);
    CHECK_FALSE(of("requests", "qa", "web-1", "u1")->value.present(at_s(1000)));
  }

  TEST_CASE_FIXTURE(fixture, "a pod's own series is found also by the metric's name without node_") {
    for (const char* name : {"node_watts", "watts"}) {
      CAPTURE(name);
      CHECK(of(name, "ops", "web-1", "u1")->value.value == decimal{100, 0});
      CHECK(of(name, "ops", "web-2", "u2")->value.value == decimal{110, 0});
      CHECK_FALSE(of(name, "ops", "web-3", "u3")->value.present(at_s(1000)));
    }
    CHECK_MESSAGE(!of("rack_7", "ops", "web-1", "u1").has_value(), "the flat name comes first");
  }

  TEST_CASE_FIXTURE(fixture, "a metric that names no pods is the node's") {
    CHECK_FALSE(of("queue", "ops", "web-1", "u1").has_value());
    CHECK_FALSE(of("node_package_power_per_pod", "ops", "web-1", "u1").has_value());
    CHECK_FALSE(own("queue").of(store::node_view(), pod{"ops", "a", "u", "n", none}, at_s(1000)).has_value());
  }

  TEST_CASE_FIXTURE(fixture, "a selector of series leaves series of the pod out, and adds none of others") {
    const auto ask = [this](const char* series, const char* name) {
      return own("gpu_utilization", series).of(node, pod{"ops", name, "", "n1", none}, at_s(1000));
    };
    CHECK(ask("", "web-1")->value.value == decimal{70, 0});  // the larger of its two
    CHECK(ask("container=main", "web-1")->value.value == decimal{60, 0});
    CHECK(ask("container=main", "web-2")->value.value == decimal{80, 0});
    for (const char* name : {"web-3", "web-4"}) {  // no series with container=main; no series at all
      const auto without = ask("container=main", name);
      REQUIRE(without.has_value());
      CHECK_FALSE(without->value.present(at_s(1000)));
      CHECK(without->value.reason == absence::missing);
    }
    const auto nobodys = ask("container=none", "web-1");
    REQUIRE(nobodys.has_value());  // a selector that selects nothing does not make it the node's
    CHECK_FALSE(nobodys->value.present(at_s(1000)));
    const pod whose{"ops", "web-1", "", "n1", none};
    CHECK_FALSE(own("queue", "package=0").of(node, whose, at_s(1000)).has_value());
  }

  TEST_CASE_FIXTURE(fixture,
                    "a node's series are looked through once for all its pods that have none of them") {
    own_readings requests = own("requests");
    const auto named = [&](const std::string& name) {
      return requests.of(node, pod{"qa", name, "", "n1", none}, at_s(1000));
    };
    REQUIRE(named("a").has_value());
    const std::size_t once = requests.looked_at();
    CHECK(once > 0);
    for (int i = 0; i < 100; ++i) CHECK_FALSE(named(std::to_string(i))->value.present(at_s(1000)));
    CHECK(requests.looked_at() == once);
  }
}

}  // namespace

}  // namespace pods_test
