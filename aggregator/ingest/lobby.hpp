#pragma once

#include "aggregator/ingest/counters.hpp"
#include "common/async/network.hpp"
#include "common/async/task_group.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <random>

namespace binnacle::ingest {

/// A connection on which a handshake may begin.
struct arrival {
  async::tcp_socket socket;
  network from;     ///< the /24 or /48
  network address;  ///< the address itself; of IPv6 the /64
};

/// Connections that have not sent their ClientHello yet. They wait here until a whole ClientHello can be
/// read; each costs a socket, but takes no place of a handshake. A connection that sends none in time, or
/// sends something else, is closed. A full lobby closes a random connection of the network that has most
/// connections in it. It is random because the oldest may be an agent behind a slow line. Include from .cpp
/// files only. Threads: one loop.
class lobby {
 public:
  /// `ready` is called on the loop. The lobby's coroutines run in `tasks`, which must end before `counters`
  /// go.
  lobby(async::loop& on, std::size_t most, std::chrono::milliseconds patience, ingest_counters& counters,
        async::task_group& tasks, std::function<void(arrival)> ready);
  ~lobby();
  lobby(const lobby&) = delete;
  lobby& operator=(const lobby&) = delete;

  void take(async::tcp_socket socket);
  std::size_t size() const noexcept;
  /// Closes all connections; `ready` is not called afterwards.
  void close();

 private:
  struct visitor;
  struct impl;
  std::shared_ptr<impl> impl_;
};

/// Closes with a reset: the peer knows at once, and the kernel keeps no state of the connection.
void turn_away(async::tcp_socket& socket);

}  // namespace binnacle::ingest
