#include "aggregator/enforce/policy_status.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

namespace bench_enforce {

/// What the status of a policy costs on the faces loop, which looks at each node.
namespace {

using namespace binnacle;
using namespace std::chrono_literals;

const policy::policy_key power{"default", "power"};
const instant now(1h);

/// A fleet in which every tenth node violates a policy of two strategies with one rule each.
void fill(policy::view& nodes, std::uint32_t fleet, policy::mode how) {
  auto p = std::make_shared<policy::published_policy>();
  p->key = power;
  p->how = how;
  for (int s = 0; s < 2; ++s) {
    auto values = std::make_shared<store::shared_column>(store::column_spec{fmt::format("temp{}", s)});
    auto verdicts = std::make_shared<policy::verdict_column>();
    for (std::uint32_t i = 0; i < fleet; ++i) {
      const bool bad = i % 10 == 0;
      verdicts->store(store::node_id{i}, {bad ? policy::state::violating : policy::state::pass, bad, 0, 0});
      store::sample one;
      one.reason = absence::none;
      one.read_at = now - 1s;
      one.expires_at = now + 10s;
      values->store(store::node_id{i}, one);
    }
    policy::published_strategy strategy;
    strategy.rules.push_back({{}, "temp GreaterThan 80", values});
    strategy.verdicts = verdicts;
    p->strategies.push_back(std::move(strategy));
  }
  for (std::uint32_t i = 0; i < fleet; ++i) {
    auto& node = nodes.apply({.id = store::node_id{i}, .name = fmt::format("worker-{:05}", i)});
    if (how == policy::mode::dry_run && i % 10 == 0) node.would_be["power"] = "violating";
  }
  auto table = std::make_shared<policy::policy_table>();
  table->emplace(power, std::move(p));
  nodes.set_policies(std::move(table));
}

void BM_policy_facts(benchmark::State& state, policy::mode how) {
  policy::view nodes;
  fill(nodes, static_cast<std::uint32_t>(state.range(0)), how);
  for (auto _ : state)
    benchmark::DoNotOptimize(enforce::facts_of(power, "TASPolicy default/power", 1, nodes, {}, {}, now));
}
BENCHMARK_CAPTURE(BM_policy_facts, enforced, policy::mode::enforce)
    ->Arg(5'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_policy_facts, dry_run, policy::mode::dry_run)->Arg(5'000)->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace bench_enforce
