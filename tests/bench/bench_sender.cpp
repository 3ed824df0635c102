// What a round of remote write and of OTLP costs the sender's thread: 200,000 readings of 5,000 nodes are
// found, encoded and compressed. And the cost of a round in which nothing is new.
#include "aggregator/sender/otlp_request.hpp"
#include "aggregator/sender/write_request.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

namespace bench_sender {

namespace {

using namespace binnacle;
using namespace binnacle::sender;

constexpr int nodes = 5'000, series = 40;

fleet fleet_of() {
  auto c = store::catalog_builder().group("os", 3'600'000);
  for (int i = 0; i < series; ++i)
    c.series("os_network_receive_bytes_total", {{"interface", fmt::format("eth{}", i)}, {"direction", "in"}},
             0);
  const auto shape = std::make_shared<const store::shape>(store::make_shape(c, {}).value().what);
  fleet out;
  for (int n = 0; n < nodes; ++n) {
    auto row = std::make_shared<store::row>(shape);
    for (int i = 0; i < series; ++i)
      row->set_value(static_cast<std::size_t>(i), 1'000'003LL * n + 7919LL * i);
    out.push_back({fmt::format("node-{:05}", n), row});
  }
  return out;
}

template <class Request>
void BM_round(benchmark::State& state) {
  const bool all_new = state.range(0) != 0;
  auto all = fleet_of();
  std::vector<std::shared_ptr<store::row>> rows;
  for (const auto& n : all) rows.push_back(std::const_pointer_cast<store::row>(n.cells));
  cursor unsaid({});
  unsaid.begin({});
  std::int64_t at = 1;
  // The first round finds everything new, in each of the benchmarks.
  for (const auto& r : rows) r->set_read(0, store::at_s(1));
  unsaid.take(all, store::at_s(1), [](const point&) {});
  std::size_t bytes = 0, samples = 0;
  for (auto _ : state) {
    state.PauseTiming();
    ++at;
    for (const auto& r : rows) r->set_read(0, store::at_s(all_new ? static_cast<double>(at) : 1));
    state.ResumeTiming();
    Request request({.cluster = "west", .replica = ""});
    const auto close = [&] {
      samples += request.samples();
      bytes += request.take().size();
    };
    unsaid.take(all, store::at_s(static_cast<double>(at)), [&](const point& p) {
      request.add(p, at * 1'000'000'000);
      if (request.samples() == 5'000) close();
    });
    if (request.samples() != 0) close();
  }
  state.counters["bytes_a_sample"] =
      samples == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(samples);
}
BENCHMARK_TEMPLATE(BM_round, write_request)->ArgName("new")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(BM_round, otlp_request)->ArgName("new")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace bench_sender
