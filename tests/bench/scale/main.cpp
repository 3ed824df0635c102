// The figures of docs/measured.md for a large cluster: a real aggregator process, a fleet of real TLS agent
// sessions, and kube-scheduler's calls, all on loopback.
//   build/tests/bench/scale/binnacle-scale --nodes 5000

#include "common/log/log.hpp"
#include "common/system/process_cost.hpp"
#include "tests/bench/scale/fleet.hpp"
#include "tests/bench/scale/process.hpp"
#include "tests/bench/scale/report.hpp"
#include "tests/bench/scale/scheduler.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>

namespace binnacle::bench {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr const char* policy = R"(apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: power, namespace: default}
spec:
  strategies:
    dontschedule:
      rules:
      - {metricname: rapl_power_watts, operator: GreaterThan, target: 145}
      - {metricname: os_cpu_utilization_ratio, operator: GreaterThan, targetQuantity: "0.97"}
    scheduleonmetric:
      rules:
      - {metricname: rapl_power_watts, operator: LessThan}
    deschedule:
      rules:
      - {metricname: rapl_power_watts, operator: GreaterThan, target: 180, window: 10s}
)";

struct choices {
  std::string aggregator = BINNACLE_AGGREGATOR;
  std::uint32_t nodes = 5000;
  std::uint32_t seconds = 20;
  std::uint32_t storms = 0;  // more than 0: measures only so many storms
  bool quick = false;
};

/// The aggregator under test, its certificates and its policy.
class bench_bed {
 public:
  explicit bench_bed(const choices& c)
      : agents_(folder_, "agents"), clients_(folder_, "clients"), servers_(folder_, "servers") {
    const auto server = servers_.issue_server();
    support::wanted caller;
    caller.common_name = "scheduler";
    caller_ = clients_.issue("scheduler", caller);
    caller_.authority = servers_.certificate();
    std::filesystem::create_directory(folder_ / "policies");
    support::write_file(folder_ / "policies/power.yaml", policy);
    aggregator_ = std::make_unique<process>(std::vector<std::string>{c.aggregator,
                                                                     "--address",
                                                                     "127.0.0.1",
                                                                     "--cert",
                                                                     server.certificate,
                                                                     "--key",
                                                                     server.key,
                                                                     "--agents-ca",
                                                                     agents_.certificate(),
                                                                     "--clients-ca",
                                                                     clients_.certificate(),
                                                                     "--policies",
                                                                     folder_ / "policies",
                                                                     "--ingest-port",
                                                                     std::to_string(ingest),
                                                                     "--extender-port",
                                                                     std::to_string(extender),
                                                                     "--metrics-port",
                                                                     std::to_string(metrics),
                                                                     "--ops-port",
                                                                     std::to_string(ops),
                                                                     "--health-port",
                                                                     std::to_string(health),
                                                                     "--log-level",
                                                                     "warning"},
                                            folder_ / "aggregator.log");
  }

  process& aggregator() { return *aggregator_; }
  support::https_client::options face(std::uint16_t port) const {
    return {"127.0.0.1", port, caller_, "localhost", 60};
  }
  /// The files of a node: a certificate signed by the agents' CA, and the CA of the server, which the node
  /// trusts.
  tls::files node(std::uint32_t i) {
    support::wanted what;
    what.dns_names = {"sim-" + std::to_string(i)};
    auto files = agents_.issue("sim-" + std::to_string(i), what);
    files.authority = servers_.certificate();
    return files;
  }

  static constexpr std::uint16_t ingest = 39110, extender = 39001, metrics = 36443, ops = 39102,
                                 health = 38081;

 private:
  support::temp_folder folder_;
  support::authority agents_, clients_, servers_;
  tls::files caller_;
  std::unique_ptr<process> aggregator_;
};

/// Waits until all `nodes` stream and each was welcomed once more since the fleet had had `welcomes`
/// welcomes.
void wait_until_streaming(const fleet& f, std::uint32_t nodes, std::chrono::seconds limit,
                          std::uint64_t welcomes = 0) {
  const auto until = clock::now() + limit;
  while (f.counters().streaming < nodes || f.counters().welcomed < welcomes + nodes) {
    if (clock::now() > until)
      throw std::runtime_error(
          fmt::format("only {} of {} agents are streaming", f.counters().streaming.load(), nodes));
    std::this_thread::sleep_for(10ms);
  }
}

/// A quantile of what a histogram counted between two scrapes: the smallest upper bound of a bucket below
/// which at least `share` lies.
double histogram_quantile(const std::string& before, const std::string& after, const std::string& name,
                          double share) {
  const auto buckets = [&name](const std::string& text) {
    std::map<double, double> out;
    const std::string start = name + "_bucket{le=\"";
    for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      const std::size_t from = at + start.size(), quote = text.find('"', from);
      const std::string bound = text.substr(from, quote - from);
      out[bound == "+Inf" ? 1e9 : std::stod(bound)] = std::stod(text.substr(text.find(' ', quote)));
    }
    return out;
  };
  const auto first = buckets(before), last = buckets(after);
  if (last.empty()) throw std::runtime_error("no histogram " + name);
  const auto at = [&first](double bound) { return first.count(bound) != 0 ? first.at(bound) : 0; };
  const double total = last.rbegin()->second - at(last.rbegin()->first);
  for (const auto& [bound, count] : last) {
    if (count - at(bound) >= share * total) return bound;
  }
  return 1e9;
}

void steady_state(report& out, bench_bed& bed, const fleet& agents, const choices& c) {
  out.heading(fmt::format("{} agents × {} series at 1 Hz", c.nodes, 40));
  const auto cpu = bed.aggregator().cpu_by_thread();
  const double total = bed.aggregator().cpu();
  const auto bytes = agents.counters().wire_bytes.load(), values = agents.counters().values.load();
  const auto began = clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(c.seconds));
  const double span = std::chrono::duration<double>(clock::now() - began).count();
  out.figure("resident memory of the aggregator", bed.aggregator().resident_mib(), "MiB",
             600.0 * c.nodes / 5000);
  out.figure("CPU of the aggregator", (bed.aggregator().cpu() - total) / span, "cores", 0.5 * c.nodes / 5000);
  for (const auto& [name, seconds] : bed.aggregator().cpu_by_thread()) {
    const auto before = cpu.find(name);
    out.figure("  thread " + name, (seconds - (before == cpu.end() ? 0 : before->second)) / span, "cores");
  }
  const double batches = static_cast<double>(agents.counters().values.load() - values) / 40;
  out.figure("CPU per batch, a wake-up each", (bed.aggregator().cpu() - total) / batches * 1e6, "us");
  out.figure("TLS payload per sample",
             static_cast<double>(agents.counters().wire_bytes.load() - bytes) / (batches * 40), "bytes", 5);
}

void answers(report& out, bench_bed& bed, const choices& c) {
  out.heading("Extender over keep-alive TLS, while they stream");
  scheduler caller(bed.face(bench_bed::extender));
  support::https_client scrape(bed.face(bench_bed::ops));
  const std::string before = scrape.get("/metrics").body;
  const unsigned rounds = c.quick ? 200 : 3000;
  for (const char* verb : {"filter", "prioritize"}) {
    auto some = caller.calls(verb, names_body(std::min(500u, c.nodes)), rounds, 1ms);
    out.figure(std::string(verb) + " of 500 names, p50", some.quantile(0.5), "ms");
    out.figure(std::string(verb) + " of 500 names, p99", some.quantile(0.99), "ms", 0.5);
    auto all = caller.calls(verb, names_body(c.nodes), rounds / 3, 1ms);
    out.figure(fmt::format("{} of {} names, p50", verb, c.nodes), all.quantile(0.5), "ms", 1);
    out.figure(fmt::format("{} of {} names, p99", verb, c.nodes), all.quantile(0.99), "ms", 2);
  }
  const std::string after = scrape.get("/metrics").body;
  out.figure("age of the data at a decision, p99 (bucket's upper bound)",
             histogram_quantile(before, after, "binnacle_decision_age_seconds", 0.99) * 1000, "ms", 1050);
}

void whole_nodes(report& out, bench_bed& bed, const choices& c) {
  const std::string body = nodes_body(c.nodes);
  out.heading(fmt::format("Whole Node objects: {:.1f} MB in, the survivors back",
                          static_cast<double>(body.size()) / 1e6));
  scheduler caller(bed.face(bench_bed::extender));
  scheduler other(bed.face(bench_bed::extender));
  const std::string small = names_body(100);
  auto alone = other.calls("filter", small, 300, 1ms);
  const double resident = bed.aggregator().resident_mib();
  std::atomic<bool> stop{false};
  auto beside = std::async(std::launch::async, [&] { return other.calls_until(stop, "filter", small, 1ms); });
  auto whole = caller.calls("filter", body, c.quick ? 3 : 20, 20ms);
  stop = true;
  auto disturbed = beside.get();
  out.figure("filter, p50", whole.quantile(0.5), "ms", 250);
  out.figure("filter, slowest", whole.quantile(1), "ms");
  out.figure("survivors", static_cast<double>(caller.last_size()) / 1048576, "MiB");
  out.figure("peak memory above the steady state, less the survivors",
             bed.aggregator().peak_mib() - resident - static_cast<double>(caller.last_size()) / 1048576,
             "MiB", 16);
  out.figure("another caller's p99 meanwhile, above alone", disturbed.quantile(0.99) - alone.quantile(0.99),
             "ms", 5);
}

/// The load average, which also counts other programs on the machine. Source: proc(5), /proc/loadavg.
double load_average() {
  double minute = 0;
  std::ifstream("/proc/loadavg") >> minute;
  return minute;
}

void storm(report& out, bench_bed& bed, fleet& agents, const choices& c) {
  out.heading(fmt::format("A storm: {} agents cut off at once and reconnecting", c.nodes));
  scheduler caller(bed.face(bench_bed::extender));
  const std::string body = names_body(std::min(500u, c.nodes));
  auto calm = caller.calls("filter", body, c.quick ? 200 : 2000, 1ms);
  std::atomic<bool> stop{false};
  auto during = std::async(std::launch::async, [&] { return caller.calls_until(stop, "filter", body, 1ms); });
  const auto began = clock::now();
  // The fleet's thread notices a cut connection only later. So count welcomes, not the agents that seem to
  // stream.
  const std::uint64_t welcomes = agents.counters().welcomed;
  const double ours = own_cost().cpu_seconds, ingest = bed.aggregator().cpu_by_thread()["ingest"];
  const std::uint64_t failures = agents.counters().failed;
  agents.storm();
  wait_until_streaming(agents, c.nodes, 180s, welcomes);
  const double span = std::chrono::duration<double>(clock::now() - began).count();
  const double ingest_used = bed.aggregator().cpu_by_thread()["ingest"] - ingest;
  const double ours_used = own_cost().cpu_seconds - ours;
  stop = true;
  auto stormy = during.get();
  out.figure("all agents back after", span, "s", 15.0 * std::max(c.nodes, 1000u) / 5000);
  out.figure("CPU of the ingest loop for each agent that came back", ingest_used / c.nodes * 1e3, "ms");
  out.figure("  the same as a share of the storm", ingest_used / span, "cores");
  out.figure("CPU of the fleet and the caller for each agent", ours_used / c.nodes * 1e3, "ms");
  out.figure("  the same as a share of the storm", ours_used / span, "cores");
  // The cut itself counts as one failed attempt, so 1 is subtracted.
  out.figure("attempts that failed, of each agent",
             static_cast<double>(agents.counters().failed - failures) / c.nodes - 1, "");
  out.figure("load average, 1 min", load_average(), "");
  out.figure("filter of 500 names, p99 in calm", calm.quantile(0.99), "ms");
  out.figure("filter of 500 names, p99 in the storm, above calm", stormy.quantile(0.99) - calm.quantile(0.99),
             "ms", 5);
}

/// Sends many frames at a time over few connections, to see how much one core can take.
void throughput(report& out, const choices& c) {
  out.heading("Ingest flat out: 16 agents, 64 batches a write");
  bench_bed bed(c);
  std::this_thread::sleep_for(500ms);
  fleet_options options;
  options.port = bench_bed::ingest;
  options.nodes = 16;
  options.period = 0ms;
  options.coalesced = 64;
  options.certificate = [&bed](std::uint32_t i) { return bed.node(i); };
  fleet agents(options, logger("fleet", log_level::warning));
  agents.start();
  wait_until_streaming(agents, options.nodes, 30s);
  std::this_thread::sleep_for(1s);
  const double cpu = bed.aggregator().cpu();
  const auto values = agents.counters().values.load();
  std::this_thread::sleep_for(std::chrono::seconds(c.quick ? 3 : 10));
  const double samples = static_cast<double>(agents.counters().values.load() - values),
               used = bed.aggregator().cpu() - cpu;
  out.figure("samples through TLS", samples / used / 1e6, "M/s and core", 3, true);
}

int run(const choices& c) {
  report out;
  {
    bench_bed bed(c);
    fleet_options options;
    options.port = bench_bed::ingest;
    options.nodes = c.nodes;
    options.certificate = [&bed](std::uint32_t i) { return bed.node(i); };
    fmt::print("making {} certificates\n", c.nodes);
    fleet agents(options, logger("fleet", log_level::warning));
    const auto began = clock::now();
    agents.start();
    wait_until_streaming(agents, c.nodes, 180s);
    out.heading("Start");
    out.figure("all agents streaming after", std::chrono::duration<double>(clock::now() - began).count(),
               "s");
    if (c.storms == 0) {
      std::this_thread::sleep_for(12s);  // the ten-second windows fill
      steady_state(out, bed, agents, c);
      answers(out, bed, c);
      whole_nodes(out, bed, c);
    }
    for (std::uint32_t i = 0; i < std::max(c.storms, 1u); ++i) storm(out, bed, agents, c);
    agents.stop();
  }
  if (c.storms == 0) throughput(out, c);
  fmt::print("\n{}\n", out.missed() == 0 ? "every target was met"
                                         : fmt::format("{} targets were missed", out.missed()));
  return 0;
}

}  // namespace
}  // namespace binnacle::bench

int main(int argc, char** argv) {
  binnacle::bench::choices c;
  const std::string program = "binnacle-scale";
  binnacle::config_spec spec(program,
                             "Measures a real aggregator with a fleet of real TLS agent sessions and "
                             "kube-scheduler's calls, on loopback.",
                             "binnacle-scale --nodes 5000");
  spec.add("aggregator", c.aggregator, "the program to measure");
  std::int64_t nodes = c.nodes, seconds = c.seconds, storms = c.storms;
  spec.add("nodes", nodes, 1, 9000, "agents");
  spec.add("seconds", seconds, 1, 3600, "length of the steady state");
  spec.add("storms", storms, 0, 100, "more than 0: nothing but so many storms");
  spec.add("quick", c.quick, "few calls: shows that it runs, measures nothing");
  if (const auto status = binnacle::support::read_options(spec, program, argc, argv)) return *status;
  c.nodes = static_cast<std::uint32_t>(nodes);
  c.seconds = static_cast<std::uint32_t>(seconds);
  c.storms = static_cast<std::uint32_t>(storms);
  try {
    return binnacle::bench::run(c);
  } catch (const std::exception& e) {
    fmt::print(stderr, "binnacle-scale: {}\n", e.what());
    return 1;
  }
}
