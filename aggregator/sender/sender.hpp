#pragma once

#include "aggregator/sender/counters.hpp"
#include "aggregator/sender/dialect.hpp"
#include "aggregator/sender/fleet.hpp"
#include "common/backoff.hpp"
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
  backoff::settings between_attempts{};          ///< at a request
};

/// Writes the fleet's readings to a time-series database, on a thread of its own, so that a slow server does
/// not delay the loops. The new readings of a round become requests of some thousand samples. They are sent
/// one after the other, so that each series arrives in order. While the server is away, requests wait, up to
/// `most_bytes` and for an hour at most. Threads: any.
class sender {
 public:
  /// Errors: certificates that cannot be loaded.
  static result<std::unique_ptr<sender>> open(settings s, logger log);
  /// Requests that were not delivered are lost.
  ~sender();

  /// Writes a round: everything that is new at these nodes. Does not block. Of the rounds that come while one
  /// is being written, only the newest counts.
  void take(fleet nodes);
  /// Tells that another replica writes now. The next round here begins anew.
  void rest();
  counters counted() const;

 private:
  struct impl;
  explicit sender(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::sender
