#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/tls/chain.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::async {

class turnstile;

/// Takes what a name look-up found, as to_string() prints it; gives which of them to try, in order.
using address_choice = std::function<std::vector<std::size_t>(const std::vector<std::string>& found)>;

/// A TCP connection, plain or under TLS, whose every wait has a deadline. Include from .cpp files only.
/// One coroutine may read while another writes. A read that timed out may be tried again; after any other
/// error, and after a write that timed out, the connection is usable for nothing but close(). An operation
/// that finds its data ready does not suspend; after 64 KiB without a wait it lets the rest of the loop run
/// first, so that one fast peer does not hold up the others, and a read looks at its deadline. Under TLS what
/// counts are the bytes of the socket, and each record as 256 bytes at least: records without data are work,
/// too. The stream must outlive its operations: own it in the coroutine that reads, or cancel and await its
/// coroutines first. Errors: timeout; disconnected; permission (a certificate was refused, by either side);
/// protocol (no TLS, broken TLS); overloaded (the peer went beyond a bound of tls::engine).
class stream {
 public:
  /// `tls` null: plain TCP. `server_name` (clients): what the server's certificate must be issued for.
  stream(tcp_socket socket, std::shared_ptr<SSL_CTX> tls, tls::role side, std::string server_name = {});
  ~stream();
  stream(stream&&) noexcept;
  stream& operator=(stream&&) noexcept;

  /// Must come first under TLS; nothing to do on a plain connection. A server gives one turnstile to all its
  /// handshakes if they must not hold up what else its loop serves.
  task<result<void>> handshake(deadline until, turnstile* turns = nullptr);

  /// At least one byte, at most to.size(), of what has arrived; 0 when the peer ended the connection in
  /// order.
  task<result<std::size_t>> read_some(std::span<char> to, deadline until);
  /// Until something can be read (or the peer has gone, which the next read tells): idle connections need no
  /// buffer meanwhile.
  task<result<void>> wait_readable(deadline until);
  /// All of `text`, which must stay valid until then. Give large pieces: each call ends a TLS record.
  task<result<void>> write(std::string_view text, deadline until);
  /// Says close_notify if that needs no waiting, and shuts down the sending side; the peer's last bytes can
  /// still be read.
  void end_writing();
  /// Closes at once; waiting operations end with `disconnected`.
  void close();
  /// Past TLS, best effort, without waiting: for one plain sentence to a peer that does not speak TLS.
  void write_plain(std::string_view text);

  /// For a link on which only the newest data matters. Little of it waits in the kernel: about 64 KiB, and a
  /// write begins only when no more than 4 KiB are still unsent (Linux, tcp(7), TCP_NOTSENT_LOWAT). If the
  /// peer's machine acknowledges nothing for `patience`, because it or the way to it is gone, the connection
  /// breaks. Without this a sender would notice after a quarter of an hour.
  void as_live_feed(std::chrono::milliseconds patience);

  /// Who the verified peer certificate says it is; false when there is none.
  bool peer_identity(tls::identity& out) const;
  /// What the peer showed, whoever signed it; null without a certificate.
  std::shared_ptr<const tls::shown_chain> peer_shown() const;
  /// Whether the context, which may have been reloaded since the handshake, denies the peer's certificate.
  bool peer_is_denied(const tls::context& by) const;
  bool peer_spoke_http() const;
  /// The protocol agreed on ("binnacle/1"), or empty.
  std::string_view alpn() const;
  /// "10.0.0.7:40312" or "[fd00::7]:40312".
  const std::string& peer_address() const;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
  friend task<result<stream>> connect(std::string host, std::uint16_t port, std::shared_ptr<SSL_CTX> tls,
                                      std::string server_name, deadline until, address_choice choose);
};

/// Resolves `host`, connects to its addresses in turn until one answers, and shakes hands. `server_name`
/// empty: `host`. Errors: as above, each naming host and port; not_found when the name has no address. A name
/// look-up that hangs is abandoned at the deadline, and holds up nothing else, the end of the program
/// included. `choose`: which of the addresses found are tried, and in which order; null: all, as they came.
task<result<stream>> connect(std::string host, std::uint16_t port, std::shared_ptr<SSL_CTX> tls,
                             std::string server_name, deadline until, address_choice choose = nullptr);

/// "10.0.0.7:40312"; an IPv4 address that came in through an IPv6 socket is printed as IPv4.
std::string to_string(const tcp::endpoint& peer);

}  // namespace binnacle::async
