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

/// Given the addresses that a name look-up found, as to_string() prints them, returns the indices of those to
/// try, in order.
using address_choice = std::function<std::vector<std::size_t>(const std::vector<std::string>& found)>;

/// A TCP connection, plain or under TLS. Every wait has a deadline. Include from .cpp files only. One
/// coroutine may read while another writes. A read that timed out may be tried again. After any other error,
/// and after a write that timed out, only close() may be called. An operation that finds its data ready does
/// not suspend. After 64 KiB without a wait it lets the rest of the loop run first, so that one fast peer
/// does not hold up the others; a read also checks its deadline then. Under TLS these 64 KiB are bytes of the
/// socket, and each record counts as 256 bytes at least, because records without data cost work, too. The
/// stream must outlive its operations: own it in the coroutine that reads, or cancel and await its coroutines
/// first. Errors: timeout; disconnected; permission (a certificate was refused, by either side); protocol (no
/// TLS, broken TLS); overloaded (the peer went beyond a bound of tls::engine).
class stream {
 public:
  /// `tls` null: plain TCP. `server_name` (clients): what the server's certificate must be issued for.
  stream(tcp_socket socket, std::shared_ptr<SSL_CTX> tls, tls::role side, std::string server_name = {});
  ~stream();
  stream(stream&&) noexcept;
  stream& operator=(stream&&) noexcept;

  /// Under TLS this must be called first; on a plain connection it does nothing. If the handshakes of a
  /// server must not hold up the other work of its loop, the server passes the same turnstile to all of them.
  task<result<void>> handshake(deadline until, turnstile* turns = nullptr);

  /// Reads at least one byte and at most to.size(). 0: the peer ended the connection in order.
  task<result<std::size_t>> read_some(std::span<char> to, deadline until);
  /// Waits until something can be read, or until the peer has ended the connection (the next read tells
  /// which). An idle connection needs no buffer meanwhile.
  task<result<void>> wait_readable(deadline until);
  /// Whether bytes of the peer were taken from the socket, but not read yet (under TLS only).
  bool buffered() const;
  /// Writes all of `text`, which must stay valid until the write has ended. Write large pieces: each call
  /// ends a TLS record.
  task<result<void>> write(std::string_view text, deadline until);
  /// Sends close_notify if that needs no waiting, and shuts down the sending side. The peer's last bytes can
  /// still be read.
  void end_writing();
  /// Closes at once; waiting operations end with `disconnected`.
  void close();
  /// Whether the peer's machine has not acknowledged all that was sent.
  bool unacknowledged() const;
  /// Closes, and throws away what the peer's machine has not acknowledged. After close() the kernel would
  /// keep it for minutes, also for a peer that never reads.
  void drop();
  /// Sends `text` without TLS, as far as it goes without waiting: one plain sentence to a peer that does not
  /// speak TLS.
  void write_plain(std::string_view text);

  /// The kernel keeps about this much for the peer besides what is on its way (tcp(7), TCP_NOTSENT_LOWAT).
  /// By itself it would keep 4 MiB for a peer that does not read.
  void keep_unsent(int bytes);
  /// The kernel keeps up to twice as much of what came and was not read (socket(7), SO_RCVBUF). By itself it
  /// would enlarge that for a peer that sends much, up to 6 MiB and more (tcp(7), tcp_rmem). Below 64 KiB
  /// large segments do not fit, and a peer on loopback stalls.
  void keep_unread(int bytes);

  /// For a link on which only the newest data matters. Little of it waits in the kernel: about 64 KiB, and a
  /// write begins only when no more than 4 KiB are still unsent (Linux, tcp(7), TCP_NOTSENT_LOWAT). If the
  /// peer's machine acknowledges nothing for `patience`, because it or the way to it is gone, the connection
  /// breaks. Without this a sender would notice after a quarter of an hour.
  void as_live_feed(std::chrono::milliseconds patience);

  /// Fills `out` with the names in the verified certificate of the peer; false if there is none.
  bool peer_identity(tls::identity& out) const;
  /// The certificates that the peer showed, whoever signed them; null without a certificate.
  std::shared_ptr<const tls::shown_chain> peer_shown() const;
  /// Whether `by` denies the peer's certificate. The context may have been reloaded since the handshake.
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

/// Resolves `host`, connects to its addresses in turn until one answers, and does the TLS handshake.
/// `server_name` empty: `host`. Errors: those of stream, each naming host and port; not_found if the name has
/// no address. A name look-up that hangs is abandoned at the deadline and holds up nothing else, not even the
/// end of the program. `choose` picks the addresses to try and their order; null: all, in the order found.
task<result<stream>> connect(std::string host, std::uint16_t port, std::shared_ptr<SSL_CTX> tls,
                             std::string server_name, deadline until, address_choice choose = nullptr);

/// "10.0.0.7:40312"; an IPv4 address that came in through an IPv6 socket is printed as IPv4.
std::string to_string(const tcp::endpoint& peer);

}  // namespace binnacle::async
