#pragma once

#include "common/http/server.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace binnacle::support {

/// An HTTP server on a loop and thread of its own, which runs as long as this object exists. For the blocking
/// client.
class served {
 public:
  /// Listens on 127.0.0.1, on any free port. Throws if it cannot.
  explicit served(http::router routes, http::server_options options = {});
  ~served();
  served(const served&) = delete;
  served& operator=(const served&) = delete;

  std::uint16_t port() const;
  /// Runs `work` on the server's thread and waits for it.
  void on_loop(const std::function<void()>& work);
  http::server_counters counters();
  /// How far a counter moved within one turn of the loop, at most, until it reached `until`. `begin` runs
  /// first, while the loop stands still.
  std::uint64_t most_in_a_turn(std::uint64_t http::server_counters::*counter, std::uint64_t until,
                               const std::function<void()>& begin);
  http::server& server();
  boost::asio::io_context& loop();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::support
