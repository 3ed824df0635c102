// Where connections wait until they have shown that they want a TLS session.
//
// A handshake costs a signature, and a socket costs next to nothing. So no peer gets a handshake before it
// has sent a whole ClientHello. Nothing is read for this: the bytes are looked at in the kernel's buffer
// (MSG_PEEK), where OpenSSL finds them again later. With SO_RCVLOWAT the kernel wakes us once when nine bytes
// are there and once when the whole record is, even if a peer sends byte by byte. The hello must end in its
// first record, as agents write it. Otherwise a crowd could begin its handshakes one by one, and then send
// the rest of all hellos at once.
//
// A waiting connection costs a socket, little memory and no timer. All may wait equally long and are in order
// of arrival, so one timer for the first of them is enough (watch).
//
// Only an attack fills the lobby. A full lobby drops a connection of the network that has most of them, so a
// flood from one /24 only harms itself. Which connection of that network goes is random. If it were always
// the newest, agents that come during the flood would not get in; and the oldest may be an agent behind a
// slow line.

#include "aggregator/ingest/lobby.hpp"

#include "common/async/timers.hpp"

#include <boost/asio/socket_base.hpp>

#include <array>
#include <cstdint>
#include <iterator>
#include <list>
#include <sys/socket.h>
#include <utility>

namespace binnacle::ingest {

using async::task;

namespace {

// Shares are for the networks that one tenant usually has: a /24, or a site's /48.
constexpr unsigned v4_share = 24, v6_share = 48;
// A known address is a /64, too, and no single address of IPv6: an agent's pod gets another one of its node's
// /64 each time that it starts, and whoever has a /64 has as many addresses as he likes.
constexpr unsigned v4_address = 32, v6_address = 64;
constexpr std::size_t record_head = 5, message_head = 4;

enum class shown { hello, other, nothing };

/// Says what a peer has begun to send, from its first nine bytes; `record` gets the size of its first record.
/// `nothing`: the peer left before it sent them. Source: RFC 8446 5.1 and 4: a record's type 22, its
/// version's first byte 3, its length of two bytes; then the message's type 1, its length of three bytes.
shown look_at(int socket, std::size_t& record) {
  constexpr std::size_t most_record = 1u << 14;
  std::array<std::uint8_t, record_head + message_head> seen{};
  const auto got = ::recv(socket, seen.data(), seen.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got < static_cast<ssize_t>(seen.size())) return shown::nothing;
  const std::size_t length = std::size_t{seen[3]} << 8 | seen[4];
  const std::size_t hello = std::size_t{seen[6]} << 16 | std::size_t{seen[7]} << 8 | seen[8];
  record = record_head + length;
  const bool is_hello = seen[0] == 22 && seen[1] == 3 && seen[5] == 1;
  const bool is_whole = length <= most_record && message_head + hello <= length;
  return is_hello && is_whole ? shown::hello : shown::other;
}

bool holds(int socket, std::size_t bytes) {
  // MSG_TRUNC: nothing is copied (tcp(7)).
  return ::recv(socket, nullptr, bytes, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT) >= static_cast<ssize_t>(bytes);
}

/// Makes the socket readable only when that many bytes have come, or the peer has gone (socket(7),
/// SO_RCVLOWAT).
void wake_at(int socket, std::size_t bytes) {
  const int least = static_cast<int>(bytes);
  ::setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
}

}  // namespace

struct lobby::visitor {
  visitor(async::tcp_socket s, async::deadline u)
      : socket(std::move(s)),
        from(async::network_of(socket, v4_share, v6_share)),
        address(async::network_of(socket, v4_address, v6_address)),
        until(u) {}
  async::tcp_socket socket;
  network from, address;
  async::deadline until;
  crowd<visitor*>::seat seat;
  std::list<visitor*>::iterator at;
  bool is_here = false;
};

struct lobby::impl {
  impl(async::loop& on, std::size_t m, std::chrono::milliseconds p, ingest_counters& c, async::task_group& t,
       std::function<void(arrival)> r)
      : most(m), patience(p), counters(c), tasks(t), ready(std::move(r)), came(on) {}

  static task<void> receive(std::shared_ptr<impl> self, std::shared_ptr<visitor> who);
  static task<bool> shows_hello(visitor& who, ingest_counters& counters);
  static task<void> watch(std::shared_ptr<impl> self);
  void enter(visitor& who);
  void leave(visitor& who);
  void send_away(visitor& who) {
    leave(who);
    turn_away(who.socket);
  }

  // Constant after construction.
  const std::size_t most;
  const std::chrono::milliseconds patience;
  ingest_counters& counters;
  async::task_group& tasks;
  const std::function<void(arrival)> ready;

  crowd<visitor*> here;
  std::list<visitor*> in_order;  // in the order in which they came
  async::event came;
  std::minstd_rand random{std::random_device{}()};
  bool watching = false;
  bool closed = false;
};

void lobby::impl::enter(visitor& who) {
  if (here.size() >= most) {
    const auto& crowded = here.largest();
    std::uniform_int_distribution<std::size_t> draw(0, crowded.size() - 1);
    ++counters.turned_away;
    send_away(**std::next(crowded.begin(), static_cast<std::ptrdiff_t>(draw(random))));
  }
  who.seat = here.enter(who.from, &who);
  who.at = in_order.insert(in_order.end(), &who);
  who.is_here = true;
  ++counters.queued;
}

void lobby::impl::leave(visitor& who) {
  if (!std::exchange(who.is_here, false)) return;
  here.leave(who.seat);
  in_order.erase(who.at);
  if (!closed) --counters.queued;
}

task<void> lobby::impl::receive(std::shared_ptr<impl> self, std::shared_ptr<visitor> who) {
  struct presence {
    presence(std::shared_ptr<impl> l, std::shared_ptr<visitor> v) : in(std::move(l)), of(std::move(v)) {}
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() { in->leave(*of); }
    std::shared_ptr<impl> in;
    std::shared_ptr<visitor> of;
  };
  const presence until_the_end(self, who);
  const bool speaks = co_await shows_hello(*who, self->counters);
  if (!speaks || self->closed) co_return;
  self->leave(*who);
  self->ready({std::move(who->socket), who->from, who->address});
}

task<bool> lobby::impl::shows_hello(visitor& who, ingest_counters& counters) {
  const int socket = who.socket.native_handle();
  wake_at(socket, record_head + message_head);
  auto [ec] = co_await who.socket.async_wait(async::tcp_socket::wait_read, async::use_task);
  if (ec || !who.socket.is_open()) co_return false;
  std::size_t record = 0;
  const shown what = look_at(socket, record);
  if (what == shown::other) ++counters.no_hello;
  if (what != shown::hello) co_return false;
  if (!holds(socket, record)) {
    wake_at(socket, record);
    auto [again] = co_await who.socket.async_wait(async::tcp_socket::wait_read, async::use_task);
    if (again || !who.socket.is_open() || !holds(socket, record)) co_return false;
  }
  wake_at(socket, 1);
  co_return true;
}

// One timer serves all, because their time is up in the order in which they came.
task<void> lobby::impl::watch(std::shared_ptr<impl> self) {
  while (!self->closed) {
    const async::deadline until = self->in_order.empty() ? async::never : self->in_order.front()->until;
    if (std::chrono::steady_clock::now() < until) {
      co_await self->came.wait(until);
      continue;
    }
    ++self->counters.silent;
    self->send_away(*self->in_order.front());
  }
}

lobby::lobby(async::loop& on, std::size_t most, std::chrono::milliseconds patience, ingest_counters& counters,
             async::task_group& tasks, std::function<void(arrival)> ready)
    : impl_(std::make_shared<impl>(on, most, patience, counters, tasks, std::move(ready))) {}

lobby::~lobby() { close(); }

void lobby::take(async::tcp_socket socket) {
  impl& i = *impl_;
  if (i.closed) return turn_away(socket);
  if (!std::exchange(i.watching, true))
    i.tasks.keep("silent connections", [self = impl_] { return impl::watch(self); });
  const bool alone = i.in_order.empty();
  auto who = std::make_shared<visitor>(std::move(socket), async::within(i.patience));
  i.enter(*who);
  i.tasks.spawn("a connection that may become an agent's", impl::receive(impl_, std::move(who)));
  if (alone) i.came.notify();
}

std::size_t lobby::size() const noexcept { return impl_->here.size(); }

void lobby::close() {
  impl& i = *impl_;
  while (!i.in_order.empty()) i.send_away(*i.in_order.front());
  i.closed = true;
  i.came.notify();
}

void turn_away(async::tcp_socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace binnacle::ingest
