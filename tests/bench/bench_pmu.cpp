// What one read of the source pmu costs on this machine, for each preset. Where the kernel permits no
// counting, the benchmark says so instead of giving a figure.
#include "agent/sources/pmu/pmu.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

namespace bench_pmu {

namespace {

using namespace binnacle;
using namespace binnacle::agent;

void read_all(benchmark::State& state, event_preset preset, bool per_cpu) {
  // The time moves on by a second for each read, so that rates are computed as in real use.
  instant now{};
  clocks time{[&now] { return now += std::chrono::seconds(1); }, [] { return duration::zero(); }};
  pmu_source source({.wishes = {preset, {}}, .per_cpu = per_cpu}, std::move(time));
  board out;
  if (const auto found = source.discover(out); !found) {
    state.SkipWithError(found.error().message.c_str());
    return;
  }
  for (auto _ : state) {
    if (const auto done = source.read(out); !done) {
      state.SkipWithError(done.error().message.c_str());
      return;
    }
  }
  double counted = 0;
  for (const auto& e : out.series()) counted += e.reason == absence::none ? 1 : 0;
  state.counters["series"] = counted;
}

void BM_pmu_read_default(benchmark::State& state) { read_all(state, event_preset::lean, false); }
void BM_pmu_read_default_per_cpu(benchmark::State& state) { read_all(state, event_preset::lean, true); }
void BM_pmu_read_collectd(benchmark::State& state) { read_all(state, event_preset::collectd, false); }
BENCHMARK(BM_pmu_read_default);
BENCHMARK(BM_pmu_read_default_per_cpu);
BENCHMARK(BM_pmu_read_collectd);

}  // namespace

}  // namespace bench_pmu
