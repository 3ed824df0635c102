// What a batch of 40 noisy series costs on either side of the wire, without TLS and sockets.
#include "common/wire/agent_session.hpp"
#include "common/wire/aggregator_session.hpp"
#include "tests/common/wire/noisy_node.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

namespace bench_wire {

namespace {

using namespace binnacle;
using namespace binnacle::wire;

constexpr int batches = 1'000;
constexpr std::int64_t second = 1'000'000'000;

template <class T>
void must(const outcome<T>& done) {
  if (done.has_error()) std::abort();
}

hello greeting() {
  hello h;
  h.node = "node-1";
  h.boot_id = "boot";
  return h;
}

/// What an agent sends in a thousand seconds: hello, catalog, a full batch and the differences.
struct conversation {
  conversation() {
    test::noisy_node node(7);
    series = node.announces().series.size();
    agent_session agent{agent_session::settings{}};
    aggregator_session aggregator{aggregator_session::settings{}, instant()};
    must(agent.start(greeting(), instant()));
    agent.take_output(opening);
    aggregator.feed(opening);
    (void)aggregator.next(instant());
    aggregator.accept({}, instant());
    bytes answer;
    aggregator.take_output(answer);
    agent.feed(answer);
    (void)agent.next(instant());
    must(agent.send(node.announces(), instant()));
    for (int i = 0; i < batches; ++i) {
      batch b = node.tick((100 + i) * second, i == 0);
      must(agent.send(b, from_ns(b.sent_at_ns)));
    }
    agent.take_output(stream);
  }
  std::size_t series;
  bytes opening, stream;
};

void figures(benchmark::State& state, std::size_t done, std::size_t series, std::size_t stream_bytes) {
  using benchmark::Counter;
  state.counters["s/batch"] = Counter(static_cast<double>(done), Counter::kIsRate | Counter::kInvert);
  state.counters["samples/s"] = Counter(static_cast<double>(done * series), Counter::kIsRate);
  state.counters["bytes/sample"] = static_cast<double>(stream_bytes) / batches / static_cast<double>(series);
}

void BM_wire_receive(benchmark::State& state) {
  const conversation said;
  const auto piece = static_cast<std::size_t>(state.range(0));  // bytes a read gives
  std::size_t done = 0;
  for (auto _ : state) {
    aggregator_session session{aggregator_session::settings{}, instant()};
    session.feed(said.opening);
    (void)session.next(instant());
    session.accept({}, instant());
    for (std::size_t at = 0; at < said.stream.size(); at += piece) {
      session.feed({said.stream.data() + at, std::min(piece, said.stream.size() - at)});
      for (auto e = session.next(instant()); e != aggregator_session::event::nothing;
           e = session.next(instant())) {
        if (e == aggregator_session::event::ended) std::abort();
        if (e == aggregator_session::event::batch) ++done;
      }
    }
  }
  figures(state, done, said.series, said.stream.size());
}
// Each read() brings one batch (a node that sends once a second), or many of them (a backlog).
BENCHMARK(BM_wire_receive)->Arg(134)->Arg(16'384);

void BM_wire_send(benchmark::State& state) {
  test::noisy_node node(7);
  std::vector<batch> ticks;
  for (int i = 0; i < batches; ++i) ticks.push_back(node.tick((100 + i) * second, i == 0));
  std::size_t done = 0, total = 0;
  bytes out;
  for (auto _ : state) {
    batch_encoder encoder;
    encoder.reset(node.announces());
    total = 0;
    for (batch& b : ticks) {
      out.clear();
      must(encoder.append(out, b));
      total += out.size();
      ++done;
    }
  }
  figures(state, done, node.announces().series.size(), total);
}
BENCHMARK(BM_wire_send);

void BM_wire_catalog(benchmark::State& state) {
  test::noisy_node node(7);
  scratch space;
  omissions left_out;
  for (auto _ : state) {
    bytes out;
    must(append(out, node.announces()));
    frame_reader reader;
    reader.feed(out);
    const auto frame = reader.next();
    benchmark::DoNotOptimize(decode(frame.value().value(), space, left_out));
  }
}
BENCHMARK(BM_wire_catalog);

}  // namespace

}  // namespace bench_wire
