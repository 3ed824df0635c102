// What our HTTP server costs by itself: the bytes of a filter call (170 kB in, 230 kB out, as with 5,000
// names) over keep-alive TLS, without parsing or deciding. And how much a body of 63 MB from one caller
// delays another caller.
#include "common/system/process_cost.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/served.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace bench_http {

namespace {

using namespace binnacle;
using support::https_client;
using support::served;
using clock_type = std::chrono::steady_clock;

/// Looks at every byte of a body, as a parser would, and keeps none.
class summing final : public http::exchange {
 public:
  explicit summing(std::size_t answer_bytes) : answer_bytes_(answer_bytes) {}
  bool consume(std::string_view piece) override {
    for (const char c : piece) sum_ += static_cast<unsigned char>(c);
    return true;
  }
  void finish(http::reply answer) override {
    benchmark::DoNotOptimize(sum_);
    answer(http::response::json(std::string(answer_bytes_, 'x')));
  }

 private:
  std::size_t answer_bytes_;
  std::uint64_t sum_ = 0;
};

http::router routes() {
  http::router r;
  r.add_streaming(
      "POST", "/filter", [](const http::request&) { return std::make_unique<summing>(230'000); }, 1u << 20);
  r.add_streaming(
      "POST", "/nodes", [](const http::request&) { return std::make_unique<summing>(100); }, 1u << 30);
  r.add("GET", "/small", [](const http::request&, std::string_view) { return http::response::text("ok"); });
  return r;
}

struct setup {
  explicit setup(bool tls) {
    http::server_options o;
    if (tls) {
      tls::options t;
      t.side = tls::role::server;
      t.pem = ca.issue_server();
      t.clients = tls::client_certificate::required;
      o.tls = tls::context::load(t).value();
      support::wanted who;
      who.common_name = "scheduler";
      client_files = ca.issue("client", who);
    }
    server = std::make_unique<served>(routes(), o);
  }
  https_client client() const {
    https_client::options o;
    o.port = server->port();
    o.pem = client_files;
    return https_client(o);
  }
  /// CPU time of the server's thread, in seconds.
  double cpu() const {
    duration used{};
    server->on_loop([&] { used = own_thread_time(); });
    return std::chrono::duration<double>(used).count();
  }

  support::temp_folder dir;
  support::authority ca{dir, "ca"};
  tls::files client_files;
  std::unique_ptr<served> server;
};

double at(std::vector<double>& sorted, double share) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

void BM_http_filter_sized(benchmark::State& state) {
  const setup s(state.range(0) == 1);
  auto client = s.client();
  const std::string body(170'000, 'n');
  std::vector<double> took;
  const double before = s.cpu();
  for (auto _ : state) {
    const auto start = clock_type::now();
    if (client.post("/filter", body).body.size() != 230'000) state.SkipWithError("wrong answer");
    took.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
  }
  state.counters["server_cpu_us"] = (s.cpu() - before) * 1e6 / static_cast<double>(took.size());
  state.counters["p50_us"] = at(took, 0.5);
  state.counters["p99_us"] = at(took, 0.99);
}
BENCHMARK(BM_http_filter_sized)->ArgName("tls")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond)->MinTime(2);

void BM_http_small(benchmark::State& state) {
  const setup s(state.range(0) == 1);
  auto client = s.client();
  const double before = s.cpu();
  std::size_t n = 0;
  for (auto _ : state) n += client.get("/small").status == 200 ? 1 : 0;
  state.counters["server_cpu_us"] = (s.cpu() - before) * 1e6 / static_cast<double>(n);
}
BENCHMARK(BM_http_small)->ArgName("tls")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void BM_http_small_beside_63MB(benchmark::State& state) {
  const setup s(true);
  std::atomic<bool> stop{false};
  std::atomic<int> uploads{0};
  std::thread uploader([&] {
    auto big = s.client();
    const std::string body(63'000'000, 'n');
    while (!stop) uploads += big.post("/nodes", body).status == 200 ? 1 : 0;
  });
  auto client = s.client();
  std::vector<double> took;
  for (auto _ : state) {
    const auto start = clock_type::now();
    benchmark::DoNotOptimize(client.get("/small").status);
    took.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());
  }
  stop = true;
  uploader.join();
  state.counters["p50_us"] = at(took, 0.5);
  state.counters["p99_us"] = at(took, 0.99);
  state.counters["max_us"] = at(took, 1.0);
  state.counters["uploads"] = uploads.load();
}
BENCHMARK(BM_http_small_beside_63MB)->Unit(benchmark::kMicrosecond)->MinTime(3)->UseRealTime();

}  // namespace

}  // namespace bench_http
