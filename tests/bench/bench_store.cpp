// The store with the batches of 5,000 nodes × 40 series: what a batch costs the ingest loop, and how much
// memory all of it takes.
#include "aggregator/store/warehouse.hpp"
#include "tests/common/wire/noisy_node.hpp"

#include <benchmark/benchmark.h>

#include <malloc.h>
#include <random>
#include <string>

namespace bench_store {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

constexpr std::size_t fleet = 5'000;

/// The metrics of ten rules: sums over members, ratios, one series, an old name with its mean.
const char* const rules[] = {"rapl_power_watts",
                             "rapl_tdp_utilization_ratio",
                             "os_cpu_utilization_ratio",
                             "os_memory_available_bytes",
                             "os_load1",
                             "rapl_headroom_ratio",
                             "rapl_power_watts_0",
                             "os_network_receive_bytes_per_second",
                             "os_pressure_waiting_ratio",
                             "rapl_energy_joules_total"};

/// All nodes with their catalogs, and one batch each that changes every value.
struct nodes {
  explicit nodes(bool alike = true) {
    for (std::uint32_t i = 0; i < fleet; ++i) {
      wire::test::noisy_node machine(i);
      wire::catalog c = machine.announces();
      if (!alike) c.series.back().labels = {{"serial", std::to_string(i)}};
      const store::node_id id = store.node("node-" + std::to_string(i)).value();
      (void)store.set_catalog(id, c, instant(1h));
      wire::batch b = machine.tick(to_ns(instant(1h)), true);
      b.catalog_version = c.version;
      batches.push_back(std::move(b));
    }
  }
  store::warehouse store;
  std::vector<wire::batch> batches;
};

void apply_all(benchmark::State& state, nodes& n) {
  std::size_t next = 0;
  instant now = instant(1h);
  std::size_t samples = 0;
  for (auto _ : state) {
    wire::batch& b = n.batches[next];
    if (++next == fleet) {
      next = 0;
      now += 1s;
    }
    for (auto& read : b.reads) read.read_at_ns = to_ns(now);
    b.full = false;
    benchmark::DoNotOptimize(n.store.apply(
        store::node_id{static_cast<std::uint32_t>(next == 0 ? fleet - 1 : next - 1)}, b, 0s, now));
    samples += b.values.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(samples));
}

/// range(0): columns in use; range(1): their window in seconds.
void BM_store_apply(benchmark::State& state) {
  nodes n;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    n.store.watch({rules[i], std::chrono::seconds(state.range(1))}, instant(1h));
  apply_all(state, n);
}
BENCHMARK(BM_store_apply)
    ->Args({0, 0})
    ->Args({1, 0})
    ->Args({10, 0})
    ->Args({10, 30})
    ->ArgNames({"columns", "window"});

void BM_store_apply_statistic(benchmark::State& state) {
  nodes n;
  const auto stat = static_cast<store::statistic>(state.range(0));
  n.store.watch({"rapl_power_watts", 60s, stat}, instant(1h));
  // A minute of history, so that the windows are full.
  for (int s = 0; s < 60; ++s) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      for (auto& read : n.batches[i].reads) read.read_at_ns = to_ns(instant(1h) + std::chrono::seconds(s));
      (void)n.store.apply(store::node_id{i}, n.batches[i], 0s, instant(1h) + std::chrono::seconds(s));
    }
  }
  std::uint32_t next = 0;
  instant now = instant(1h) + 60s;
  for (auto _ : state) {
    wire::batch& b = n.batches[next];
    for (auto& read : b.reads) read.read_at_ns = to_ns(now);
    benchmark::DoNotOptimize(n.store.apply(store::node_id{next}, b, 0s, now));
    if (++next == 100) {
      next = 0;
      now += 1s;
    }
  }
}
BENCHMARK(BM_store_apply_statistic)->DenseRange(0, 5)->ArgName("statistic");

void BM_store_set_catalog(benchmark::State& state) {
  nodes n;
  wire::catalog c = wire::test::noisy_node(1).announces();
  std::uint32_t next = 0;
  for (auto _ : state) {
    next = next + 1 == fleet ? 0 : next + 1;
    benchmark::DoNotOptimize(n.store.set_catalog(store::node_id{next}, c, instant(1h)));
  }
}
BENCHMARK(BM_store_set_catalog);

/// A node with series of its own and 2,000 series of pods. Each time one pod with its eleven series is
/// replaced by another. range(0): 0: the catalog is prepared beside the loop; 1: it is taken on the loop.
wire::catalog with_pods(int first_pod) {
  wire::catalog c = wire::test::noisy_node(1).announces();
  const auto group = static_cast<std::uint16_t>(c.groups.size());
  c.groups.push_back({"pmu", "pods", 1000, 10'000});
  for (int pod = first_pod; pod < first_pod + 182; ++pod) {
    for (int metric = 0; metric < 11; ++metric) {
      wire::series_info s;
      s.family = "pmu_pod_metric_" + std::to_string(metric) + "_per_second";
      s.labels = {{"pod_uid", "6a7b8c9d-0000-4000-8000-" + std::to_string(100'000'000'000 + pod)}};
      s.group = group;
      c.series.push_back(std::move(s));
    }
  }
  return c;
}

void BM_store_pod_change(benchmark::State& state) {
  store::warehouse w;
  const store::node_id id = w.node("node").value();
  (void)w.set_catalog(id, with_pods(0), instant(1h));
  int first = 0;
  for (auto _ : state) {
    state.PauseTiming();
    wire::catalog next = with_pods(++first);
    const auto prepare = w.preparation(id);
    if (state.range(0) == 0) state.ResumeTiming();
    store::prepared_catalog ready = prepare(std::move(next));
    if (state.range(0) == 0) state.PauseTiming();
    if (state.range(0) == 1) state.ResumeTiming();
    benchmark::DoNotOptimize(w.set_catalog(id, std::move(ready), instant(1h)));
    if (state.range(0) == 0) state.ResumeTiming();
  }
}
BENCHMARK(BM_store_pod_change)->DenseRange(0, 1)->ArgName("on_the_loop");

/// The same for a catalog of 10,000 foreign series, which an agent announces again and again with other
/// labels. Nothing that an agent may do costs more.
void BM_store_largest_catalog(benchmark::State& state) {
  store::warehouse w;
  const store::node_id id = w.node("node").value();
  int round = 0;
  const auto announce = [&round] {
    wire::catalog c{.version = 1};
    c.groups.push_back({"scrape", "", 1000, 10'000});
    ++round;
    for (int i = 0; i < 10'000; ++i) {
      wire::series_info s;
      s.family = "exporter_metric_" + std::to_string(i % 500);
      s.labels = {{"instance", std::to_string(i)}, {"round", std::to_string(round)}};
      c.series.push_back(std::move(s));
    }
    return c;
  };
  (void)w.set_catalog(id, announce(), instant(1h));
  for (auto _ : state) {
    state.PauseTiming();
    wire::catalog next = announce();
    const auto prepare = w.preparation(id);
    if (state.range(0) == 0) state.ResumeTiming();
    store::prepared_catalog ready = prepare(std::move(next));
    if (state.range(0) == 0) state.PauseTiming();
    if (state.range(0) == 1) state.ResumeTiming();
    benchmark::DoNotOptimize(w.set_catalog(id, std::move(ready), instant(1h)));
    if (state.range(0) == 0) state.ResumeTiming();
  }
}
BENCHMARK(BM_store_largest_catalog)->DenseRange(0, 1)->ArgName("on_the_loop");

/// What a reader pays: the extender reads a column for 5,000 candidates.
void BM_store_read_column(benchmark::State& state) {
  nodes n;
  const auto column = n.store.watch({"rapl_power_watts"}, instant(1h)).values;
  for (std::uint32_t i = 0; i < fleet; ++i)
    (void)n.store.apply(store::node_id{i}, n.batches[i], 0s, instant(1h));
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < fleet; ++i) benchmark::DoNotOptimize(column->load(store::node_id{i}));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * fleet));
}
BENCHMARK(BM_store_read_column);

/// Bytes on the heap for 5,000 nodes with one minute's windows on ten columns. range(0): 0: all nodes have
/// the same catalog; 1: each has its own.
void BM_store_memory(benchmark::State& state) {
  for (auto _ : state) {
    const auto heap = [] {
      const auto m = mallinfo2();
      return static_cast<double>(m.uordblks + m.hblkhd);
    };
    const double before = heap();
    nodes n(state.range(0) == 0);
    n.batches = {};
    const double rows = heap();
    for (const char* rule : rules) n.store.watch({rule, 60s}, instant(1h));
    wire::test::noisy_node machine(1);
    for (int s = 0; s < 60; ++s) {
      wire::batch b = machine.tick(to_ns(instant(1h) + std::chrono::seconds(s)), false);
      b.catalog_version = 1;
      for (std::uint32_t i = 0; i < fleet; ++i)
        (void)n.store.apply(store::node_id{i}, b, 0s, instant(1h) + std::chrono::seconds(s));
    }
    state.counters["rows_MB"] = (rows - before) / 1e6;
    state.counters["with_windows_MB"] = (heap() - before) / 1e6;
  }
}
BENCHMARK(BM_store_memory)->DenseRange(0, 1)->Iterations(1)->ArgName("own_catalog");

}  // namespace

}  // namespace bench_store
