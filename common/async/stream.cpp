// A TCP connection, plain or under TLS, and why it is built like this.
//
// Asio has streams for both. This one exists because Asio's cannot promise the following:
//
// - Every wait has a deadline. Asio's operations have none, and one that is cancelled may have moved bytes.
//   So nothing is read or written inside an Asio operation. A stream tries without waiting. Only if nothing
//   can be done, it waits for the socket to become ready, with a deadline. A cancelled wait has moved no
//   bytes, so a read that timed out can be tried again.
// - A write under TLS never ends half-way. The engine encrypts into an outbox first, and the outbox is sent.
//   If the socket takes only a part of a record, the rest stays in the outbox and goes first next time. So
//   one coroutine can read while another writes: whatever reading produces (a key update, an alert) is
//   appended to the same outbox, in order.
// - A fast peer does not starve the others. All connections share one thread. An operation whose data is
//   ready does not suspend, so a peer that always has more would keep the loop for itself. After 64 KiB
//   without a wait an operation lets the rest of the loop run, and a read looks at its deadline. Under TLS
//   the bytes of the socket count, and each record counts as 256 bytes at least: a peer can send records
//   without data, which cost work and yield nothing to read.
// - An idle connection is small. wait_readable() waits without a buffer, and an outbox that was sent keeps no
//   more than 4 KiB.
//
// One timer serves both directions. It is armed for the earlier deadline and stays armed when an operation
// ends in time: most do, and setting a timer for each would cost more than the operation. When it goes off,
// it looks whether a deadline has passed, cancels the socket's waits if so, and arms itself again otherwise.
// Cancelling ends the waits of both directions; the one that still has time waits again.
//
// The state lives in an impl that the timer's handler holds weakly. So a handler that is under way when the
// stream is destroyed finds nothing to do. close() detaches the engine before the descriptor's number can be
// given to another connection; without that, a late read would take bytes of a stranger.

#include "common/async/stream.hpp"

#include "common/async/network.hpp"
#include "common/async/stream_impl.hpp"
#include "common/async/turnstile.hpp"
#include "common/text/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utility>

namespace binnacle::async {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
constexpr std::size_t piece_size = 64u << 10;  // bytes that one turn may move before others get theirs
constexpr std::size_t least_record = 256;      // short records count as this: they cost work, too
constexpr std::size_t kept_outbox = 4u << 10;  // an idle connection keeps no more than this
}  // namespace

stream::impl::impl(tcp_socket s) : socket(std::move(s)), watchdog(socket.get_executor()) {}

void stream::impl::prepare() {
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  const auto peer = socket.remote_endpoint(ignored);
  if (!ignored) peer_address = to_string(peer);
}

void stream::impl::arm() {
  const deadline earliest = std::min(read_until, write_until);
  if (earliest >= armed_until) return;  // the timer goes off earlier and is armed again then
  armed_until = earliest;
  watchdog.expires_at(earliest);
  watchdog.async_wait([weak = weak_from_this()](error_code ec) {
    const auto self = weak.lock();
    if (!self || ec) return;
    self->armed_until = never;
    if (std::min(self->read_until, self->write_until) <= std::chrono::steady_clock::now()) {
      error_code ignored;
      self->socket.cancel(ignored);  // ends both waits; the direction that has time left waits again
    } else {
      self->arm();
    }
  });
}

task<result<void>> stream::impl::wait(direction what, deadline until) {
  const bool reading = what == direction::read;
  if (!socket.is_open()) co_return error{errc::disconnected, "the connection is closed"};
  if (until <= std::chrono::steady_clock::now()) co_return timed_out(what);
  deadline& slot = reading ? read_until : write_until;
  slot = until;
  arm();
  moved = 0;
  auto [ec] = co_await socket.async_wait(reading ? tcp_socket::wait_read : tcp_socket::wait_write, use_task);
  slot = never;
  if (!socket.is_open()) co_return error{errc::disconnected, "the connection was closed"};
  if (!ec) co_return result<void>();
  if (std::chrono::steady_clock::now() >= until) co_return timed_out(what);
  // The timer cancelled both waits because the other direction's time was up: try again. (If our coroutine
  // was cancelled, its next await throws.)
  if (ec == asio::error::operation_aborted) co_return result<void>();
  co_return error{errc::disconnected, fmt::format("the connection broke: {}", ec.message())};
}

error stream::impl::timed_out(direction what) const {
  return {errc::timeout,
          fmt::format("{} did not {} in time", peer_address.empty() ? "the peer" : peer_address,
                      what == direction::read ? "send anything" : "take what was sent")};
}

bool stream::impl::turn_is_over() const { return moved >= piece_size; }

task<void> stream::impl::yield_if_due() {
  if (!turn_is_over()) co_return;
  moved = 0;
  co_await asio::post(socket.get_executor(), use_task);
}

// Returns true if bytes are left that the socket does not take now.
result<bool> stream::impl::send_outbox() {
  std::string& outbox = engine->outbox();
  while (sent < outbox.size()) {
    error_code ec;
    sent += socket.write_some(asio::buffer(outbox.data() + sent, outbox.size() - sent), ec);
    if (ec == asio::error::would_block) return true;
    if (ec) return error{errc::disconnected, fmt::format("the connection broke: {}", ec.message())};
  }
  sent = 0;
  if (outbox.capacity() > kept_outbox) {
    std::string().swap(outbox);
  } else {
    outbox.clear();
  }
  return false;
}

task<result<void>> stream::impl::flush(deadline until) {
  for (;;) {
    const auto left = send_outbox();
    // A peer that refuses our certificate sends an alert and closes. Our write may fail before we have read
    // that alert.
    if (left.has_error()) co_return engine->was_refused() ? engine->why() : left.error();
    if (!*left) co_return result<void>();
    if (auto ready = co_await wait(direction::write, until); ready.has_error()) co_return ready;
  }
}

// Reads without waiting. True if data came or if the peer ended the connection (`got` is 0 then).
result<bool> stream::impl::take(std::span<char> to, std::size_t& got) {
  got = 0;
  if (!engine) {
    error_code ec;
    got = socket.read_some(asio::buffer(to.data(), to.size()), ec);
    if (ec == asio::error::would_block) return false;
    if (ec && ec != asio::error::eof)
      return error{errc::disconnected, fmt::format("the connection broke: {}", ec.message())};
    moved += got;
    return true;
  }
  auto step = tls::engine::step::done;
  while (got < to.size() && step == tls::engine::step::done && !turn_is_over()) {
    std::size_t piece = 0;
    const std::uint64_t before = engine->received();
    step = engine->read(to.data() + got, to.size() - got, piece);
    got += piece;
    // Records without data and many small records are work, too.
    moved += std::max<std::size_t>(engine->received() - before, least_record);
  }
  // Reading may have produced an answer (a key update, an alert). If the socket is full, the next write sends
  // it.
  if (!engine->outbox().empty()) (void)send_outbox();
  if (got > 0 || step == tls::engine::step::closed) return true;
  if (step == tls::engine::step::failed) return engine->why();
  return to.empty();
}

stream::stream(tcp_socket socket, std::shared_ptr<SSL_CTX> tls, tls::role side, std::string server_name)
    : impl_(std::make_shared<impl>(std::move(socket))) {
  impl_->prepare();
  if (!tls) return;
  impl_->make_engine = [it = impl_.get(), tls = std::move(tls), side, name = std::move(server_name)] {
    return std::make_unique<tls::engine>(tls, side, it->socket.native_handle(), name);
  };
}
stream::~stream() {
  if (impl_) close();
}
stream::stream(stream&&) noexcept = default;
stream& stream::operator=(stream&&) noexcept = default;

task<result<void>> stream::handshake(deadline until, turnstile* turns) {
  impl& s = *impl_;
  if (!s.make_engine) co_return result<void>();
  if (turns != nullptr) {
    // Wait for bytes first: a peer that has sent nothing takes no turn at the turnstile.
    if (auto ready = co_await s.wait(direction::read, until); ready.has_error()) co_return ready;
  }
  s.engine = s.make_engine();
  const network from = network_of(s.socket, 32, 64);
  for (;;) {
    if (turns != nullptr) co_await turns->pass(from);
    const auto step = s.engine->handshake();
    if (step == tls::engine::step::failed || step == tls::engine::step::closed) {
      if (!s.engine->peer_spoke_http()) (void)s.send_outbox();  // the alert that tells the peer why
      if (step == tls::engine::step::failed) co_return s.engine->why();
      co_return error{errc::disconnected, "the peer ended the connection during the TLS handshake"};
    }
    if (auto sent = co_await s.flush(until); sent.has_error()) co_return sent;
    if (step == tls::engine::step::done) co_return result<void>();
    if (step == tls::engine::step::want_turn) {
      s.moved = piece_size;
      co_await s.yield_if_due();
      if (until <= std::chrono::steady_clock::now()) co_return s.timed_out(direction::read);
      continue;
    }
    if (auto ready = co_await s.wait(direction::read, until); ready.has_error()) co_return ready;
  }
}

task<result<std::size_t>> stream::read_some(std::span<char> to, deadline until) {
  impl& s = *impl_;
  for (;;) {
    if (s.turn_is_over()) {
      co_await s.yield_if_due();
      // The deadline is checked here because a peer that always has more data ready never makes us wait.
      if (until <= std::chrono::steady_clock::now()) co_return s.timed_out(direction::read);
    }
    std::size_t got = 0;
    const auto came = s.take(to, got);
    if (came.has_error()) co_return came.error();
    if (*came) co_return got;
    if (s.turn_is_over()) continue;  // more may be there already
    if (auto ready = co_await s.wait(direction::read, until); ready.has_error()) co_return ready.error();
  }
}

task<result<void>> stream::wait_readable(deadline until) {
  if (buffered()) co_return result<void>();
  co_return co_await impl_->wait(direction::read, until);
}

bool stream::buffered() const { return impl_->engine && impl_->engine->buffered(); }

task<result<void>> stream::write(std::string_view text, deadline until) {
  impl& s = *impl_;
  while (!text.empty()) {
    co_await s.yield_if_due();
    const std::string_view piece = text.substr(0, piece_size);
    std::size_t taken = piece.size();
    if (s.engine) {
      s.engine->outbox().reserve(s.engine->outbox().size() + piece.size() + 1024);
      if (s.engine->write(piece) != tls::engine::step::done) co_return s.engine->why();
      if (auto sent = co_await s.flush(until); sent.has_error()) co_return sent;
    } else {
      error_code ec;
      taken = s.socket.write_some(asio::buffer(piece.data(), piece.size()), ec);
      if (ec == asio::error::would_block) {
        if (auto ready = co_await s.wait(direction::write, until); ready.has_error()) co_return ready;
      } else if (ec) {
        co_return error{errc::disconnected, fmt::format("the connection broke: {}", ec.message())};
      }
    }
    s.moved += taken;
    text.remove_prefix(taken);
  }
  co_return result<void>();
}

void stream::end_writing() {
  error_code ignored;
  if (impl_->engine) {
    impl_->engine->shutdown();
    (void)impl_->send_outbox();
  }
  impl_->socket.shutdown(tcp_socket::shutdown_send, ignored);
}

void stream::close() {
  if (!impl_->socket.is_open()) return;
  error_code ignored;
  if (impl_->engine) {
    impl_->engine->shutdown();
    (void)impl_->send_outbox();
  }
  impl_->socket.close(ignored);
  if (impl_->engine) impl_->engine->detach();
  impl_->watchdog.cancel();
}

bool stream::unacknowledged() const {
  int bytes = 0;
  return impl_->socket.is_open() && ::ioctl(impl_->socket.native_handle(), SIOCOUTQ, &bytes) == 0 &&
         bytes > 0;
}

void stream::drop() {
  if (unacknowledged()) {
    error_code ignored;
    impl_->socket.set_option(asio::socket_base::linger(true, 0), ignored);
  }
  close();
}

void stream::keep_unsent(int bytes) {
  ::setsockopt(impl_->socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

void stream::keep_unread(int bytes) {
  error_code ignored;
  impl_->socket.set_option(asio::socket_base::receive_buffer_size(bytes), ignored);
}

void stream::as_live_feed(std::chrono::milliseconds patience) {
  error_code ignored;
  impl_->socket.set_option(asio::socket_base::send_buffer_size(32 << 10), ignored);  // the kernel doubles it
  // Bytes that the kernel has not sent yet are older than the values that we have by now. So a write waits
  // until few such bytes are left.
  keep_unsent(4 << 10);
  const int ms = static_cast<int>(patience.count());
  ::setsockopt(impl_->socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

void stream::write_plain(std::string_view text) {
  error_code ignored;
  impl_->socket.write_some(asio::buffer(text.data(), text.size()), ignored);
}

bool stream::peer_identity(tls::identity& out) const {
  return impl_->engine && tls::peer_identity(impl_->engine->native(), out);
}
std::shared_ptr<const tls::shown_chain> stream::peer_shown() const {
  return impl_->engine ? tls::shown_chain::of(impl_->engine->native()) : nullptr;
}
bool stream::peer_is_denied(const tls::context& by) const {
  return impl_->engine && by.denies(impl_->engine->native());
}
bool stream::peer_spoke_http() const { return impl_->engine && impl_->engine->peer_spoke_http(); }
std::string_view stream::alpn() const { return impl_->engine ? impl_->engine->alpn() : std::string_view{}; }
const std::string& stream::peer_address() const { return impl_->peer_address; }

std::string to_string(const tcp::endpoint& peer) {
  auto address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return host_and_port(address.to_string(), peer.port());
}

}  // namespace binnacle::async
