// One agent's connection, from the handshake to the last word.
//
//   greet()  TLS, certificate ─→ serve()  hello, welcome, catalog, batches, clocks, statuses ─→ linger()
//
// The protocol is a machine without a socket (wire::aggregator_session). This class carries the machine's
// bytes, and turns its results into events of the core. It reads and writes in two coroutines, since an agent
// that does not read must not keep us from hearing it. What the machine wants to say is sent by flush(), one
// write at a time.
//
// - A catalog is read and prepared on a thread beside the loop: it may have thousands of series, and all
//   other agents' values would wait. Meanwhile nothing else of this session is read (preparing_), because
//   batches refer to series of the catalog. If an agent announces a catalog more than once a second, only
//   this agent is read more slowly.
// - Most sessions wait most of the time. So a session has no read buffer while it waits, and reads get larger
//   only for an agent that sends much.
// - Reading times are by the agent's clock. Each batch and each answer to a clock question improves what we
//   know of the difference to our clock (link_offset). The offset belongs to the node's link and not to the
//   session, so it outlives a reconnect.
// - A session may be replaced by a newer one of its node at any moment. leave() tells the core that the
//   node is disconnected only if the session still has the node.
// - If a socket is closed while bytes of the peer are unread, the kernel resets the connection, and the agent
//   does not learn why the session ended. So the last message is written first, and the peer's bytes are read
//   for two more seconds (linger).

#include "aggregator/ingest/agent_session.hpp"

#include "common/clock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace binnacle::ingest {

using namespace std::chrono_literals;
using async::task;
using async::within;
using machine_event = wire::aggregator_session::event;

namespace {

/// How long a peer may take to read why its session ended.
constexpr duration last_words = 2s;

std::span<char> as_chars(std::span<std::byte> b) { return {reinterpret_cast<char*>(b.data()), b.size()}; }

wire::aggregator_session::settings settings_of(const ingest_options& o) {
  wire::aggregator_session::settings s;
  s.silence = o.silence;
  return s;
}

}  // namespace

agent_session::agent_session(std::shared_ptr<shared_state> shared, async::stream peer, const network& from,
                             const network& address)
    : shared_(std::move(shared)),
      address_(address),
      seat_(shared_->greeting.enter(from, this)),
      peer_(std::move(peer)),
      machine_(settings_of(shared_->options), boot_clock::now()),
      prepared_(shared_->loop) {
  ++shared_->counters.greeting;
}

agent_session::~agent_session() { leave(boot_clock::now()); }

std::string agent_session::who() const {
  return name_.empty() ? peer_.peer_address() : fmt::format("{} ({})", name_, peer_.peer_address());
}

void agent_session::tell(std::string_view sentence, instant now) {
  line_throttle& lines = node_ ? shared_->link_of(*node_).lines : shared_->lines_of_strangers;
  if (const auto more = lines.left_out(now))
    shared_->log.info("{}: {} more lines in ten seconds were left out", node_ ? name_ : "connections", more);
  if (lines.take(now)) shared_->log.info("{}", sentence);
}

task<void> agent_session::run(std::shared_ptr<agent_session> self) {
  // Undoes what the coroutine began, however it ends, also by an exception.
  struct departure {
    explicit departure(std::shared_ptr<agent_session> who) : s(std::move(who)) {
      s->shared_->sessions.insert(s);
    }
    departure(const departure&) = delete;
    departure& operator=(const departure&) = delete;
    ~departure() {
      s->leave(boot_clock::now());
      s->shared_->sessions.erase(s);
      if (s->gone_) s->gone_->notify();
      if (!s->flushing_) s->peer_.close();
    }
    std::shared_ptr<agent_session> s;
  };
  const departure at_the_end(self);
  const bool greeted = co_await self->greet();
  if (!greeted) co_return;
  co_await self->serve();
  co_await self->linger();
}

task<bool> agent_session::greet() {
  auto shaken = co_await peer_.handshake(within(shared_->options.handshake_deadline));
  if (shared_->closed || machine_.ended()) co_return false;
  // The list of denied serials may have changed during the handshake.
  if (is_denied()) co_return false;
  shaken_ = true;
  if (!shaken.has_error() && (peer_.peer_identity(identity_) || shared_->options.review)) co_return true;
  const bool flood = shaken.has_error() && shaken.error().code == errc::overloaded;
  ++(flood ? shared_->counters.floods : shared_->counters.handshake_failures);
  const std::string why = shaken.has_error() ? shaken.error().message : "the agent has no certificate";
  shared_->handshake_warning.say(shared_->log, boot_clock::now(),
                                 fmt::format("no session with {}: {}", who(), why));
  co_return false;
}

task<void> agent_session::serve() {
  while (!machine_.ended()) {
    const instant now = boot_clock::now();
    const instant due = machine_.next_deadline();
    const async::deadline until =
        due == instant::max() ? async::never : within(std::max(due - now, duration::zero()));
    auto ready = co_await peer_.wait_readable(until);
    std::size_t got = 0;
    if (ready.has_value()) {
      // The buffer is made only now: thousands of sessions wait without one.
      const auto room = as_chars(machine_.prepare(wish_));
      auto read = co_await peer_.read_some(room, until);
      if (read.has_value()) got = *read;
      if (read.has_error() && read.error().code != errc::timeout) ready = read.error();
      if (read.has_value() && got == 0) ready = error{errc::disconnected, "the agent closed the connection"};
      // A peer that fills its buffer gets larger reads, up to four TLS records.
      wish_ = got == room.size() ? std::min(wish_ * 2, most_read) : least_read;
    }
    if (shared_->closed) co_return;
    if (ready.has_error() && ready.error().code != errc::timeout) {
      if (!machine_.ended()) {
        const bool flood = ready.error().code == errc::overloaded;
        ++(flood ? shared_->counters.floods
                 : shared_->counters.ended[static_cast<std::size_t>(wire::reason::closed_by_peer)]);
        counted_end_ = true;
        tell(fmt::format("{}: {}", who(), ready.error().message), boot_clock::now());
      }
      co_return;
    }
    machine_.received(got);
    shared_->counters.bytes += got;
    drain_events(boot_clock::now());
    while (!machine_.ended() && (preparing_ || unread_ || waits_until_ > boot_clock::now())) {
      if (preparing_) {
        (void)co_await prepared_.wait();
      } else {
        co_await async::sleep_for(std::max(waits_until_ - boot_clock::now(), duration::zero()));
      }
      if (shared_->closed) co_return;
      if (!preparing_ && waits_until_ <= boot_clock::now()) drain_events(boot_clock::now());
    }
  }
}

/// Does nothing while a catalog is being prepared, because the next messages depend on it. A peer may send
/// hundreds of short messages at once, each of which costs a look at ten thousand series or unpacks to 4 MiB,
/// so other peers get their turns in between. A message that cannot be read ends the turn, because the
/// exception may cost more than its bytes.
void agent_session::drain_events(instant now) {
  if (waits_until_ > now) return;
  const std::uint64_t frames = machine_.counters().frames_in, unknown = machine_.counters().unknown_kinds;
  std::size_t work = 0;
  unread_ = false;
  for (bool more = !preparing_; more && !unread_;) {
    const std::uint64_t unpacked = machine_.unpacked();
    const machine_event what = machine_.next(now);
    work += work_of_a_message + (machine_.unpacked() - unpacked) / bytes_of_a_series;
    switch (what) {
      case machine_event::nothing: more = false; break;
      case machine_event::hello:
        if (node_) waits_until_ = shared_->link_of(*node_).renewals.took(now);
        on_hello(now);
        more = waits_until_ <= now || machine_.ended();
        break;
      case machine_event::catalog:
        on_catalog(now);
        more = false;
        break;
      case machine_event::batch: {
        const std::uint64_t compared = shared_->core.engine().counters().compared;
        on_batch(now);
        work += series_ + work_of_a_rule * (shared_->core.engine().counters().compared - compared);
        break;
      }
      case machine_event::clock: on_clock(now); break;
      case machine_event::statuses: shared_->core.sources(*node_, machine_.take_statuses(), now); break;
      case machine_event::left_out: work = most_work; break;
      case machine_event::ended:
        on_end(now);
        more = false;
        break;
    }
    unread_ = more && work >= most_work;
  }
  shared_->counters.frames += machine_.counters().frames_in - frames;
  shared_->counters.unknown_kinds += machine_.counters().unknown_kinds - unknown;
  count_left_out(now);
  send();
}

void agent_session::count_left_out(instant now) {
  const auto fresh = machine_.take_left_out();
  if (fresh == 0) return;
  shared_->counters.left_out += fresh;
  shared_->left_out_warning.say(
      shared_->log, now,
      fmt::format("{}: left out of what the agent sent: {}", who(), machine_.left_out().last.message));
}

/// What the thread beside the loop has made from a catalog.
struct agent_session::worked_out {
  wire::outcome<wire::catalog_outline> outline;
  wire::omissions left_out;
  std::optional<store::prepared_catalog> prepared;  // none: it could not be read
};

// The catalog is prepared beside the loop, because a long one would delay the values of all other agents. It
// counts when it comes: an agent that is gone before it is prepared has cost as much.
void agent_session::on_catalog(instant now) {
  waits_until_ = shared_->link_of(*node_).catalogs.took(now);
  if (waits_until_ > now) {
    ++shared_->counters.slowed_catalogs;
    shared_->catalog_warning.say(shared_->log, now,
                                 fmt::format("{} announces a new catalog more than once a second and is read "
                                             "more slowly: see which of its sources change their series",
                                             who()));
  }
  preparing_ = true;
  auto made = std::make_shared<worked_out>();
  auto work = [made, sealed = std::make_shared<wire::sealed_catalog>(machine_.take_catalog()),
               prepare = shared_->core.store().preparation(*node_)] {
    auto opened = std::exchange(*sealed, {}).open();
    made->outline = opened.outline();
    made->left_out = std::move(opened.left_out);
    if (opened.what.has_value()) made->prepared = prepare(std::move(*opened.what));
  };
  shared_->beside.run(std::move(work), [made, weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_worked_out(std::move(*made), boot_clock::now());
  });
}

void agent_session::on_worked_out(worked_out what, instant now) {
  preparing_ = false;
  prepared_.notify();
  if (shared_->closed || machine_.ended() || left_) return;
  machine_.adopt(what.outline, what.left_out, now);
  count_left_out(now);
  if (!what.prepared) {
    on_end(now);
    return send();
  }
  auto outcome = shared_->core.catalog(*node_, std::move(*what.prepared), now);
  if (outcome.has_error()) {
    const bool ours = outcome.error().code == errc::overloaded;
    return close(ours ? wire::reason::overloaded : wire::reason::catalogue_too_large,
                 outcome.error().message);
  }
  if (!outcome->refusals.empty())
    shared_->refusal_warning.say(shared_->log, now,
                                 fmt::format("{}: {}", name_, fmt::join(outcome->refusals, "; ")));
  series_ = outcome->cells->series().announced;
}

void agent_session::on_batch(instant now) {
  const wire::batch& b = machine_.last_batch();
  wire::link_offset& clock = shared_->link_of(*node_).clock;
  if (clock.add(b.sent_at_ns, now)) machine_.doubt_clock(now);
  auto applied = shared_->core.batch(*node_, b, clock.offset(), now);
  if (applied.has_error()) return machine_.close(wire::reason::unknown_series, applied.error().message);
  ++shared_->counters.batches;
  shared_->counters.samples += b.values.size();
}

void agent_session::on_clock(instant now) {
  const wire::clock_reading& c = machine_.last_clock();
  wire::link_offset& clock = shared_->link_of(*node_).clock;
  switch (clock.heard(from_us(c.aggregator_us), to_ns(from_us(c.agent_us)), now)) {
    case wire::link_offset::agreement::yes: break;
    case wire::link_offset::agreement::no: machine_.doubt_clock(now); break;
    case wire::link_offset::agreement::restarted:
      ++shared_->counters.clock_resets;
      shared_->clock_warning.say(
          shared_->log, now,
          fmt::format("{}: its clock lost or gained time against ours; the difference is learnt again",
                      who()));
      break;
  }
}

void agent_session::on_end(instant now) {
  if (counted_end_ || !machine_.ended()) return;
  counted_end_ = true;
  const wire::fault& why = *machine_.ended();
  ++shared_->counters.ended[static_cast<std::size_t>(why.why)];
  if (why.why == wire::reason::clock_backwards && node_) {
    // The agent's clock went back, so the old offset is wrong. It is dropped now; otherwise ages would be
    // wrong for ten more minutes.
    ++shared_->counters.clock_resets;
    shared_->link_of(*node_).clock = {};
  }
  watch_ends(why, now);
  switch (why.why) {
    case wire::reason::closed_by_peer:
    case wire::reason::superseded:
    case wire::reason::shutting_down:
      tell(fmt::format("{}: the session ended: {}", who(), why.text()), now);
      break;
    default:
      shared_->end_warnings[static_cast<std::size_t>(why.why)].say(
          shared_->log, now, fmt::format("{}: the session ended: {}", who(), why.text()));
  }
}

// The agent's goodbye says why it ends the session. That reason is counted like a reason of our own.
void agent_session::watch_ends(const wire::fault& why, instant now) {
  if (!node_) return;
  wire::fault told = why;
  if (why.why == wire::reason::closed_by_peer) {
    told.why = wire::reason_of(why.message);
    const auto name = to_string(told.why);
    if (why.message.starts_with(name)) told.message.erase(0, std::min(name.size() + 2, told.message.size()));
  }
  switch (told.why) {
    case wire::reason::closed_by_peer:
    case wire::reason::superseded:
    case wire::reason::shutting_down: return;
    default: break;
  }
  node_link& link = shared_->link_of(*node_);
  link.ends.ended(told, now);
  if (link.ends.again(now) != nullptr) shared_->restless.emplace(name_, *node_);
}

void agent_session::close(wire::reason why, std::string sentence) {
  machine_.close(why, std::move(sentence));
  on_end(boot_clock::now());
  prepared_.notify();  // it waits for no catalog any more
  if (shaken_) return send();
  peer_.close();  // there is nobody to tell why
}

void agent_session::send_interest() {
  if (!welcomed() || machine_.ended()) return;
  (void)machine_.want(shared_->interest);
  send();
}

void agent_session::send() {
  if (flushing_ || shared_->closed || machine_.output_size() == 0) return;
  flushing_ = true;
  shared_->tasks.spawn("sending to an agent", flush(shared_from_this()));
}

task<void> agent_session::flush(std::shared_ptr<agent_session> self) {
  wire::bytes out;
  while (self->machine_.output_size() > 0) {
    self->machine_.take_output(out);
    const std::string_view text(reinterpret_cast<const char*>(out.data()), out.size());
    auto sent = co_await self->peer_.write(text, within(self->shared_->options.write_deadline));
    if (sent.has_error()) {
      self->peer_.close();  // the reader sees it and ends
      break;
    }
  }
  if (self->machine_.ended() && !self->left_) {
    // The reader sees the peer's end, or we end its waiting.
    self->peer_.end_writing();
    self->gone_.emplace(self->shared_->loop);
    const async::deadline until = within(last_words);
    co_await self->gone_->wait(until);
  }
  self->flushing_ = false;
  if (self->machine_.ended()) self->peer_.close();
}

/// Reads on for a while after the last message was written. If we closed now with bytes of the peer unread,
/// the kernel would reset the connection and the peer would lose that message.
task<void> agent_session::linger() {
  const async::deadline until = within(last_words);
  std::size_t patience = 4u << 20;
  while (patience > 0) {
    char room[2048];
    auto got = co_await peer_.read_some(room, until);
    if (got.has_error() || *got == 0) co_return;
    patience -= std::min(patience, *got);
  }
}

bool agent_session::is_denied() {
  if (!peer_.peer_is_denied(*shared_->options.tls)) return false;
  const instant now = boot_clock::now();
  shared_->counters.denied.add(peer_.peer_address(), now);
  shared_->handshake_warning.say(
      shared_->log, now,
      fmt::format("no session with {}: the serial number of its certificate is denied", who()));
  return true;
}

void agent_session::end_if_denied() {
  if (shaken_ && !machine_.ended() && is_denied())
    close(wire::reason::not_authorised, "the serial number of the agent's certificate is denied");
}

void agent_session::leave_seat() {
  if (seat_) shared_->greeting.leave(*seat_);
  seat_.reset();
}

void agent_session::evict() {
  leave_seat();
  peer_.close();
}

/// Sets the pod whose deletion ends the session; empty: none.
void agent_session::belong_to(std::string pod) {
  auto& all = shared_->by_pod;
  if (const auto at = all.find(pod_); at != all.end()) {
    const auto whose = at->second.lock();
    if (!whose || whose.get() == this) all.erase(at);  // else a newer session of the pod has come
  }
  pod_ = std::move(pod);
  if (!pod_.empty()) all[pod_] = weak_from_this();
  shared_->counters.pods = all.size();
}

void agent_session::leave(instant now) {
  shared_state& c = *shared_;
  leave_seat();
  if (std::exchange(left_, true)) return;
  belong_to({});
  if (!node_) {
    --c.counters.greeting;
    return;
  }
  --c.counters.open;
  node_link& link = c.link_of(*node_);
  if (link.current.lock().get() != this) return;  // a newer session has the node
  link.current.reset();
  if (c.closed) return;
  c.core.disconnected(*node_, now);
}

}  // namespace binnacle::ingest
