#pragma once

#include "common/error.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace binnacle::bench {

/// Sums over a fleet. Its thread writes them, any thread may read them.
struct fleet_counters {
  std::atomic<std::uint64_t> welcomed{0}, failed{0}, batches{0}, values{0}, wire_bytes{0};
  std::atomic<std::uint32_t> streaming{0};
};

struct fleet_options {
  std::uint16_t port = 0;   ///< the aggregator's ingest, on localhost
  std::uint32_t first = 0;  ///< the number of the first node
  std::uint32_t nodes = 0;  ///< "sim-FIRST" … "sim-(FIRST+nodes-1)"
  std::chrono::milliseconds period{1000};
  unsigned coalesced = 1;  ///< batches put into one write (throughput runs)
  std::function<tls::files(std::uint32_t)>
      certificate;  ///< of a node; called once each, before start() returns
};

/// Real agent sessions (TLS 1.3, a certificate for each, the wire's session machine), all on one thread.
/// Their ticks are spread over the period.
class fleet {
 public:
  fleet(fleet_options options, logger log);
  ~fleet();

  void start();
  /// Cuts every connection at once. Each agent then reconnects with its own random back-off.
  void storm();
  /// Sets the mean watts of package 0, from now on, of the node with this index (0: the first of this fleet).
  void heat(std::uint32_t node, double watts);
  void stop();

  const fleet_counters& counters() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::bench
