#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>

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
  /// The next connection. An accept that fails (no file descriptor is left) is logged once and tried again
  /// after a pause. Errors: disconnected, only after close().
  task<result<tcp_socket>> accept();
  void close();

 private:
  using acceptor = boost::asio::basic_socket_acceptor<tcp, executor>;
  listener(acceptor a, std::uint16_t port, logger log)
      : acceptor_(std::move(a)), port_(port), log_(std::move(log)) {}
  acceptor acceptor_;
  std::uint16_t port_;
  logger log_;
  bool failing_ = false;
};

}  // namespace binnacle::async
