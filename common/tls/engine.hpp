#pragma once

#include "common/error.hpp"
#include "common/tls/context.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace binnacle::tls {

/// One TLS connection over a non-blocking socket, without waiting: the caller waits (async::stream) and calls
/// again. It reads from the socket itself; what it writes goes to outbox(), which the caller sends. So a
/// write never ends half-way, and a reader and a writer may take turns on one connection. Costs about 25 kB a
/// connection when idle (asio::ssl::stream: 80 kB).
class engine {
 public:
  enum class step : unsigned char {
    done,
    want_read,  ///< wait until the socket is readable, then call again
    closed,     ///< the peer ended the connection in order
    failed,     ///< see why()
  };

  /// `server_name` (clients): the DNS name or address that the server's certificate must carry, and the name
  /// sent as SNI.
  engine(std::shared_ptr<SSL_CTX> context, role side, int socket, std::string server_name = {});
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  step handshake();
  /// At most one record (16 KiB) a call; `got` > 0 when done.
  step read(char* to, std::size_t room, std::size_t& got);
  /// Encrypts all of `text` into outbox().
  step write(std::string_view text);
  /// Puts close_notify into outbox().
  void shutdown();

  /// Encrypted bytes to be sent in order; the caller erases what it has sent.
  std::string& outbox() noexcept { return outbox_; }
  /// Bytes taken from the socket wait inside: read() before waiting for the socket.
  bool buffered() const noexcept;
  /// A plain HTTP request came instead of a handshake.
  bool peer_spoke_http() const noexcept { return spoke_http_; }
  /// "binnacle/1", or empty.
  std::string_view alpn() const noexcept;
  const error& why() const noexcept { return why_; }
  SSL* native() const noexcept { return ssl_; }

 private:
  step judge(int returned, std::string_view doing);
  error explain(int reason, std::string_view doing) const;

  std::shared_ptr<SSL_CTX> context_;
  SSL* ssl_ = nullptr;
  role side_;
  std::string server_name_;
  std::string outbox_;
  error why_;
  bool spoke_http_ = false;
  bool has_failed_ = false;

  friend struct socket_bio;
  int socket_;
  int socket_errno_ = 0;
};

}  // namespace binnacle::tls
