#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace binnacle::async {

/// A listening TCP socket. Include from .cpp files only.
class listener {
 public:
  /// Binds and listens. `address` is numeric. An empty address means all addresses of this machine, of both
  /// families; so does "::" if the kernel has IPv6. Port 0 takes any free port. Errors, each with the remedy:
  /// invalid_input (not an address), permission (port below 1024), io (in use).
  static result<listener> open(loop& on, const std::string& address, std::uint16_t port, logger log);

  std::uint16_t port() const noexcept { return port_; }
  /// How many connections accept() gives before the rest of the loop runs. One would be too few: while turns
  /// are long, a crowd comes faster than that, and a caller waits behind 4,096 others in the kernel's queue.
  static constexpr std::size_t most_per_turn = 4;

  /// The next connection: without a wait if one is there and fewer than most_per_turn came since the last
  /// wait. An accept that fails (no file descriptor is left) is logged once and tried again after a pause.
  /// Errors: disconnected, only after close().
  task<result<tcp_socket>> accept();
  void close();

 private:
  using acceptor = boost::asio::basic_socket_acceptor<tcp, executor>;
  listener(acceptor a, std::uint16_t port, logger log)
      : acceptor_(std::move(a)), port_(port), log_(std::move(log)) {}
  acceptor acceptor_;
  std::uint16_t port_;
  logger log_;
  std::size_t this_turn_ = 0;  // connections taken since the rest of the loop ran
  bool failing_ = false;
};

}  // namespace binnacle::async
