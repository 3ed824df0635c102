#pragma once

#include "common/error.hpp"
#include "common/rate_limit.hpp"
#include "common/tls/context.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace binnacle::tls {

/// One TLS connection over a non-blocking socket. It never waits: the caller (async::stream) waits and calls
/// again. It reads from the socket itself. Encrypted bytes go to outbox(), and the caller sends them. So a
/// write never ends half-way, and a reader and a writer may take turns on one connection. An idle connection
/// costs about 25 kB (asio::ssl::stream: 80 kB). The head of engine.cpp gives the reasons.
/// Bounds: one call takes at most turn_size bytes from the socket. After the handshake a peer may send at
/// most `most_messages` handshake messages at once (key updates, session tickets, attempts to renegotiate),
/// and one more each second. Beyond that the connection fails as `overloaded`, and so does a connection whose
/// outbox would hold more than most_outbox bytes, or whose client says a longer hello than most_hello, or
/// shows certificates that cost too much to read (costly_certificates.hpp).
class engine {
 public:
  /// No honest peer needs more: OpenSSL and Go change keys only after 2^24 records, or never, and a server
  /// sends one or two session tickets.
  static constexpr int most_messages = 16;
  static constexpr std::size_t turn_size = std::size_t{64} << 10;
  static constexpr std::size_t most_outbox = std::size_t{256} << 10;
  /// Bytes of a ClientHello. OpenSSL compares every key share in it with every group in it, so 64 KiB take it
  /// 0.1 s, before anybody knows who asks; 4 KiB take less than a signature. A usual hello has 200 to 600
  /// bytes, and 3 KiB with a key share of each kind of ML-KEM.
  static constexpr std::size_t most_hello = std::size_t{4} << 10;

  enum class step : unsigned char {
    done,
    want_read,  ///< wait until the socket is readable, then call again
    want_turn,  ///< this call has taken its share of the socket: let others run, then call again
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
  /// Reads at most one record (16 KiB) per call. `done`: `got` is above 0.
  step read(char* to, std::size_t room, std::size_t& got);
  /// For a caller whose write found the connection broken. True if an unread alert of the peer refuses our
  /// certificate; why() has the reason then. Data that came before the alert can still be read.
  bool was_refused();
  /// Encrypts all of `text` into outbox().
  step write(std::string_view text);
  /// Puts close_notify into outbox().
  void shutdown();

  /// Encrypted bytes to be sent, in order. The caller erases the bytes that it has sent.
  std::string& outbox() noexcept { return outbox_; }
  /// Whether bytes from the socket are still inside. If so, call read() before waiting for the socket.
  bool buffered() const noexcept;
  /// Call it when the socket has been closed: its number may belong to another connection now, so nothing
  /// more is read from it.
  void detach() noexcept { socket_ = -1; }
  /// Bytes taken from the socket so far.
  std::uint64_t received() const noexcept { return received_; }
  /// True if the peer sent a plain HTTP request instead of a handshake.
  bool peer_spoke_http() const noexcept { return spoke_http_; }
  /// "binnacle/1", or empty.
  std::string_view alpn() const noexcept;
  const error& why() const noexcept { return why_; }
  SSL* native() const noexcept { return ssl_; }

 private:
  step step_of(int returned, std::string_view doing);
  error explain(int reason, std::string_view doing) const;
  void refuse(std::string sentence);

  std::shared_ptr<SSL_CTX> context_;
  SSL* ssl_ = nullptr;
  role side_;
  std::string server_name_;
  std::string outbox_;
  error why_;
  bool spoke_http_ = false;
  bool has_failed_ = false;
  bool shaken_ = false;      // the handshake is done
  bool overloaded_ = false;  // the peer exceeded a bound; why_ says which
  rate_limit messages_{most_messages, std::chrono::seconds(1)};
  std::size_t turn_left_ = 0;  // bytes that this call may still take from the socket
  std::uint64_t received_ = 0;

  friend struct socket_bio;
  int socket_;
  int socket_errno_ = 0;
};

}  // namespace binnacle::tls
