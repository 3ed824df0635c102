// What a new catalog costs: on the ingest loop, where every agent waits for it, and on the thread beside
// the loop.
#include "aggregator/core/core.hpp"
#include "common/system/process_cost.hpp"
#include "common/wire/agent_session.hpp"
#include "common/wire/aggregator_session.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace bench_catalog {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

template <class T>
T must(wire::outcome<T> o) {
  if (o.has_value()) return std::move(*o);
  std::cerr << o.error().message << '\n';
  std::exit(1);
}
void must(const wire::outcome<void>& o) {
  if (o.has_value()) return;
  std::cerr << o.error().message << '\n';
  std::exit(1);
}

/// 10,000 series, the most that a node may have. Each announcement has other labels.
wire::catalog largest(int round) {
  wire::catalog c;
  c.version = static_cast<std::uint32_t>(round);
  c.groups.push_back({"os", "", 1000, 10'000});
  for (int i = 0; i < 10'000; ++i) {
    wire::series_info s;
    s.family = "os_hugepages_total_bytes";
    s.labels = {{"size", fmt::format("{:032}-{:016}-{:08}", i * 7919, round, i)}};
    c.series.push_back(std::move(s));
  }
  return c;
}

/// 40 series of the machine and 2,000 series of 182 pods. Each time one pod is replaced.
wire::catalog with_pods(int round) {
  wire::catalog c;
  c.version = static_cast<std::uint32_t>(round);
  c.groups.push_back({"os", "", 1000, 10'000});
  c.groups.push_back({"pmu", "pods", 1000, 10'000});
  for (int i = 0; i < 40; ++i) c.series.push_back({fmt::format("exporter_metric_{}", i), {}});
  for (int pod = round; pod < round + 182; ++pod) {
    for (int metric = 0; metric < 11; ++metric) {
      wire::series_info s;
      s.family = fmt::format("pmu_pod_metric_{}_per_second", metric);
      s.labels = {{"pod_uid", fmt::format("6a7b8c9d-0000-4000-8000-{:012}", pod)}};
      s.group = 1;
      c.series.push_back(std::move(s));
    }
  }
  return c;
}

/// 10,000 series of 32 labels. Every second one is the counter of another and has its labels in the other
/// order.
wire::catalog in_other_order(int round) {
  wire::catalog c;
  c.version = static_cast<std::uint32_t>(round);
  c.groups.push_back({"rapl", fmt::format("{}", round), 1000, 10'000});
  metrics::label_set more;
  for (int i = 0; i < 30; ++i) more.emplace_back(fmt::format("label_{:040}", i), "v");
  for (int i = 0; i < 10'000; ++i) {
    const bool counter = i >= 5'000;
    wire::series_info s;
    s.family = counter ? "rapl_energy_joules_total" : "rapl_power_watts";
    s.labels = {{"package", fmt::format("{}", i % 5'000)}};
    if (counter) {
      s.labels.emplace_back("zone", "package");
      s.labels.insert(s.labels.end(), more.rbegin(), more.rend());
    } else {
      s.labels.insert(s.labels.end(), more.begin(), more.end());
    }
    c.series.push_back(std::move(s));
  }
  return c;
}

/// An agent and its session at an aggregator, which keeps columns for this many windows of one metric.
struct link {
  link(std::string_view metric, int columns)
      : core({}, std::make_shared<const metrics::alias_table>(), [](const aggregator::change&) {}) {
    for (int i = 0; i < columns; ++i)
      core.watch({std::string(metric), i == 0 ? duration{} : std::chrono::seconds(i)}, now);
    wire::hello h;
    h.node = "node-1";
    h.boot_id = "boot";
    must(agent.start(h, now));
    carry();
    (void)session.next(now);
    session.accept({}, now);
    wire::bytes answer;
    session.take_output(answer);
    agent.feed(answer);
    while (agent.next(now) != wire::agent_session::event::nothing) {
    }
    node = core.node("node-1").value();
  }
  void carry() {
    wire::bytes sent;
    agent.take_output(sent);
    session.feed(sent);
  }

  instant now{1h};
  aggregator::core core;
  wire::agent_session agent{{}};
  wire::aggregator_session session{{}, now};
  store::node_id node{};
};

/// CPU time that this thread spends on each step of taking a catalog, and on the batch after it.
struct steps {
  duration frame{}, open{}, prepare{}, take{}, batch{};
  void operator+=(const steps& s) {
    frame += s.frame;
    open += s.open;
    prepare += s.prepare;
    take += s.take;
    batch += s.batch;
  }
};

template <class Work>
duration timed(Work work) {
  const duration before = own_thread_time();
  work();
  return own_thread_time() - before;
}

steps announce(link& l, const wire::catalog& c) {
  steps out;
  l.now += 1s;
  must(l.agent.send(c, l.now));
  wire::bytes sent;
  l.agent.take_output(sent);
  wire::sealed_catalog sealed;
  out.frame = timed([&] {
    l.session.feed(sent);
    // The agent's answer about its clock may come first.
    while (l.session.next(l.now) != wire::aggregator_session::event::catalog) {
    }
    sealed = l.session.take_catalog();
  });
  wire::sealed_catalog::opened opened;
  out.open = timed([&] { opened = std::exchange(sealed, {}).open(); });
  const auto outline = opened.outline();
  const auto prepare = l.core.store().preparation(l.node);
  std::optional<store::prepared_catalog> ready;
  wire::catalog what = must(std::move(opened.what));
  out.prepare = timed([&] { ready = prepare(std::move(what)); });
  out.take = timed([&] {
    l.session.adopt(outline, opened.left_out, l.now);
    if (l.core.catalog(l.node, std::move(*ready), l.now).has_error()) std::exit(1);
    ready.reset();
  });

  wire::batch all{.full = true};
  for (std::uint16_t g = 0; g < c.groups.size(); ++g) all.reads.push_back({g, to_ns(l.now)});
  for (std::uint32_t i = 0; i < c.series.size(); ++i) all.values.push_back({i, 100 + i});
  must(l.agent.send(all, l.now));
  l.agent.take_output(sent);
  out.batch = timed([&] {
    l.session.feed(sent);
    while (l.session.next(l.now) != wire::aggregator_session::event::batch) {
    }
    if (l.core.batch(l.node, l.session.last_batch(), duration{}, l.now).has_error()) std::exit(1);
  });
  return out;
}

/// The measured time is that of the loop. range(0): how many columns in use read all of these series, or 0.
void measure(benchmark::State& state, const char* metric, wire::catalog (*catalog)(int)) {
  link l(metric, static_cast<int>(state.range(0)));
  steps sum;
  int round = 1;
  (void)announce(l, catalog(round));
  for (auto _ : state) {
    const steps one = announce(l, catalog(++round));
    sum += one;
    state.SetIterationTime(std::chrono::duration<double>(one.frame + one.take + one.batch).count());
  }
  const auto us = [&](duration d) {
    return benchmark::Counter(std::chrono::duration<double, std::micro>(d).count(),
                              benchmark::Counter::kAvgIterations);
  };
  state.counters["frame_us"] = us(sum.frame);
  state.counters["beside_open_us"] = us(sum.open);
  state.counters["beside_prepare_us"] = us(sum.prepare);
  state.counters["take_us"] = us(sum.take);
  state.counters["batch_us"] = us(sum.batch);
}

void BM_catalog_largest(benchmark::State& state) { measure(state, "os_hugepages_total_bytes", largest); }
BENCHMARK(BM_catalog_largest)->Arg(0)->Arg(1)->Arg(20)->ArgName("columns")->UseManualTime();

void BM_catalog_other_order(benchmark::State& state) { measure(state, "rapl_power_watts", in_other_order); }
BENCHMARK(BM_catalog_other_order)->Arg(0)->Arg(1)->ArgName("columns")->UseManualTime();

void BM_catalog_pod_change(benchmark::State& state) { measure(state, "exporter_metric_1", with_pods); }
BENCHMARK(BM_catalog_pod_change)->Arg(0)->Arg(20)->ArgName("columns")->UseManualTime();

}  // namespace

}  // namespace bench_catalog
