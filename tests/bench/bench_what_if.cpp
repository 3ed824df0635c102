// BM_what_if_*: the cost of one answer of /api/v1/what-if, without HTTP and TLS, and its longest slice, which
// is how long it may delay a call of kube-scheduler.
//   build/tests/bench/binnacle-bench --benchmark_filter=BM_what_if --benchmark_min_time=1
#include "aggregator/ops/what_if.hpp"
#include "aggregator/policy/power_terms.hpp"
#include "common/system/process_cost.hpp"
#include "tests/aggregator/extender/fleet.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace bench_what_if {

namespace {

using namespace binnacle;

/// Five kinds of servers of 64 cores. Each node has its own curve and a random load below half.
std::unique_ptr<test::fleet> fleet_of(int nodes) {
  auto out = std::make_unique<test::fleet>();
  test::fleet& f = *out;
  std::mt19937 random(3);
  for (int i = 0; i < nodes; ++i) {
    const std::string name = fmt::format("worker-{:05}.rack-{:02}.example", i, i % 40);
    std::vector<double> watts{80.0 + static_cast<double>(random() % 20)};
    for (int k = 1; k <= 10; ++k)
      watts.push_back(watts.back() + (k == 1 ? 60 : 8 + i % 5 * k) + static_cast<double>(random() % 5));
    predict::model m{predict::curve::through(watts, 64).value()};
    m.made = f.now;
    f.data.models().set(store::index(f.node(name)), std::make_shared<const predict::model>(std::move(m)));
    f.value(name, std::string(policy::load_metric), {static_cast<std::int64_t>(random() % 5000), -4});
  }
  policy::policy p;
  p.key = {"default", "watts"};
  policy::strategy s;
  s.kind = policy::strategy_kind::minimizepower;
  s.rules = policy::power_rules();
  p.strategies.push_back(std::move(s));
  f.publish(std::move(p));
  f.face();  // publishes
  return out;
}

double cpu_ms() { return std::chrono::duration<double, std::milli>(own_thread_time()).count(); }

void BM_what_if(benchmark::State& state) {
  const auto f = fleet_of(static_cast<int>(state.range(0)));
  const auto pods = static_cast<std::size_t>(state.range(1));
  std::vector<double> longest;
  std::size_t bytes = 0;
  for (auto _ : state) {
    ops::imagined_pods q;
    q.policy = ops::policy_by_watts(f->data.policies(), "").value();
    q.pods = pods;
    q.cpu = from_integer(4);
    q.now = f->now;
    const auto work = ops::what_if_json(f->data, std::move(q), {});
    double most = 0;
    for (bool more = true; more;) {
      const double begin = cpu_ms();
      more = work->step();
      most = std::max(most, cpu_ms() - begin);
    }
    longest.push_back(most);
    const http::response answer = work->take();
    bytes = 0;
    for (const std::string& piece : answer.body) bytes += piece.size();
    if (answer.body.front().find(fmt::format(R"("placed":{},)", pods)) == std::string::npos)
      state.SkipWithError("wrong answer");
  }
  std::sort(longest.begin(), longest.end());
  state.counters["longest_slice_p50_ms"] = longest[longest.size() / 2];
  state.counters["longest_slice_max_ms"] = longest.back();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_what_if)
    ->Args({500, 20})
    ->Args({5'000, 20})
    ->Args({5'000, 10'000})
    ->Args({20'000, 10'000})
    ->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace bench_what_if
