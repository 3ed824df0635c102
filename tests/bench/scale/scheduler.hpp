#pragma once

#include "tests/bench/scale/report.hpp"
#include "tests/support/net/https_client.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace binnacle::bench {

/// kube-scheduler's side of the extender: sends its bodies over one keep-alive TLS connection, one call at a
/// time.
class scheduler {
 public:
  explicit scheduler(support::https_client::options where) : client_(std::move(where)) {}

  /// Milliseconds from the first byte sent to the last received. Throws unless the answer is 200 and names
  /// `expect` in its body.
  double call(const std::string& verb, const std::string& body, const char* expect);
  /// Makes `calls` calls, `pause` apart. (The real scheduler sends one pod at a time and works in between.)
  latencies calls(const std::string& verb, const std::string& body, unsigned calls,
                  std::chrono::microseconds pause);
  /// Makes calls until `stop` is set.
  latencies calls_until(const std::atomic<bool>& stop, const std::string& verb, const std::string& body,
                        std::chrono::microseconds pause);
  std::size_t last_size() const noexcept { return last_size_; }

 private:
  support::https_client client_;
  std::size_t last_size_ = 0;
};

/// ExtenderArgs with node names (nodeCacheCapable: true): the first `count` nodes of the fleet.
std::string names_body(std::uint32_t count);
/// ExtenderArgs with whole Node objects of about 12.6 kB (25 labels, 60 images).
std::string nodes_body(std::uint32_t count);

}  // namespace binnacle::bench
