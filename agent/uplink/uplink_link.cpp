// One slot of the uplink: dials an aggregator, keeps a session, and begins again.
//
// link_plan says how many slots there are and which of them may dial. Each has one coroutine that runs as
// long as the agent. Within a session two more run, a reader and a writer: if an aggregator does not read, we
// must still be able to read why.
//
// Nothing queues. The writer asks what has changed on the board since its last batch (feed), writes one
// batch, and asks again when that is out. On a slow line, if a value changes ten times meanwhile, only the
// newest value is sent, and the others are counted as conflated. After a reconnect everything is sent anew,
// so nothing has to be remembered of a session that broke.
//
// How long to stay away depends on why a session ended:
// - The aggregator asked for a time: at least that long.
// - Two of our links met at one replica, because one address leads to several. The other link keeps it. This
//   one looks for another replica, with pauses of its own, since each look costs the aggregator a swap of
//   sessions.
// - No replica is known to be missing, and an address that nobody has met gave no link. It may be the address
//   of a pod whose aggregator does not listen yet. The link makes random pauses of at most ten seconds, and
//   logs no warning.
// - Anything else: random pauses that grow, and are short again once a session has lasted. Just after the
//   start, that nobody answers is no warning yet: in a fresh cluster agents begin before aggregators.
//
// Under TLS 1.3 a server refuses our certificate after our side of the handshake is done. The alert
// arrives while the first write already fails, so the reader goes on for a second to get the reason.

#include "agent/uplink/uplink_link.hpp"

#include "common/rate_limit.hpp"
#include "common/tls/own_certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr std::string_view link_protocol = "binnacle/1";

// Pauses while a slot looks for a further replica behind an address that leads to known ones. Each look that
// fails costs the aggregator a swap of sessions.
constexpr backoff::settings search_pauses{std::chrono::milliseconds(500), std::chrono::seconds(2),
                                          std::chrono::seconds(60)};

// Pauses for the address of a pod that is not ready yet, or has gone.
constexpr backoff::settings meeting_pauses{.cap = std::chrono::seconds(10)};

// How long we go on reading from a connection that takes no more bytes: the peer may have said why it ended
// the session.
constexpr std::chrono::seconds read_on_for(1);

/// Whether this is how it looks when nobody answers at an address. A refusal looks different.
bool is_of_nobody(errc code) {
  return code == errc::not_found || code == errc::timeout || code == errc::disconnected;
}

}  // namespace

using async::task;
using async::within;

struct uplink_link::session {
  session(async::stream s, const board& b, const send_pace& pace)
      : stream(std::move(s)), machine(wire::agent_session::settings{}), content(b, pace) {}
  async::stream stream;
  wire::agent_session machine;
  feed content;
  wire::batch batch;
  wire::bytes out;
  std::optional<wire::interest> passed_on;
  bool wants_anew = false;  // the machine's last interest is another one than passed_on
  rate_limit interests{uplink_options::most_interests_at_once, std::chrono::seconds(1)};
  std::optional<error> refusal;  // of our certificate; under TLS 1.3 it comes after the handshake
  bool over = false;             // nothing more is read; the writer sends what is left and closes
  bool said_goodbye = false;
};

uplink_link::uplink_link(std::shared_ptr<uplink_core> shared, std::size_t slot)
    : core_(std::move(shared)),
      slot_(slot),
      to_(core_->options.aggregators[core_->plan.address_of(slot)]),
      address_(to_string(to_)),
      due_(core_->loop),
      search_(search_pauses),
      meeting_(meeting_pauses) {}

std::uint64_t uplink_link::conflated() const {
  const auto s = present_.lock();
  return s ? s->content.conflated() : 0;
}

void uplink_link::let_go() {
  const auto s = present_.lock();
  if (!s) return;
  let_go_ = true;
  s->machine.close(wire::reason::superseded, "another link of this agent has this replica now");
  due_.notify();
}

task<void> uplink_link::run(std::shared_ptr<uplink_link> self) {
  auto& core = *self->core_;
  self->lost();  // in case an exception ended this coroutine's last run
  while (!core.stopping) {
    // wake() is called at every change of the board, so ask the plan again each time.
    while (!core.stopping && !core.plan.may_dial(self->slot_)) {
      self->search_.reset();
      self->meeting_.reset();
      co_await self->due_.wait();
    }
    if (core.stopping) break;
    self->retry_after_ = {};
    self->let_go_ = false;
    self->superseded_ = false;
    self->welcomed_ = false;
    const bool only_meets = core.plan.only_meets(self->slot_);
    core.plan.dials(self->slot_);
    auto ended = co_await self->live();
    const bool found_nobody = only_meets && core.plan.at(self->slot_).empty();
    core.plan.lost(self->slot_);
    if (core.stopping) break;
    const instant now = boot_clock::now();
    if (self->pauses_.ended(now)) self->said_.clear();
    // Two of our links met at one replica. The aggregator may tell the older link so before the newer link
    // has read its welcome.
    const bool by_us = self->let_go_ || (self->superseded_ && core.plan.may_be_replaced_by_us(self->slot_));
    const bool met_nobody = only_meets && !self->welcomed_;
    if (!by_us && !found_nobody && ended.has_error()) {
      const bool is_early = !core.met_one && now < core.meet_by && is_of_nobody(ended.error().code);
      if ((is_early ? self->said_early_ : self->said_).is_news(ended.error().message)) {
        core.log.write(met_nobody || is_early ? log_level::info : log_level::warning,
                       fmt::format("{}: {}; trying again", self->address_, ended.error().message));
      }
    }
    if (!by_us && !met_nobody) ++core.reconnects;
    const duration pause =
        by_us        ? self->search_.next(core.random, self->retry_after_)
        : met_nobody ? self->meeting_.next(core.random, self->retry_after_)
                     : self->pauses_.next(core.random, self->retry_after_, now, core.plan.connected() > 0);
    const async::deadline until = within(pause);
    // The wait ends early only when the agent stops or another replica's address appears.
    while (!core.stopping && !core.plan.has_new_address(self->slot_) && co_await self->due_.wait(until)) {
    }
  }
}

task<result<void>> uplink_link::live() {
  const uplink_options& options = core_->options;
  if (const auto renewed = options.tls->reload_if_changed(); renewed.has_error()) {
    core_->log.warning("{}", renewed.error().message);
  }
  const async::address_choice choose = [self = shared_from_this()](const std::vector<std::string>& found) {
    return self->core_->plan.choose(self->slot_, found);
  };
  auto connected = co_await async::connect(to_.host, to_.port, options.tls->current(), options.server_name,
                                           within(options.connect_deadline), choose);
  if (connected.has_error()) co_return connected.error();
  core_->plan.reached(slot_, connected.value().peer_address());
  if (connected.value().alpn() != link_protocol) {
    co_return error{
        errc::protocol,
        fmt::format("what answers there does not speak {}: is this the aggregator's port for agents?",
                    link_protocol)};
  }
  connected.value().as_live_feed(options.write_deadline);
  auto s = std::make_shared<session>(std::move(connected.value()), core_->from, core_->pace);
  auto hello = options.hello;
  if (options.credential) {
    auto token = options.credential();
    if (token.has_error()) co_return token.error();
    hello.credential = std::move(*token);
  }
  if (auto said = s->machine.start(std::move(hello), boot_clock::now()); said.has_error())
    co_return error{errc::invalid_input, said.error().message};

  present_ = s;
  async::task_group both(core_->loop, core_->log);
  both.spawn("uplink writer", write(s));
  co_await read(s);
  s->over = true;
  due_.notify();
  co_await both.wait(within(options.write_deadline));
  s->stream.close();
  co_await both.wait();

  core_->conflated += s->content.conflated();
  lost();
  if (const auto& why = s->machine.ended()) {
    superseded_ = why->why == wire::reason::superseded;
    co_return error{errc::disconnected, why->message};
  }
  error lost{errc::disconnected, "the connection was lost"};
  co_return with_our_dates(s->refusal.value_or(std::move(lost)));
}

void uplink_link::lost() {
  if (!std::exchange(connected_, false)) return;
  if (core_->options.on_lost) core_->options.on_lost(slot_);
  core_->pace.lost(slot_, boot_clock::now());
  core_->plan.lost(slot_);
  core_->plan_changed();
}

// Adds what our own clock says about our certificate's dates. If it is out of date, that says more than the
// peer's error.
error uplink_link::with_our_dates(const error& why) const {
  const auto wrong = tls::out_of_date(core_->options.tls->current().get());
  return {why.code, wrong.empty() ? why.message : fmt::format("{} ({})", why.message, wrong)};
}

// Reads until the session or the connection ends.
task<void> uplink_link::read(std::shared_ptr<session> s) {
  for (;;) {
    const instant now = boot_clock::now();
    drain_events(*s, now);
    if (s->machine.ended() || s->said_goodbye) co_return;
    pass_interest_on(*s, now);
    due_.notify();  // the writer may have an answer of the machine to send
    const instant pass_on_at = s->wants_anew ? s->interests.next() : instant::max();
    const instant next = std::min(s->machine.next_deadline(), pass_on_at);
    const async::deadline until =
        next == instant::max() ? async::never : within(std::max(next - now, duration::zero()));
    if (auto readable = co_await s->stream.wait_readable(until); readable.has_error()) {
      if (readable.error().code == errc::timeout) continue;
      co_return;
    }
    const auto room = s->machine.prepare(512);
    const std::span<char> to(reinterpret_cast<char*>(room.data()), room.size());
    auto got = co_await s->stream.read_some(to, within(core_->options.write_deadline));
    if (got.has_error() && got.error().code == errc::permission) s->refusal = got.error();
    if (got.has_error() || got.value() == 0) co_return;
    s->machine.received(got.value());
  }
}

void uplink_link::drain_events(session& s, instant now) {
  using event = wire::agent_session::event;
  for (;;) {
    const event what = s.machine.next(now);
    count_left_out(s, now);
    switch (what) {
      case event::nothing: return;
      case event::welcomed: welcomed(s); break;
      case event::renewed: break;
      case event::interest: s.wants_anew = s.passed_on != s.machine.last_interest(); break;
      case event::credential_due: {
        // Without a credential the certificate identifies the node, and only the machine's answer is due.
        const auto& credential = core_->options.credential;
        auto token = credential ? credential() : result<std::string>(std::string());
        if (token.has_error()) {
          s.machine.close(wire::reason::reauthentication, token.error().message);
        } else if (auto said = s.machine.renew(std::move(*token), now); said.has_error()) {
          s.machine.close(said.error().why, said.error().message);
        }
        break;
      }
      case event::ended: retry_after_ = s.machine.retry_after(); return;
    }
  }
}

// Each new interest costs a walk over the whole board, and with a budget a new catalog for all links. So an
// aggregator that changes its mind all the time is followed at a bounded pace: what it wants in between is
// left out, and what it wants last counts.
void uplink_link::pass_interest_on(session& s, instant now) {
  if (!s.wants_anew || !s.interests.take(now)) return;
  s.wants_anew = false;
  s.passed_on = s.machine.last_interest();
  core_->pace.set_interest(slot_, *s.passed_on);
  if (core_->options.on_interest) core_->options.on_interest(slot_, *s.passed_on);
}

void uplink_link::count_left_out(session& s, instant now) {
  const auto fresh = s.machine.take_left_out();
  if (fresh == 0) return;
  core_->left_out += fresh;
  core_->left_out_warning.say(core_->log, now,
                              fmt::format("{}: left out of what the aggregator sent: {}", address_,
                                          s.machine.left_out().last.message));
}

void uplink_link::welcomed(session& s) {
  const wire::welcome& greeting = s.machine.greeting();
  replica_ = greeting.replica_id;
  std::erase_if(core_->sent, [&](const auto& known) {
    return std::ranges::none_of(core_->links, [&](const auto& l) { return l->leads_to() == known.first; });
  });
  connected_ = true;
  welcomed_ = true;
  core_->met_one = true;
  pauses_.welcomed(boot_clock::now());
  core_->log.info("connected to replica {} at {}", replica_, address_);
  if (const auto older = core_->plan.welcomed(slot_, replica_, greeting.replicas))
    core_->links[*older]->let_go();
  core_->plan_changed();
}

bool uplink_link::catalog_waits(const session& s, instant now) const {
  return s.content.catalog_due() && catalogs_.next() > now;
}

result<void> uplink_link::put_what_is_due(session& s, instant now) {
  if (s.machine.now_in() != wire::agent_session::state::streaming) return {};
  if (core_->pace.review(now)) {
    for (const auto& link : core_->links) link->wake();
  }
  if (core_->board_grows(now)) return {};
  if (s.content.catalog_due() && catalogs_.take(now)) {
    if (auto put = s.machine.send(s.content.announce(), now); put.has_error())
      return error{errc::invalid_input, put.error().message};
  }
  if (s.content.statuses_due()) {
    if (auto put = s.machine.send(s.content.take_statuses(), now); put.has_error())
      return error{errc::internal, put.error().message};
  }
  const bool full = s.machine.needs_full();
  if (s.content.has_announced() && (full || s.content.batch_due()) && s.content.fill(s.batch, full, now)) {
    const std::size_t before = s.machine.output_size();
    if (auto put = s.machine.send(s.batch, now); put.has_error())
      return error{errc::internal, put.error().message};
    ++core_->sent[leads_to()].batches;
    if (!full) {
      const std::size_t bytes = on_the_wire(s.machine.output_size() - before);
      const std::size_t watched = bytes * s.content.watched_share() / 1000;
      core_->pace.sent(watched, bytes - watched);
    }
  }
  if (core_->stopping && !s.said_goodbye) {
    s.said_goodbye = true;
    s.machine.close(wire::reason::shutting_down, "the agent is stopping");
  }
  return {};
}

// Writes one batch at a time. What changes meanwhile waits on the board, and the newest value is sent next.
task<void> uplink_link::write(std::shared_ptr<session> s) {
  bool broken = false;
  for (;;) {
    const instant now =
        boot_clock::now();  // one for all: a catalog whose time comes in between would be forgotten
    if (auto put = put_what_is_due(*s, now); put.has_error()) {
      core_->log.error("{}: {}", address_, put.error().message);
      s->machine.close(wire::reason::bad_message, put.error().message);
    }
    if (s->machine.output_size() > 0) {
      s->machine.take_output(s->out);
      const std::string_view text(reinterpret_cast<const char*>(s->out.data()), s->out.size());
      auto sent = co_await s->stream.write(text, within(core_->options.write_deadline));
      broken = sent.has_error();
      if (broken) break;
      core_->sent[leads_to()].bytes += on_the_wire(text.size());
      continue;
    }
    if (s->over || s->machine.ended() || s->said_goodbye) break;
    async::deadline until = async::never;
    if (core_->board_grows(now)) {
      until = within(core_->announce_by - now);
    } else if (catalog_waits(*s, now)) {
      until = within(catalogs_.next() - now);
    }
    co_await due_.wait(until);
  }
  s->stream.end_writing();
  // A peer that refuses our certificate says so and closes the connection. Its message must still be read.
  const async::deadline until = within(read_on_for);
  while (broken && !s->over && co_await due_.wait(until)) {
  }
  if (!s->over) s->stream.close();  // this wakes the reader
}

}  // namespace binnacle::agent
