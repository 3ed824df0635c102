#pragma once

#include "aggregator/sender/dialect.hpp"
#include "aggregator/sender/fleet.hpp"
#include "common/error.hpp"
#include "common/http/client/destination.hpp"
#include "common/http/client/more_headers.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::sender {

struct settings {
  protocol speaks = protocol::remote_write;
  write_version version = write_version::automatic;  ///< of remote write
  http::destination to;
  http::proof who;
  http::more_headers with;  ///< in every request
  origin from;
  std::vector<std::string> families;             ///< globs; none: all
  std::size_t most_bytes = 192u << 20;           ///< of requests that wait
  duration patience = std::chrono::seconds(30);  ///< with one request
};

/// What became of samples and requests since the start; bytes and age as they are now.
struct counters {
  std::uint64_t sent = 0;     ///< samples that the server took
  std::uint64_t refused = 0;  ///< samples that it will never take
  std::uint64_t dropped = 0;  ///< samples that waited too long, or had no room
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;      ///< requests that broke or were put off by the server
  std::uint64_t late_rounds = 0;  ///< rounds that came while the one before was still being written
  std::uint64_t waiting_bytes = 0;
  duration lag{};       ///< how old the oldest request that waits is; zero: none waits
  std::string trouble;  ///< why the last request was not taken, in one sentence; empty: it was
};

/// Writes the fleet's readings to a time-series database, on a thread of its own: whatever the server does
/// costs the loops nothing. A round's new readings become requests of some
/// thousand samples, which are sent one after the other, so that each series arrives in order. A server that
/// is away finds them waiting when it is back, as far as `most_bytes` and an hour reach.
/// Threads: any.
class sender {
 public:
  /// Errors: certificates that cannot be loaded.
  static result<std::unique_ptr<sender>> open(settings s, logger log);
  /// What was not delivered is lost.
  ~sender();

  /// A round: everything that is new at these nodes. Does not block; while a round is being written, only the
  /// newest of those that come meanwhile counts.
  void take(fleet nodes);
  /// Another replica writes now: the next round begins anew.
  void rest();
  counters counted() const;

 private:
  struct impl;
  explicit sender(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::sender
