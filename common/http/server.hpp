#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/router.hpp"
#include "common/http/server_counters.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace binnacle::http {

struct server_options {
  std::string name;                      ///< "extender", for logs and metrics
  std::string address;                   ///< empty: all addresses, of both families
  std::uint16_t port = 0;                ///< 0: any free one, see server::port()
  std::shared_ptr<tls::context> tls;     ///< null: plain HTTP
  std::size_t header_limit = 64u << 10;  ///< bytes of request line and headers; more is answered with 431
  /// If there are more, a newcomer replaces a connection that waits for its peer; see server.
  std::size_t max_connections = 4096;
  /// How many connections without a certificate of ours may have a large buffer (64 KiB instead of 4 KiB),
  /// for a long head or a body. One more replaces the oldest such connection of the address that has most of
  /// them.
  std::size_t most_large_buffers = 256;
  /// How many bytes of answers may wait until their peers take them. See places::gives_way_to_answer().
  std::size_t most_answer_bytes = 64u << 20;
  /// How long to wait for the first byte of a connection and, if the handshake showed no certificate of ours,
  /// for the first request. A request that moves less than 16 KiB in this time may be closed for a newcomer.
  std::chrono::milliseconds first_byte_deadline{std::chrono::seconds(3)};
  std::chrono::milliseconds header_deadline{std::chrono::seconds(10)};  ///< also for the TLS handshake
  std::chrono::milliseconds body_deadline{std::chrono::seconds(30)};    ///< for the whole body
  /// How long a handler may take to answer; after that the server answers 503.
  std::chrono::milliseconds handler_deadline{std::chrono::seconds(30)};
  /// Longer than the 90 s for which Go keeps idle connections: Go does not retry a POST that meets a
  /// connection just closed.
  std::chrono::milliseconds idle_deadline{std::chrono::seconds(120)};
  std::chrono::milliseconds write_deadline{std::chrono::seconds(30)};  ///< for the whole answer
};

/// An HTTP/1.1 server on one loop: keep-alive, answers with Content-Length, request bodies as streams. Long
/// bodies and answers go in pieces of at most 64 KiB, and other connections are served between the pieces. An
/// accept error is logged, and accept is tried again after a pause.
/// A crowd keeps nobody out. If max_connections are open, a newcomer replaces a connection of the address
/// that has most of them (an IPv6 /64 counts as one address). First go connections that were never served and
/// showed no certificate of ours; then the one that has waited longest for its next request; then one whose
/// peer has hardly moved its request or answer for first_byte_deadline. A request that makes progress is cut
/// only if its address has more than half of all places, it shows no certificate of ours, and the newcomer is
/// from another address. If no connection may go, the newcomer is closed and counted as rejected. If
/// options.tls has read a list that denies a connection's certificate, that connection is cut. Threads: call
/// everything on the thread that runs `loop`; handlers run there, too.
class server {
 public:
  server(boost::asio::io_context& loop, server_options options, router routes, logger log);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Binds and starts accepting. Errors: io with the address and the remedy ("port 9001 is in use…").
  result<void> start();
  std::uint16_t port() const noexcept;
  const server_counters& counters() const noexcept;

  /// Goes on serving, but asks each client to close its connection after the answer. The client then connects
  /// to another replica.
  void retire() noexcept;

  /// Stops accepting, lets running requests end, and closes idle connections. Connections that are still open
  /// after `grace` are cut. `done` is called on the loop.
  void stop(std::chrono::milliseconds grace, std::function<void()> done);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::http
