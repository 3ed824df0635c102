#include "aggregator/ingest/listener.hpp"

#include "aggregator/ingest/agent_session.hpp"
#include "aggregator/ingest/handshake_rate.hpp"
#include "aggregator/ingest/lobby.hpp"
#include "aggregator/ingest/shared_state.hpp"
#include "aggregator/ingest/waiting_line.hpp"
#include "common/async/listener.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/system/process_cost.hpp"

#include <boost/asio/socket_base.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <netinet/tcp.h>
#include <optional>
#include <random>
#include <sys/socket.h>
#include <utility>

namespace binnacle::ingest {

using async::task;
using async::within;

namespace {

/// Makes the kernel find a peer that has vanished within half a minute, even while we send nothing.
void watch_peer(async::tcp_socket& s) {
  const auto set = [fd = s.native_handle()](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

/// Whether the peer has closed its end. Its ClientHello can still be read, but nobody waits for the answer.
/// Source: tcp(7), TCP_INFO.
bool has_left(async::tcp_socket& s) {
  tcp_info is{};
  socklen_t size = sizeof is;
  return ::getsockopt(s.native_handle(), IPPROTO_TCP, TCP_INFO, &is, &size) == 0 &&
         is.tcpi_state != TCP_ESTABLISHED;
}

}  // namespace

struct listener::impl : std::enable_shared_from_this<listener::impl> {
  impl(async::loop& on, ingest_options options, aggregator::core& to, logger log)
      : shared(std::make_shared<shared_state>(on, std::move(options), to, std::move(log))),
        silent(on, shared->options.handshake_queue, shared->options.hello_deadline, shared->counters,
               shared->tasks, [this](arrival who) { line_up(std::move(who)); }),
        line(shared->options.handshake_queue),
        budget(shared->options.handshakes.usual, boot_clock::now()),
        queued(on),
        first_begun(on),
        leaving(on, shared->log) {}

  static task<void> accept(std::shared_ptr<impl> self);
  static task<void> admit(std::shared_ptr<impl> self);
  static task<void> follow_load(std::shared_ptr<impl> self);
  static task<void> drain(std::shared_ptr<impl> self, async::deadline until, std::function<void()> done);

  void line_up(arrival who);
  std::size_t most_in_line() const;
  bool has_place();
  void begin(arrival who);
  bool has_guests() const { return !line.empty() || shared->counters.greeting > 0; }
  void lose(async::tcp_socket& s);

  const std::shared_ptr<shared_state> shared;
  std::optional<async::listener> door;
  std::uint16_t port = 0;
  lobby silent;                // accepted
  waiting_line<arrival> line;  // said hello, and waiting for their handshake
  handshake_budget budget;
  bool kept_waiting = false;  // a handshake waited for the budget since the last measurement
  async::event queued;
  async::event first_begun;  // a handshake begins while the load is not measured, or the listener stops
  bool measuring = false;
  bool stopping = false;
  // Waits for shared->tasks to end, so it cannot be one of them.
  async::task_group leaving;
};

void listener::impl::lose(async::tcp_socket& s) {
  ingest_counters& c = shared->counters;
  ++c.turned_away;
  shared->overload_warning.say(
      shared->log, boot_clock::now(),
      fmt::format(
          "too many agents at once ({} sessions, {} waiting): some are turned away and will come back",
          c.open, c.queued));
  turn_away(s);
}

/// The most connections in line: as many as can be served before their patience ends, and no more than there
/// are places for sessions, because each takes the descriptor of its later session. handshake_queue of them
/// may wait in any case.
std::size_t listener::impl::most_in_line() const {
  const ingest_options& o = shared->options;
  const std::size_t taken = shared->greeting.size() + shared->counters.open;
  const std::size_t places = o.max_sessions > taken ? o.max_sessions - taken : 0;
  const auto served = static_cast<std::size_t>(shared->counters.handshake_rate *
                                               std::chrono::duration<double>(o.line_patience).count());
  return std::max(o.handshake_queue, std::min(places, served));
}

void listener::impl::line_up(arrival who) {
  const bool known = shared->known.contains(who.address, boot_clock::now());
  const network group = known ? who.address : who.from;
  const auto draw = [this](std::size_t of) {
    return std::uniform_int_distribution<std::size_t>(0, of - 1)(shared->random);
  };
  auto lost = line.join(group, known, std::move(who), most_in_line(), draw);
  if (lost) {
    lose(lost->socket);
  } else {
    ++shared->counters.queued;
  }
  queued.notify();
}

task<void> listener::impl::accept(std::shared_ptr<impl> self) {
  for (;;) {
    auto socket = co_await self->door->accept();
    if (socket.has_error()) co_return;
    ++self->shared->counters.accepted;
    self->silent.take(std::move(*socket));
  }
}

/// Whether one more connection may begin its handshake. If all places are taken, the network with the most
/// connections before the welcome loses the one that has waited longest for its peer, so that a crowd cannot
/// keep agents out. (If few files may be open, a crowd reaches the limit on sessions before that on
/// greeting.)
bool listener::impl::has_place() {
  shared_state& c = *shared;
  const std::size_t greeting = c.greeting.size();
  const bool full = greeting >= c.options.max_greeting ||
                    (greeting > 0 && greeting + c.counters.open >= c.options.max_sessions);
  if (!full) return true;
  const instant now = boot_clock::now();
  for (agent_session* one : c.greeting.largest()) {
    if (now - one->came_at() < c.options.least_greeting) return false;  // all others came later
    if (!one->waits_for_peer()) continue;
    ++c.counters.evicted;
    one->evict();
    return true;
  }
  return false;
}

void listener::impl::begin(arrival who) {
  shared_state& c = *shared;
  if (c.greeting.size() + c.counters.open >= c.options.max_sessions) return lose(who.socket);
  watch_peer(who.socket);
  async::stream peer(std::move(who.socket), c.options.tls->current(), tls::role::server);
  auto session = std::make_shared<agent_session>(shared, std::move(peer), who.from, who.address);
  c.tasks.spawn("an agent's session", agent_session::run(std::move(session)));
}

/// Begins handshakes as the budget allows. Handshakes of slow peers run side by side, up to a limit.
task<void> listener::impl::admit(std::shared_ptr<impl> self) {
  shared_state& c = *self->shared;
  while (!self->stopping) {
    if (self->line.empty()) {
      co_await self->queued.wait();
      continue;
    }
    if (!self->has_place()) {
      co_await async::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    const instant now = boot_clock::now();
    if (!self->budget.allows(now)) {
      self->kept_waiting = true;
      const duration pause = self->budget.next() - now;
      co_await async::sleep_for(pause);
      continue;
    }
    arrival next = self->line.next();
    --c.counters.queued;
    if (has_left(next.socket)) {
      ++c.counters.left_line;
      continue;
    }
    self->budget.take(now);
    ++c.counters.begun;
    self->begin(std::move(next));
    if (!self->measuring) self->first_begun.notify();
    // The session begins at the loop's next turn. Other due work runs before the next handshake.
    co_await async::sleep_for(std::chrono::nanoseconds(0));
  }
}

/// Adjusts the budget of handshakes to the load of the loop, while connections wait for a handshake.
task<void> listener::impl::follow_load(std::shared_ptr<impl> self) {
  const ingest_counters& c = self->shared->counters;
  while (!self->stopping) {
    handshake_rate rate(self->shared->options.handshakes);
    self->budget.set_rate(rate.per_second());
    self->shared->counters.handshake_rate = rate.per_second();
    co_await self->first_begun.wait();
    self->measuring = true;
    while (self->has_guests() && !self->stopping) {
      const instant from = boot_clock::now();
      load_meter meter(own_thread_time(), from);
      const std::uint64_t begun = c.begun, welcomed = c.welcomed;
      self->kept_waiting = false;
      const async::deadline until = within(handshake_rate::period);
      const bool woken = co_await self->first_begun.wait(until);
      if (woken) continue;  // we stop, or another handshake began before this measurement
      const instant now = boot_clock::now();
      rate.measured({.load = meter.next(own_thread_time(), now),
                     .lateness = now - from - handshake_rate::period,
                     .begun = c.begun - begun,
                     .welcomed = c.welcomed - welcomed,
                     .kept_waiting = self->kept_waiting});
      self->budget.set_rate(rate.per_second());
      self->shared->counters.handshake_rate = rate.per_second();
    }
    self->measuring = false;
  }
}

task<void> listener::impl::drain(std::shared_ptr<impl> self, async::deadline until,
                                 std::function<void()> done) {
  const std::shared_ptr<shared_state> c = self->shared;
  const bool all_left = co_await c->tasks.wait(until);
  if (!all_left) {
    c->log.info("{} sessions of agents did not end in time: their connections are closed now",
                c->sessions.size());
    c->tasks.cancel();
    const async::deadline soon = within(std::chrono::seconds(1));
    co_await c->tasks.wait(soon);
  }
  done();
}

listener::listener(boost::asio::io_context& loop, ingest_options options, aggregator::core& to, logger log)
    : impl_(std::make_shared<impl>(loop, std::move(options), to, std::move(log))) {}

listener::~listener() {
  impl_->stopping = true;
  impl_->shared->closed = true;
  if (impl_->door) impl_->door->close();
  impl_->silent.close();
  impl_->line.clear();
  impl_->shared->tasks.cancel();
}

result<void> listener::start() {
  const ingest_options& o = impl_->shared->options;
  if (!o.tls)
    return error{errc::invalid_input, "agents are served over TLS only: give certificate, key and authority"};
  auto door = async::listener::open(impl_->shared->loop, o.address, o.port, impl_->shared->log);
  if (door.has_error()) return door.error();
  impl_->port = door->port();
  impl_->door.emplace(std::move(*door));
  o.tls->on_reload([weak = std::weak_ptr(impl_->shared)] {
    const auto shared = weak.lock();
    if (!shared || shared->closed) return;
    const auto all = shared->sessions;  // a copy: a session that ends takes itself out of the set
    for (const auto& session : all) session->end_if_denied();
  });
  impl_->shared->tasks.keep("accepting agents", [self = impl_] { return impl::accept(self); });
  impl_->shared->tasks.keep("admitting agents", [self = impl_] { return impl::admit(self); });
  impl_->shared->tasks.keep("measuring the load of handshakes",
                            [self = impl_] { return impl::follow_load(self); });
  return {};
}

std::uint16_t listener::port() const noexcept { return impl_->port; }
const ingest_counters& listener::counters() const noexcept { return impl_->shared->counters; }

std::vector<contest> listener::contests(instant now) const {
  std::vector<contest> out;
  shared_state& c = *impl_->shared;
  std::erase_if(c.contested, [&](const auto& at) { return !c.link_of(at.second).swaps.contested(now); });
  for (const auto& [name, id] : c.contested) {
    const node_link& link = c.link_of(id);
    const auto stays = link.current.lock();
    out.push_back({name, stays ? stays->address() : std::string(), link.other});
  }
  return out;
}

std::vector<repeated_end> listener::repeated_ends(instant now) const {
  // An agent that refuses a message says what it does not know in it. The sentences of other reasons have
  // figures that differ from session to session.
  std::map<std::pair<wire::reason, std::string>, repeated_end> groups;
  const auto group_of = [&](const wire::fault& why) -> repeated_end& {
    const std::pair own{why.why, why.why == wire::reason::bad_message ? why.message : std::string()};
    const bool known = groups.contains(own);
    return groups[known || groups.size() < most_repeated_ends ? own : std::pair{why.why, std::string()}];
  };
  shared_state& c = *impl_->shared;
  std::erase_if(c.restless, [&](const auto& at) { return c.link_of(at.second).ends.again(now) == nullptr; });
  for (const auto& [name, id] : c.restless) {
    const wire::fault& why = *c.link_of(id).ends.again(now);
    repeated_end& one = group_of(why);
    one.why = why;
    one.nodes.push_back(name);
  }
  std::vector<repeated_end> out;
  for (auto& [why, one] : groups) out.push_back(std::move(one));
  return out;
}

void listener::pods_deleted(const std::vector<std::string>& uids, instant now) {
  shared_state& c = *impl_->shared;
  for (const std::string& uid : uids) {
    c.gone_pods.add(uid, now);
    const auto at = c.by_pod.find(uid);
    const auto session = at == c.by_pod.end() ? nullptr : at->second.lock();
    if (session) session->close(wire::reason::not_authorised, std::string(pod_is_gone));
  }
}

void listener::node_deleted(std::string_view name) {
  shared_state& c = *impl_->shared;
  const auto id = c.core.store().find(canonical_node(name));
  const auto session = id ? c.link_of(*id).current.lock() : nullptr;
  if (session)
    session->close(wire::reason::reauthentication, "the Node object has been deleted: say hello again");
}

void listener::set_interest(wire::interest wanted) {
  wire::interest& now = impl_->shared->interest;
  if (now == wanted) return;
  now = std::move(wanted);
  for (const auto& session : impl_->shared->sessions) session->send_interest();
}

void listener::stop(std::chrono::milliseconds grace, std::function<void()> done) {
  impl& i = *impl_;
  i.stopping = true;
  if (i.door) i.door->close();
  i.silent.close();
  while (!i.line.empty()) {
    arrival waiting = i.line.next();
    turn_away(waiting.socket);
  }
  i.shared->counters.queued = 0;
  i.queued.notify();
  i.first_begun.notify();
  // A copy: a session that ends takes itself out of the set.
  const auto open = i.shared->sessions;
  for (const auto& session : open)
    session->close(wire::reason::shutting_down, "the aggregator is shutting down");
  const async::deadline until = within(grace);
  i.leaving.spawn("saying goodbye", impl::drain(impl_, until, std::move(done)));
}

}  // namespace binnacle::ingest
