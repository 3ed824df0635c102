#pragma once

#include "aggregator/sender/protocol.hpp"
#include "common/clock.hpp"

#include <cstdint>
#include <string>

namespace binnacle::sender {

/// What happened to samples and requests since the start. Bytes and age are the present ones.
struct counters {
  std::uint64_t sent = 0;     ///< samples that the server took
  std::uint64_t refused = 0;  ///< samples that it will never take
  std::uint64_t dropped = 0;  ///< samples that waited too long, or had no room
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;      ///< requests that broke or were put off by the server
  std::uint64_t late_rounds = 0;  ///< rounds that came while the one before was still being written
  std::uint64_t waiting_bytes = 0;
  duration lag{};  ///< how old the oldest request that waits is; zero: none waits
  /// Why the last request was not taken, in one sentence; empty: it was. If a part of a request lost samples,
  /// that is shown for two minutes, though the server takes other parts.
  std::string trouble;
};

/// What happened at one database.
struct report {
  protocol by;
  counters numbers;
};

}  // namespace binnacle::sender
