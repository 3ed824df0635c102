#include "agent/uplink_link.hpp"

namespace binnacle::agent {

using async::task;
using async::within;

struct uplink_link::session {
  session(async::stream s, const board& b) : stream(std::move(s)), machine(wire::agent_session::settings{}), content(b) {}
  async::stream stream;
  wire::agent_session machine;
  feed content;
  wire::batch batch;
  wire::bytes out;
  bool over = false;      // nothing more is to be read; the writer sends what is left and closes
  bool surplus = false;   // another link has this replica
  bool said_goodbye = false;
};

uplink_link::uplink_link(std::shared_ptr<uplink_core> shared, endpoint to)
    : core_(std::move(shared)), to_(std::move(to)), due_(core_->loop), backoff_(wire::backoff::settings{}) {}

link_report uplink_link::report() const {
  return {replica_.empty() ? to_.host + ":" + std::to_string(to_.port) : replica_, connected_, batches_};
}

task<void> uplink_link::run(std::shared_ptr<uplink_link> self) {
  const auto& core = *self->core_;
  while (!core.stopping) {
    self->retry_after_ = {};
    auto ended = co_await self->live();
    if (core.stopping) break;
    if (ended.has_error() && ended.error().message != self->said_) {
      self->said_ = ended.error().message;
      core.log.warning("{}:{}: {}; trying again", self->to_.host, self->to_.port, self->said_);
    }
    ++self->core_->reconnects;
    const async::deadline until = within(self->backoff_.next(self->core_->random, self->retry_after_));
    // wake() also comes with every change of the board; only stopping ends the wait.
    while (!core.stopping && co_await self->due_.wait(until)) {}
  }
}

task<result<void>> uplink_link::live() {
  const uplink_options& options = core_->options;
  auto connected =
      co_await async::connect(to_.host, to_.port, options.tls->current(), options.server_name, within(options.connect_deadline));
  if (connected.has_error()) co_return connected.error();
  auto s = std::make_shared<session>(std::move(connected.value()), core_->from);
  const instant now = boot_clock::now();
  if (auto said = s->machine.start(options.hello, now); said.has_error()) co_return error{errc::invalid_input, said.error().message};

  async::task_group both(core_->loop, core_->log);
  both.spawn("uplink writer", write(s));
  co_await read(s);
  s->over = true;
  due_.notify();
  co_await both.wait(within(options.write_deadline));
  s->stream.close();
  co_await both.wait();

  core_->conflated += s->content.conflated();
  if (connected_) core_->held.erase(replica_);
  connected_ = false;
  replica_.clear();
  if (s->surplus) co_return result<void>{};
  if (const auto& why = s->machine.ended()) co_return error{errc::disconnected, why->message};
  co_return error{errc::disconnected, "the connection was lost"};
}

// Until the session ends or the connection does.
task<void> uplink_link::read(std::shared_ptr<session> s) {
  for (;;) {
    const instant now = boot_clock::now();
    drain_events(*s, now);
    if (s->machine.ended() || s->said_goodbye) co_return;
    due_.notify();  // what the machine answered, or what may be sent now
    const instant next = s->machine.next_deadline();
    const async::deadline until = next == instant::max() ? async::never : within(std::max(next - now, duration::zero()));
    if (auto readable = co_await s->stream.wait_readable(until); readable.has_error()) {
      if (readable.error().code == errc::timeout) continue;
      co_return;
    }
    const auto room = s->machine.prepare(512);
    const std::span<char> to(reinterpret_cast<char*>(room.data()), room.size());
    auto got = co_await s->stream.read_some(to, within(core_->options.write_deadline));
    if (got.has_error() || got.value() == 0) co_return;
    s->machine.received(got.value());
  }
}

void uplink_link::drain_events(session& s, instant now) {
  using event = wire::agent_session::event;
  for (;;) {
    switch (s.machine.next(now)) {
      case event::nothing: return;
      case event::welcomed: welcomed(s); break;
      case event::renewed: break;
      case event::interest:
        if (core_->options.on_interest) core_->options.on_interest(s.machine.last_interest());
        break;
      case event::credential_due:
        // The certificate speaks for the node; only the machine's answer is due.
        if (auto said = s.machine.renew({}, now); said.has_error()) s.machine.close(said.error().why, said.error().message);
        break;
      case event::ended: retry_after_ = s.machine.retry_after(); return;
    }
  }
}

void uplink_link::welcomed(session& s) {
  const wire::welcome& greeting = s.machine.greeting();
  if (!core_->held.insert(greeting.replica_id).second) {
    s.surplus = true;
    s.machine.close(wire::reason::superseded, "this agent already has a link to replica " + greeting.replica_id);
    return;
  }
  replica_ = greeting.replica_id;
  connected_ = true;
  backoff_.reset();
  said_.clear();
  core_->log.info("connected to replica {} at {}:{}", replica_, to_.host, to_.port);
  // The address may stand for several replicas: one link for each.
  std::size_t links_here = 0;
  for (const auto& link : core_->links) links_here += link->to().host == to_.host && link->to().port == to_.port ? 1 : 0;
  for (; links_here < greeting.replicas && core_->links.size() < 64; ++links_here) {
    auto another = std::make_shared<uplink_link>(core_, to_);
    core_->links.push_back(another);
    core_->tasks.spawn("uplink", run(another));
  }
}

result<void> uplink_link::put_what_is_due(session& s, instant now) {
  if (s.machine.now_in() != wire::agent_session::state::streaming || s.surplus) return {};
  if (s.content.catalog_due()) {
    if (auto put = s.machine.send(s.content.announce(), now); put.has_error()) return error{errc::invalid_input, put.error().message};
  }
  if (s.content.statuses_due()) {
    if (auto put = s.machine.send(s.content.take_statuses(), now); put.has_error()) return error{errc::internal, put.error().message};
  }
  if (s.content.batch_due() || s.machine.needs_full()) {
    s.content.fill(s.batch, s.machine.needs_full());
    if (auto put = s.machine.send(s.batch, now); put.has_error()) return error{errc::internal, put.error().message};
    ++batches_;
  }
  if (core_->stopping && !s.said_goodbye) {
    s.said_goodbye = true;
    s.machine.close(wire::reason::shutting_down, "the agent is stopping");
  }
  return {};
}

// One write at a time: what changes while it lasts waits on the board, and the newest value goes.
task<void> uplink_link::write(std::shared_ptr<session> s) {
  for (;;) {
    if (auto put = put_what_is_due(*s, boot_clock::now()); put.has_error()) {
      core_->log.error("{}:{}: {}", to_.host, to_.port, put.error().message);
      s->machine.close(wire::reason::bad_message, put.error().message);
    }
    if (s->machine.output_size() > 0) {
      s->machine.take_output(s->out);
      const std::string_view text(reinterpret_cast<const char*>(s->out.data()), s->out.size());
      auto sent = co_await s->stream.write(text, within(core_->options.write_deadline));
      if (sent.has_error()) break;
      continue;
    }
    if (s->over || s->machine.ended() || s->said_goodbye) break;
    co_await due_.wait();
  }
  s->stream.end_writing();
  if (!s->over) s->stream.close();  // wakes the reader
}

}  // namespace binnacle::agent
