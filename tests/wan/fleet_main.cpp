// binnacle-fleet: the sessions of many agents in one process, to test what a crowd of agents does.
#include "common/log/log.hpp"
#include "tests/bench/scale/fleet.hpp"
#include "tests/support/options.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <signal.h>
#include <string>
#include <time.h>

namespace {

using namespace binnacle;

/// Waits for a tenth of a second. Returns true if SIGTERM or SIGINT came.
bool asked_to_stop(const sigset_t& signals) {
  const timespec limit{0, 100'000'000};
  return ::sigtimedwait(&signals, nullptr, &limit) > 0;
}

int run(std::uint16_t port, const std::string& pki, std::uint32_t first, std::uint32_t nodes) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT}) sigaddset(&signals, number);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  bench::fleet_options options;
  options.port = port;
  options.first = first;
  options.nodes = nodes;
  options.certificate = [&pki](std::uint32_t i) {
    const std::string file = fmt::format("{}/fleet-sim-{}", pki, i / 50);  // scripts/pki --fleet sim:N
    return tls::files{file + ".crt", file + ".key", pki + "/server-ca.crt"};
  };
  bench::fleet all(options, logger("fleet", log_level::warning));
  all.start();
  std::uint32_t streaming = nodes + 1;
  std::uint64_t failed = 0;
  do {
    const auto& now = all.counters();
    if (now.streaming == streaming && now.failed == failed) continue;
    streaming = now.streaming;
    failed = now.failed;
    fmt::print("streaming={} welcomed={} failed={}\n", streaming, now.welcomed.load(), failed);
    std::fflush(stdout);
  } while (!asked_to_stop(signals));
  all.stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t port = 0;
  std::string pki;
  std::int64_t first = 0;
  std::int64_t nodes = 500;
  const std::string program = "binnacle-fleet";
  binnacle::config_spec spec(
      program,
      "N agents' sessions with an aggregator on localhost, nodes sim-FIRST, sim-(FIRST+1), …, "
      "until SIGTERM. Prints how many "
      "stream whenever that changes.",
      "binnacle-fleet --port 9110 --pki pki --nodes 500");
  spec.add("port", port, 0, 65535, "the aggregator's port for agents");
  spec.add("pki", pki, "folder of scripts/pki --fleet sim:N");
  spec.add("first", first, 0, 9000, "the number of the first node");
  spec.add("nodes", nodes, 1, 9000, "N");
  if (const auto status = binnacle::support::read_options(spec, program, argc, argv, {{"pki", &pki}}))
    return *status;
  try {
    return run(static_cast<std::uint16_t>(port), pki, static_cast<std::uint32_t>(first),
               static_cast<std::uint32_t>(nodes));
  } catch (const std::exception& e) {
    fmt::print(stderr, "binnacle-fleet: {}\n", e.what());
    return 1;
  }
}
