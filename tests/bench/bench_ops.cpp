// BM_ops_*: what a dashboard's requests, and a list of the custom metrics API, cost the faces loop at 5,000
// nodes, without HTTP and TLS. `slice_us` is the longest slice: a scheduler's call may have to wait for so
// long.
//   build/tests/bench/binnacle-bench --benchmark_filter=BM_ops
#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/ops/lists.hpp"
#include "aggregator/ops/node_labels.hpp"
#include "aggregator/ops/summary_json.hpp"
#include "common/http/target.hpp"
#include "tests/aggregator/ops/house.hpp"

#include <benchmark/benchmark.h>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace bench_ops {

namespace {

using namespace binnacle;

constexpr std::uint32_t fleet_size = 5000;
constexpr std::size_t most_names = 20;

/// 5,000 nodes of two packages, all connected, a third of which violate the one policy.
struct fleet : ops::house {
  fleet() {
    for (std::uint32_t i = static_cast<std::uint32_t>(nodes.nodes().size()); i < fleet_size; ++i) {
      const auto row = add(fmt::format("worker-{:04}.rack-{:02}.example", i, i % 40), store::two_packages());
      for (std::uint32_t k = 0; k < 12; ++k) row->set_value(k, 400 + (i * 7 + k) % 300);
      row->set_read(0, store::at_s(100.8));
      row->set_last_batch(store::at_s(100.9));
      if (i % 3 == 0) verdicts->store(store::node_id{i}, {policy::state::violating, true});
    }
    for (const auto& [name, node] : nodes.nodes()) labels.emplace(name, labels_for(node->id));
  }

  /// Thirty labels, as nodes of a cloud have them: each node has its own name, there are forty racks and
  /// three zones, and the other labels are the same everywhere.
  static kube::packed_labels labels_for(store::node_id id) {
    const std::uint32_t i = store::index(id);
    boost::json::object all{{"kubernetes.io/hostname", fmt::format("worker-{}", i)},
                            {"example.com/rack", fmt::format("rack-{}", i % 40)},
                            {"topology.kubernetes.io/zone", fmt::format("zone-{}", i % 3)}};
    for (int k = 0; k < 27; ++k)
      all.emplace(fmt::format("feature.node.kubernetes.io/cpu-feature-{}", k), "true");
    return kube::packed_labels(&all);
  }

  ops::label_reader reader() const {
    return [this](std::string_view node, const ops::each_label& each) {
      if (const auto at = labels.find(node); at != labels.end()) at->second.each(each);
    };
  }

  std::map<std::string, kube::packed_labels, std::less<>> labels;
};

fleet& world() {
  static fleet f;
  return f;
}

/// Runs the work that `make` returns slice by slice to the end. Each run has a longest slice; the shortest of
/// these is kept, since the others were interrupted.
template <class Make>
void run(benchmark::State& state, Make&& make) {
  using clock = std::chrono::steady_clock;
  world();  // made before the clock runs
  double least = 1e9;
  std::size_t bytes = 0;
  for (auto _ : state) {
    double longest = 0;
    const std::unique_ptr<http::slices> work = make();
    for (bool more = true; more;) {
      const auto begin = clock::now();
      more = work->step();
      longest = std::max(longest, std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    }
    const auto begin = clock::now();
    const http::response answer = work->take();
    longest = std::max(longest, std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    least = std::min(least, longest);
    bytes = 0;
    for (const auto& piece : answer.body) bytes += piece.size();
  }
  state.counters["slice_us"] = least;
  state.counters["bytes"] = static_cast<double>(bytes);
}

void BM_ops_nodes(benchmark::State& state) {
  run(state, [] {
    ops::fleet_query q;
    q.metrics = {{"rapl_power_watts", world().ask("rapl_power_watts", {})},
                 {"os_cpus", world().ask("os_cpus", {})}};
    q.now = ops::now;
    return ops::fleet_json(world().nodes, std::move(q));
  });
}
void BM_ops_status(benchmark::State& state) {
  run(state, [] { return ops::status_json(world().nodes, {}, {}, {}, ops::now, ""); });
}
void BM_ops_policies(benchmark::State& state) {
  run(state, [] { return ops::policy_list(world().nodes, {}, most_names); });
}
void BM_ops_nodelabels_keys(benchmark::State& state) {
  run(state, [] { return ops::label_keys(world().nodes, world().reader()); });
}
void BM_ops_nodelabels_rack(benchmark::State& state) {
  run(state, [] { return ops::label_values(world().nodes, world().reader(), "example.com/rack"); });
}
/// The page /metrics with one policy. 5: no node is in the state that five are said to be in, so all are
/// looked at.
void BM_ops_own_metrics(benchmark::State& state) {
  policy::strategy_status said{.policy = {"default", "power"}};
  said.violating = fleet_size / 3;
  said.missing = static_cast<std::uint32_t>(state.range(0));
  run(state, [&] { return ops::own_exposition({}, world().nodes, {said}); });
}

/// All nodes' values of one metric. 1: with a selector of series as long as one may be, which the answer
/// repeats with each item.
void BM_ops_custom_metrics(benchmark::State& state) {
  custom_metrics::face_sources sources;
  sources.ask = world().ask;
  sources.now = [] { return ops::now; };
  sources.identity_required = false;
  custom_metrics::face face(world().nodes, std::move(sources));
  std::string target = "/apis/custom.metrics.k8s.io/v1beta1/nodes/*/rapl_power_watts";
  for (std::int64_t i = 0; i < 32 * state.range(0); ++i)
    target += fmt::format("{}package-{}+notin+(x)", i == 0 ? "?metricLabelSelector=" : ",", i);
  http::request asked;
  asked.method = "GET";
  (void)http::parse_target(target, asked);
  run(state, [&] { return face.answer(asked); });
}

BENCHMARK(BM_ops_nodes)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ops_status)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ops_policies)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ops_nodelabels_keys)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ops_nodelabels_rack)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ops_custom_metrics)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ops_own_metrics)->Arg(0)->Arg(5)->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace bench_ops
