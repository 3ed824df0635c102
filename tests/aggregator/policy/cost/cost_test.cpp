#include "aggregator/policy/cost/limits.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "common/metrics/alias_table.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cost_test {
namespace {

using namespace binnacle;
using namespace binnacle::policy;

binnacle::policy::policy one(const std::string& strategies) {
  const auto read =
      parse_policies("p.yaml",
                     "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: p}\n"
                     "spec: {strategies: {" +
                         strategies + "}}\n");
  REQUIRE(read.policies.size() == 1);
  REQUIRE(read.policies[0].usable);
  return read.policies[0].value;
}

cost of(const std::string& strategies) {
  return price(one(strategies), metrics::alias_table::built_in()).total();
}

const std::string temp = "{metricname: temp, operator: GreaterThan, target: 5";

TEST_SUITE("aggregator/policy/cost") {
  TEST_CASE("a column is paid once, however many rules and strategies read it") {
    const cost alone = of("dontschedule: {rules: [" + temp + "}]}");
    CHECK(alone.columns == 1);
    CHECK(alone.label_keys == 0);
    CHECK(alone.rules == 1);
    const cost twice = of("dontschedule: {rules: [" + temp + "}, " + temp + "0}]}");
    CHECK(twice.columns == 1);
    CHECK(twice.node_bytes > alone.node_bytes);
    const cost both = of("dontschedule: {rules: [" + temp + "}]}, deschedule: {rules: [" + temp + "}]}");
    CHECK(both.columns == 1);
    CHECK(both.label_keys == 1);
    CHECK(both.rules == 2);
  }

  TEST_CASE("a quarter of the policies' memory is for snapshots, and no more than those that may exist") {
    cost_limits usual;
    CHECK(keep_for_snapshots(usual, false) == 64u << 20);
    CHECK(usual.memory_bytes == 384u << 20);
    cost_limits large{.memory_bytes = 64ull << 30};
    CHECK(keep_for_snapshots(large, false) == largest_snapshot);
    CHECK(large.memory_bytes == (64ull << 30) - 2 * largest_snapshot);
    // A third snapshot may be on its way to another replica.
    cost_limits shared;
    CHECK(keep_for_snapshots(shared, true) == (128u << 20) / 3);
    CHECK(shared.memory_bytes == 384u << 20);
    cost_limits both{.memory_bytes = 64ull << 30};
    CHECK(keep_for_snapshots(both, true) == largest_snapshot);
    CHECK(both.memory_bytes == (64ull << 30) - 3 * largest_snapshot);
  }

  TEST_CASE("minimizepower pays for the two windows that it learns from, and for what it learns") {
    const cost power = of("minimizepower: {}");
    CHECK(power.columns == 2);
    CHECK(power.node_bytes > 4'000);
    CHECK(power.node_evaluations > 0);
    const cost beside = of("minimizepower: {}, dontschedule: {rules: [" + temp + "}]}");
    CHECK(beside.columns == 3);
    const auto two = one("minimizepower: {}");
    bill all;
    all.add(price(two, metrics::alias_table::built_in()));
    all.add(price(two, metrics::alias_table::built_in()));
    CHECK_MESSAGE(all.total().columns == 2, "all policies learn from the same windows");
  }

  TEST_CASE(
      "windows of other lengths and statistics are other columns, and long ones cost no more than full "
      "ones") {
    const auto window = [](const std::string& length, const std::string& stat) {
      return of("dontschedule: {rules: [" + temp + ", window: " + length + ", statistic: " + stat + "}]}");
    };
    const cost none = of("dontschedule: {rules: [" + temp + "}]}");
    CHECK(window("1m", "avg").node_bytes > none.node_bytes + 1000);
    CHECK(window("1h", "p95").node_bytes == window("10h", "p95").node_bytes);
    CHECK(window("1h", "p95").node_bytes > 4096);
    CHECK(window("10s", "p95").node_bytes < window("1h", "p95").node_bytes / 3);
    CHECK(window("1h", "p95").node_evaluations > 256);
    CHECK(window("1h", "avg").node_evaluations < 10);
    CHECK(of("dontschedule: {rules: [" + temp + ", window: 1m}, " + temp + ", window: 2m}]}").columns == 2);
  }

  TEST_CASE("at 5,000 nodes policies take what docs/policies.md says") {
    const auto text = [](std::uint64_t node_bytes) {
      return amount_text(resource::memory, node_bytes * 5'000);
    };
    const auto column = [&](const std::string& window) {
      const priced p =
          price(one("dontschedule: {rules: [" + temp + window + "}]}"), metrics::alias_table::built_in());
      return text(p.columns.begin()->second.node_bytes);
    };
    CHECK(column("") == "2.4 MiB");
    CHECK(column(", window: 5m, statistic: p95") == "24.6 MiB");
    CHECK(column(", window: 1m, statistic: avg") == "14.0 MiB");
    CHECK(text(of("minimizepower: {}").node_bytes) == "35.6 MiB");
  }

  TEST_CASE("what is read five times a second costs five times the evaluations of what is read once") {
    const cost slow = of("dontschedule: {rules: [" + temp + "}]}");
    const cost fast =
        of("dontschedule: {rules: [{metricname: rapl_power_watts, operator: GreaterThan, target: 5}]}");
    CHECK(fast.node_evaluations == 5 * slow.node_evaluations);
    CHECK(fast.node_bytes == slow.node_bytes);
  }

  TEST_CASE("every value has all rules of its strategy compared") {
    const cost two =
        of("dontschedule: {rules: [{metricname: a, operator: GreaterThan, target: 5}, "
           "{metricname: b, operator: GreaterThan, target: 5}]}");
    // Once a second each of two columns is derived, and two rules compare it.
    CHECK(two.node_evaluations == 2 * (1 + 2));
    CHECK_MESSAGE(of("scheduleonmetric: {rules: [{metricname: a, operator: LessThan}, "
                     "{metricname: b, operator: LessThan}]}")
                          .columns == 1,
                  "only its first rule counts");
  }

  TEST_CASE("keys of labels are counted by key, whatever their values") {
    const cost labels = of("labeling: {rules: [" + temp + ", labels: [\"a=1\", \"b=1\"]}, " + temp +
                           "0, labels: [\"a=2\"]}]}");
    CHECK(labels.label_keys == 2);
    const cost none = of("dontschedule: {rules: [" + temp + "}]}");
    CHECK(labels.node_bytes > none.node_bytes + 2 * 300);
  }

  TEST_CASE("an old name that has a window of its own costs that window") {
    metrics::alias_table names;
    names.add({.name = "mean_temp", .family = "temp", .window = std::chrono::seconds(60)});
    const auto p = one("dontschedule: {rules: [{metricname: mean_temp, operator: GreaterThan, target: 5}]}");
    CHECK(price(p, names).total().node_bytes >
          price(p, metrics::alias_table::built_in()).total().node_bytes + 1000);
  }

  TEST_CASE("a bill counts a column once, and what goes takes its part with it") {
    const auto price_of = [](const std::string& text) {
      return price(one(text), metrics::alias_table::built_in());
    };
    const priced a = price_of("dontschedule: {rules: [" + temp + "}]}");
    const priced b =
        price_of("deschedule: {rules: [" + temp + "}, {metricname: fan, operator: LessThan, target: 1}]}");
    bill all;
    all.add(a);
    all.add(b);
    CHECK(all.total().columns == 2);
    CHECK(all.total().node_bytes < a.total().node_bytes + b.total().node_bytes);
    all.remove(a);
    CHECK(all.total() == b.total());
    all.remove(b);
    CHECK(all.total() == cost());
  }
}

}  // namespace
}  // namespace cost_test
