#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/router.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"
#include "common/tls/denials.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace binnacle::http {

struct server_options {
  std::string name;                      ///< "extender", for logs and metrics
  std::string address;                   ///< empty: all, of both families
  std::uint16_t port = 0;                ///< 0: any free one, see server::port()
  std::shared_ptr<tls::context> tls;     ///< null: plain HTTP
  std::size_t header_limit = 64u << 10;  ///< bytes of request line and headers; more is answered 431
  /// A newcomer beyond them replaces one that waits for its peer; see server.
  std::size_t max_connections = 4096;
  /// How many connections without a certificate of ours may have a large buffer (64 KiB, the others 4 KiB):
  /// for a long head or a body. One more replaces the oldest of the address that has most of them.
  std::size_t most_large_buffers = 256;
  /// For the first byte of a connection and, if the handshake showed no certificate of ours, of the first
  /// request. A request that moves less than 16 KiB in so long may be closed for a newcomer.
  std::chrono::milliseconds first_byte_deadline{std::chrono::seconds(3)};
  std::chrono::milliseconds header_deadline{std::chrono::seconds(10)};  ///< also for the TLS handshake
  std::chrono::milliseconds body_deadline{std::chrono::seconds(30)};    ///< for the whole body
  /// How long a handler may take to answer; 503 after it.
  std::chrono::milliseconds handler_deadline{std::chrono::seconds(30)};
  /// Longer than the 90 s for which Go keeps idle connections: a POST that meets a connection just closed is
  /// not retried.
  std::chrono::milliseconds idle_deadline{std::chrono::seconds(120)};
  std::chrono::milliseconds write_deadline{std::chrono::seconds(30)};  ///< for the whole answer
};

/// Counters of one server, for the scrape endpoint. Written by its loop only.
struct server_counters {
  std::uint64_t accepted = 0, rejected = 0, open = 0, handshake_failures = 0;
  std::uint64_t requests = 0, malformed = 0, timeouts = 0;
  // Connections that were closed for what they did to others.
  std::uint64_t most = 0;     ///< max_connections
  std::uint64_t evicted = 0;  ///< had to give way to a newcomer
  std::uint64_t silent = 0;   ///< sent nothing within first_byte_deadline
  std::uint64_t floods = 0;   ///< went beyond a bound of tls::engine
  tls::denials denied;
  std::uint64_t bytes_in = 0, bytes_out = 0;
};

/// An HTTP/1.1 server on one loop: keep-alive, Content-Length answers, streaming request bodies. Long bodies
/// and answers go in pieces of at most 64 KiB between which other connections are served. An accept error is
/// logged and retried after a pause.
/// A crowd keeps nobody out: when max_connections are there, a newcomer replaces a connection of the
/// address that has most of them (an IPv6 /64 counts as one address). First those go that have never been
/// served and showed no certificate of ours, then the one that has waited longest for its next request, then
/// one whose peer has hardly moved its request or answer for first_byte_deadline. A request that goes on is
/// cut only if its address has more than half of all places, shows no certificate of ours, and the newcomer
/// is from another. If none may go, the newcomer is closed, and counted as rejected. When options.tls has
/// read a list that denies a connection's certificate, that connection is cut. Threads: all calls, and all
/// handlers, on the thread that runs `loop`.
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

  /// Goes on serving, but every answer asks the client to close: it then connects to another replica.
  void retire() noexcept;

  /// Stops accepting, lets running requests end, closes idle connections; connections still open after
  /// `grace` are cut. `done` is called on the loop.
  void stop(std::chrono::milliseconds grace, std::function<void()> done);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::http
