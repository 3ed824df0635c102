// BM_extender_*: what the extender adds to a call (parse, look-up, decision record, reply), without HTTP and
// TLS. BM_extender_tls_*: whole calls over one keep-alive TLS connection on loopback, with server and client
// on a thread each; p50 and p99 are those of single calls.
//   build/tests/bench/binnacle-bench --benchmark_filter=BM_extender --benchmark_min_time=1
#include "aggregator/policy/power_terms.hpp"
#include "common/system/process_cost.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/served.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace bench_extender {

namespace {

using namespace binnacle;

constexpr int fleet_size = 5000;

std::string name(int i) { return fmt::format("worker-{:04}.rack-{:02}.example", i, i % 40); }

/// The same nodes for minimizepower: five kinds of servers of 64 cores, each node with its own curve and a
/// random load.
void watch_watts(test::fleet& f) {
  std::mt19937 random(3);
  for (int i = 0; i < fleet_size; ++i) {
    std::vector<double> watts{80.0 + static_cast<double>(random() % 20)};
    for (int k = 1; k <= 10; ++k)
      watts.push_back(watts.back() + (k == 1 ? 60 : 8 + i % 5 * k) + static_cast<double>(random() % 5));
    predict::model m{predict::curve::through(watts, 64).value()};
    m.covered = 0.5;
    m.made = f.now;
    const auto known = std::make_shared<const predict::model>(std::move(m));
    f.data.models().set(store::index(f.node(name(i))), known);
    // Every other node also has a model server's curve, for policies with the CPU format Raw.
    if (i % 2 == 0) f.data.served(policy::cpu_format::raw).set(store::index(f.node(name(i))), known);
    f.value(name(i), std::string(policy::load_metric), {static_cast<std::int64_t>(random() % 9000), -4},
            std::chrono::milliseconds(random() % 1000));
  }
  for (const auto& [called, told] : {std::pair("watts", policy::cpu_format::percent),
                                     std::pair("served-watts", policy::cpu_format::raw)}) {
    policy::policy p;
    p.key = {"default", called};
    p.revision = 2;
    policy::strategy s;
    s.kind = policy::strategy_kind::minimizepower;
    s.rules = policy::power_rules();
    s.power.format = told;
    p.strategies.push_back(std::move(s));
    f.publish(std::move(p));
  }
}

/// 5,000 nodes at 50..70 W and 20..40 °C, a policy of two rules that refuses every tenth of them.
test::fleet& fleet() {
  static test::fleet f;
  if (!f.data.nodes().empty()) return f;
  std::mt19937 random(1);
  for (int i = 0; i < fleet_size; ++i) f.node(name(i));
  auto age = [&] { return std::chrono::milliseconds(random() % 1000); };
  for (int i = 0; i < fleet_size; ++i) {
    f.value(name(i), "rapl_power_watts",
            {static_cast<std::int64_t>(i % 10 == 0 ? 700 : 500 + random() % 100), -1}, age());
    f.value(name(i), "host_inlet_temperature_celsius", {static_cast<std::int64_t>(200 + random() % 200), -1},
            age());
  }
  policy::policy p;
  p.key = {"default", "power"};
  p.revision = 1;
  p.strategies.push_back(test::fleet::dontschedule(
      {test::fleet::rule("rapl_power_watts", policy::comparison::greater_than, 60),
       test::fleet::rule("host_inlet_temperature_celsius", policy::comparison::greater_than, 45)}));
  p.strategies.push_back(
      test::fleet::scheduleonmetric(test::fleet::rule("rapl_power_watts", policy::comparison::less_than, 0)));
  f.publish(std::move(p));
  watch_watts(f);
  return f;
}

/// A shuffled share of the nodes, as kube-scheduler samples them.
std::vector<std::string> candidates(std::size_t n) {
  std::vector<std::string> out;
  for (int i = 0; i < fleet_size; ++i) out.push_back(name(i));
  std::shuffle(out.begin(), out.end(), std::mt19937(2));
  out.resize(n);
  return out;
}

/// Ends the benchmark with an error if the answer is wrong.
void check(benchmark::State& state, unsigned status, const std::string& body, std::string_view part) {
  if (status != 200 || body.find(part) == std::string::npos) state.SkipWithError("wrong answer");
}

enum class call { filter, prioritize };

void run(benchmark::State& state, const std::string& body, call what, std::string_view part) {
  test::fleet& f = fleet();
  constexpr std::size_t piece = 16384;  // a TLS record
  http::response last;
  for (auto _ : state) {
    auto exchange =
        f.face().begin(what == call::filter ? decision::verb::filter : decision::verb::prioritize, f.request);
    for (std::size_t at = 0; at < body.size(); at += piece)
      exchange->consume(std::string_view(body).substr(at, piece));
    exchange->finish([&](http::response r) { last = std::move(r); });
  }
  std::string all;
  for (const auto& text : last.body) all += text;
  check(state, last.status, all, part);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * body.size()));
}

void run_tls(benchmark::State& state, const std::string& body, call what, std::string_view part) {
  using clock = std::chrono::steady_clock;
  const support::temp_folder dir;
  support::authority ca(dir, "bench");
  http::server_options options;
  tls::options secured;
  secured.side = tls::role::server;
  secured.pem = ca.issue_server();
  options.tls = tls::context::load(secured).value();
  http::router routes;
  fleet().face().routes(routes);
  support::served server(std::move(routes), options);
  support::https_client::options to;
  to.port = server.port();
  to.pem = ca.issue("client", {.common_name = "kube-scheduler"});
  support::https_client client(to);
  const std::string target = what == call::filter ? "/scheduler/filter" : "/scheduler/prioritize";
  std::vector<double> took;
  support::https_client::answer last;
  for (auto _ : state) {
    const auto begin = clock::now();
    last = client.post(target, body, {{"Content-Type", "application/json"}});
    took.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
  }
  check(state, last.status, last.body, part);
  std::sort(took.begin(), took.end());
  state.counters["p50_ms"] = took[took.size() / 2];
  state.counters["p99_ms"] = took[took.size() * 99 / 100];
  state.counters["in_bytes"] = static_cast<double>(body.size());
  state.counters["out_bytes"] = static_cast<double>(last.body.size());
}

/// `cpu`: what the pod requests; empty: nothing.
std::string names_body(const benchmark::State& state, const std::string& policy = "power",
                       const std::string& cpu = "") {
  std::string pod = test::pod_json("web-1", policy);
  const std::string limits = R"("limits":{)";
  if (!cpu.empty()) pod.insert(pod.find(limits), R"("requests":{"cpu":")" + cpu + "\"},");
  return test::names_args(pod, candidates(static_cast<std::size_t>(state.range(0))));
}
/// A request with node objects of 12.6 kB each.
std::string nodes_body(const benchmark::State& state) {
  std::vector<std::string> nodes;
  for (const auto& n : candidates(static_cast<std::size_t>(state.range(0))))
    nodes.push_back(test::node_json(n, 60));
  return test::nodes_args(test::pod_json("web-1", "power"), nodes);
}

constexpr std::string_view some_refused = "rapl_power_watts GreaterThan 60 (dontschedule)";
constexpr std::string_view some_scored = R"("Score":10)";

void BM_extender_filter_names(benchmark::State& state) {
  run(state, names_body(state), call::filter, some_refused);
}
void BM_extender_prioritize_names(benchmark::State& state) {
  run(state, names_body(state), call::prioritize, some_scored);
}
/// CPU time of this thread. Other programs on a busy machine do not count.
double thread_us() { return std::chrono::duration<double, std::micro>(own_thread_time()).count(); }

/// What changes before each pair of calls.
struct between_pairs {
  std::uint32_t told = 0;    ///< so many nodes tell a new model
  std::uint32_t loaded = 0;  ///< so many get another load
  bool resized = false;      ///< the pod requests 2 and 4 cores in turn
};
/// Makes a call by watts and a call by a metric in turn, so that whatever slows the machine slows both. The
/// memory was used before: while the ring of decisions fills for the first time, each record touches new
/// pages, and the record of a call by watts is larger. The goal: a call by watts takes at most 10 % more.
void in_turn(benchmark::State& state, const std::string& policy, const between_pairs& change = {}) {
  test::fleet& f = fleet();
  const std::string metric = names_body(state, "power");
  const std::string watts[] = {names_body(state, policy, change.resized ? "2" : ""),
                               names_body(state, policy, change.resized ? "4" : "")};
  const auto ask = [&f](const std::string& body) {
    auto exchange = f.face().begin(decision::verb::prioritize, f.request);
    constexpr std::size_t piece = 16384;
    for (std::size_t at = 0; at < body.size(); at += piece)
      exchange->consume(std::string_view(body).substr(at, piece));
    http::response last;
    exchange->finish([&](http::response r) { last = std::move(r); });
    return last;
  };
  for (const auto before = f.decisions.dropped(); f.decisions.dropped() < before + 100;) (void)ask(watts[0]);
  std::vector<double> took[2];
  const std::string load(policy::load_metric);
  std::vector<store::node_id> ids;
  for (int i = 0; i < fleet_size; ++i) ids.push_back(f.node(name(i)));
  std::uint32_t node = 0, loaded = 0, pairs = 0;
  std::mt19937 random(4);
  predict::model_table& models = f.data.models();
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < change.told; ++i, node = (node + 1) % fleet_size) {
      if (const predict::model* m = models.find(node))
        models.set(node, std::make_shared<const predict::model>(*m));
    }
    for (std::uint32_t i = 0; i < change.loaded; ++i, loaded = (loaded + 1) % fleet_size)
      f.next_value(ids[loaded], load, {static_cast<std::int64_t>(random() % 9000), -4});
    ++pairs;
    for (int which = 0; which < 2; ++which) {
      const std::string& body = which == 0 ? metric : watts[pairs % 2];
      const double begin = thread_us();
      const http::response last = ask(body);
      took[which].push_back(thread_us() - begin);
      check(state, last.status, last.body.empty() ? "" : last.body.front(), some_scored);
    }
  }
  for (auto& t : took) std::sort(t.begin(), t.end());
  const auto median = [](const std::vector<double>& t) { return t[t.size() / 2]; };
  state.counters["metric_p50_us"] = median(took[0]);
  state.counters["watts_p50_us"] = median(took[1]);
  state.counters["watts_to_metric"] = median(took[1]) / median(took[0]);
}
void BM_extender_prioritize_watts_names(benchmark::State& state) { in_turn(state, "watts"); }
/// Each node tells its learned model once a minute: 5,000 nodes bring eight between two of ten calls a
/// second.
void BM_extender_prioritize_learned_watts_names(benchmark::State& state) {
  in_turn(state, "watts", {.told = 8});
}
/// A rollout of 85 pods a second, each of the same size, while each node's load changes once a second: 1 % of
/// the nodes have another load at the next call.
void BM_extender_prioritize_loaded_watts_names(benchmark::State& state) {
  in_turn(state, "watts", {.loaded = 50});
}
/// One pod a second: all have.
void BM_extender_prioritize_all_loaded_watts_names(benchmark::State& state) {
  in_turn(state, "watts", {.loaded = fleet_size});
}
/// Each pod is of another size than the one before.
void BM_extender_prioritize_resized_watts_names(benchmark::State& state) {
  in_turn(state, "watts", {.resized = true});
}
void BM_extender_prioritize_served_watts_names(benchmark::State& state) { in_turn(state, "served-watts"); }
void BM_extender_no_policy_names(benchmark::State& state) {
  run(state, names_body(state, ""), call::filter, "worker-");
}
void BM_extender_filter_nodes(benchmark::State& state) {
  run(state, nodes_body(state), call::filter, some_refused);
}
void BM_extender_tls_filter_names(benchmark::State& state) {
  run_tls(state, names_body(state), call::filter, some_refused);
}
void BM_extender_tls_prioritize_names(benchmark::State& state) {
  run_tls(state, names_body(state), call::prioritize, some_scored);
}
void BM_extender_tls_filter_nodes(benchmark::State& state) {
  run_tls(state, nodes_body(state), call::filter, some_refused);
}

BENCHMARK(BM_extender_filter_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_prioritize_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_prioritize_watts_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_prioritize_learned_watts_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_prioritize_loaded_watts_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_prioritize_all_loaded_watts_names)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_prioritize_resized_watts_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_prioritize_served_watts_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_no_policy_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_extender_filter_nodes)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_extender_tls_filter_names)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(BM_extender_tls_prioritize_names)
    ->Arg(500)
    ->Arg(5000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();
BENCHMARK(BM_extender_tls_filter_nodes)->Arg(5000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

}  // namespace bench_extender
