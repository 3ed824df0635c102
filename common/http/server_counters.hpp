#pragma once

#include "common/tls/denials.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace binnacle::http {

/// Counters of one server, for the scrape endpoint. Written by its loop only.
struct server_counters {
  std::uint64_t accepted = 0, rejected = 0, open = 0, handshake_failures = 0;
  std::uint64_t requests = 0, malformed = 0, timeouts = 0;
  std::uint64_t most = 0;     ///< max_connections
  std::uint64_t evicted = 0;  ///< had to give way to a newcomer
  std::uint64_t silent = 0;   ///< sent no byte of a request within first_byte_deadline
  std::uint64_t slow = 0;     ///< did not take its answer while others needed the memory
  std::uint64_t floods = 0;   ///< went beyond a bound of tls::engine
  tls::denials denied;
  std::uint64_t bytes_in = 0, bytes_out = 0;

  /// Connections that were closed because they took places or time from others, by reason.
  std::array<std::pair<std::string_view, std::uint64_t>, 6> dropped() const noexcept {
    return {{{"evicted", evicted},
             {"full", rejected},
             {"silent", silent},
             {"slow", slow},
             {"flood", floods},
             {"denied", denied.count}}};
  }
};

}  // namespace binnacle::http
