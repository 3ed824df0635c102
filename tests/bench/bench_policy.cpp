#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/policy/published/scores.hpp"
#include "aggregator/policy/text/yaml.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace bench_policy {

/// The policy room alone: judging a sample, scoring candidates, reading manifests.
namespace {

using namespace binnacle;
using namespace binnacle::policy;
using namespace std::chrono_literals;

class columns_in_memory : public column_source {
 public:
  watched watch(const store::column_spec& spec, instant) override {
    all.push_back(std::make_shared<store::shared_column>(spec));
    return {store::column_id{static_cast<std::uint32_t>(all.size() - 1)}, all.back()};
  }
  void release(store::column_id) override {}
  duration stale_after(store::column_id) const override { return 10s; }
  family_names announced() const override { return families; }
  std::vector<std::shared_ptr<store::shared_column>> all;
  family_names families;
};

class nobody : public sink {
 public:
  void happened(const event&) override {}
  void changed(const condition&) override {}
  void relabel(store::node_id) override { ++relabelled; }
  void published(std::shared_ptr<const policy_table>) override {}
  std::uint64_t relabelled = 0;
};

/// `n` policies of three strategies over four metrics.
std::vector<binnacle::policy::policy> some_policies(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    text += fmt::format(
        "---\napiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {{name: p{0}}}\nspec:\n  "
        "strategies:\n"
        "    dontschedule: {{rules: [{{metricname: m{1}, operator: GreaterThan, target: {0}, clearBelow: "
        "0}}, "
        "{{metricname: m{2}, operator: LessThan, target: -1}}]}}\n"
        "    deschedule: {{rules: [{{metricname: m{1}, operator: GreaterThan, target: {0}, for: 30s}}]}}\n"
        "    scheduleonmetric: {{rules: [{{metricname: m{1}, operator: LessThan}}]}}\n",
        i + 50, i % 4, (i + 1) % 4);
  }
  std::vector<binnacle::policy::policy> out;
  for (auto& p : parse_policies("bench.yaml", text).policies) out.push_back(std::move(p.value));
  return out;
}

/// One sample of one column at one node, values moving around the targets of some of the policies.
void BM_engine_update(benchmark::State& state) {
  columns_in_memory columns;
  nobody out;
  engine e(columns, out);
  instant now(1h);
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  e.set_policies(some_policies(static_cast<int>(state.range(1))), now);
  for (std::uint32_t n = 0; n < nodes; ++n) e.node_added(store::node_id{n}, now);
  std::uint32_t n = 0, c = 0;
  std::int64_t value = 0;
  for (auto _ : state) {
    if (++n == nodes) {
      n = 0;
      if (++c == columns.all.size()) {
        c = 0;
        now += 1s;
      }
    }
    value = (value * 7 + 3) % 65;
    const store::sample s{{value, 0}, now, now + 10s, absence::none};
    columns.all[c]->store(store::node_id{n}, s);
    e.update(store::column_id{c}, store::node_id{n}, s, now);
    e.tick(now);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["judged_per_sample"] =
      static_cast<double>(e.counters().judged) / static_cast<double>(state.iterations());
  state.counters["deadlines"] = static_cast<double>(e.deadlines_under_way());
}
BENCHMARK(BM_engine_update)->Args({5'000, 1})->Args({5'000, 20});

/// All values of one node at once, each read by as many rules as policies may have: policies of 64 rules,
/// each rule about another metric. What an agent can make its aggregator do in one turn.
void BM_engine_batch(benchmark::State& state) {
  std::string rules;
  for (int r = 0; r < 64; ++r)
    rules += fmt::format("{}{{metricname: m{}, operator: GreaterThan, target: 50}}", r == 0 ? "" : ", ", r);
  auto read = parse_policies(
      "bench.yaml", fmt::format("apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: "
                                "{{name: p}}\nspec:\n  strategies: {{dontschedule: {{logicalOperator: "
                                "allOf, rules: [{}]}}}}\n",
                                rules));
  if (read.policies.size() != 1) return state.SkipWithError("the policy was not read");
  std::vector<binnacle::policy::policy> policies(static_cast<std::size_t>(state.range(0)),
                                                 read.policies[0].value);
  for (std::size_t i = 0; i < policies.size(); ++i) policies[i].key.name = fmt::format("p{}", i);

  columns_in_memory columns;
  nobody out;
  engine e(columns, out);
  instant now(1h);
  e.set_policies(policies, now);
  const store::node_id node{0};
  e.node_added(node, now);
  std::int64_t value = 0;
  for (auto _ : state) {
    now += 1s;
    value = 100 - value;
    for (std::uint32_t c = 0; c < columns.all.size(); ++c) {
      const store::sample s{{value, 0}, now, now + 10s, absence::none};
      columns.all[c]->store(node, s);
      e.update(store::column_id{c}, node, s, now);
    }
    e.tick(now);
  }
  state.counters["rules"] = static_cast<double>(64 * state.range(0));
}
BENCHMARK(BM_engine_batch)->Arg(10)->Arg(312)->Arg(1'400)->Unit(benchmark::kMillisecond);

/// An edit of one policy among twenty, with 5,000 nodes.
void BM_engine_edit(benchmark::State& state) {
  columns_in_memory columns;
  nobody out;
  engine e(columns, out);
  const instant now(1h);
  auto policies = some_policies(20);
  e.set_policies(policies, now);
  for (std::uint32_t n = 0; n < 5'000; ++n) e.node_added(store::node_id{n}, now);
  std::int64_t target = 0;
  for (auto _ : state) {
    policies[3].strategies[0].rules[0].target = from_integer(++target);
    policies[3].revision = content_revision(policies[3]);
    e.set_policies(policies, now);
  }
}
BENCHMARK(BM_engine_edit)->Unit(benchmark::kMillisecond);

void BM_score(benchmark::State& state, bool rank) {
  std::vector<std::optional<decimal>> values;
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    values.emplace_back(decimal{(i * 7919) % 3'000 + 500, -1});
    names.push_back(fmt::format("node-{:05}", i));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::uint8_t> scores(values.size());
  for (auto _ : state) {
    if (rank) {
      score_by_rank(values, views, {comparison::less_than, {}}, scores);
    } else {
      score_by_value(values, {comparison::less_than, {}}, scores);
    }
    benchmark::DoNotOptimize(scores.data());
  }
}
BENCHMARK_CAPTURE(BM_score, by_value, false)->Arg(500)->Arg(5'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_score, by_rank, true)->Arg(500)->Arg(5'000)->Unit(benchmark::kMicrosecond);

void BM_parse(benchmark::State& state) {
  std::string text;
  for (int i = 0; i < state.range(0); ++i) {
    text += fmt::format(
        "---\napiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata:\n  name: p{}\nspec:\n  "
        "strategies:\n    dontschedule:\n"
        "      rules:\n        - metricname: rapl_power_watts\n          operator: GreaterThan\n          "
        "target: 60\n          window: 10s\n",
        i);
  }
  for (auto _ : state) benchmark::DoNotOptimize(parse_policies("bench.yaml", text));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(BM_parse)->Arg(1)->Arg(1'000)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace bench_policy
