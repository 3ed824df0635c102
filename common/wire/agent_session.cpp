#include "common/wire/agent_session.hpp"

#include <algorithm>

namespace binnacle::wire {
namespace {

using std::chrono::seconds;

// More than the sum of the largest messages that may wait for a slow link; each is one frame.
constexpr std::size_t most_unsent = 4 * max_frame_payload;

fault not_streaming() { return {reason::unexpected_message, "the session is not streaming"}; }

}  // namespace

agent_session::agent_session(const settings& s) : session(max_frame_payload), settings_(s) {}

outcome<void> agent_session::start(hello h, instant now) {
  if (state_ != state::idle) return fault{reason::unexpected_message, "the session was started before"};
  hello_ = std::move(h);
  hello_.protocol_major = protocol_major;
  hello_.protocol_minor = protocol_minor;
  auto done = put(hello_);
  forget(hello_.credential);
  if (done.has_error()) return done;
  state_ = state::awaiting_welcome;
  welcome_by_ = now + settings_.welcome_timeout;
  return done;
}

auto agent_session::next(instant now) -> event {
  if (state_ == state::ended) return event::ended;
  for (;;) {
    const auto frame = next_frame();
    if (frame.has_error()) return end(frame.error());
    if (!frame->has_value()) break;
    if (const event e = receive(**frame, now); e != event::nothing) return e;
  }
  if (now >= welcome_by_)
    return end({reason::hello_timeout,
                "the aggregator did not answer the hello in " + duration_text(settings_.welcome_timeout)});
  if (now >= renew_at_) {
    renew_at_ = instant::max();
    return event::credential_due;
  }
  keep_alive(now);
  return event::nothing;
}

instant agent_session::next_deadline() const noexcept {
  if (state_ == state::ended) return instant::max();
  const instant quiet = has_catalog_ && !needs_full() ? quiet_since_ + settings_.keep_alive : instant::max();
  return std::min({welcome_by_, renew_at_, quiet});
}

auto agent_session::receive(const frame_view& frame, instant now) -> event {
  if (frame.kind == frame_kind::batch) return end({reason::unexpected_message, "a batch from an aggregator"});
  auto decoded = read(frame);
  if (decoded.has_error()) return end(decoded.error());
  if (!decoded->has_value()) return event::nothing;
  message& m = **decoded;
  if (const auto* question = std::get_if<clock_reading>(&m)) {
    auto answered = tell_time(*question, now);
    return answered.has_error() ? end(answered.error()) : event::nothing;
  }
  if (auto* r = std::get_if<refused>(&m)) {
    retry_after_ = std::min<duration>(std::chrono::milliseconds(r->retry_after_ms), longest_stay_away);
    state_ = state::ended;
    ended_ = fault{reason_of(r->reason), "refused by the aggregator: " + r->reason};
    return event::ended;
  }
  if (auto* g = std::get_if<goodbye>(&m)) {
    state_ = state::ended;
    ended_ = fault{reason_of(g->reason), "ended by the aggregator: " + g->reason};
    return event::ended;
  }
  if (auto* w = std::get_if<welcome>(&m)) return take_welcome(std::move(*w), now);
  if (auto* i = std::get_if<interest>(&m); i != nullptr && state_ == state::streaming) {
    interest_ = std::move(*i);
    return event::interest;
  }
  return end({reason::unexpected_message, "a message that has no place here"});
}

outcome<void> agent_session::tell_time(clock_reading question, instant now) {
  if (state_ != state::streaming) return fault{reason::unexpected_message, "a clock before the welcome"};
  // If the peer keeps asking and never reads, we would have to hold all the answers.
  if (output_size() > most_unsent)
    return fault{reason::oversized,
                 "the aggregator goes on asking for the time and does not read the answers"};
  question.agent_us = to_us(now);
  return put(question);
}

auto agent_session::take_welcome(welcome w, instant now) -> event {
  if (w.protocol_major != protocol_major)
    return end({reason::wrong_version, "the aggregator speaks version " + std::to_string(w.protocol_major) +
                                           " of the protocol, we speak " + std::to_string(protocol_major)});
  if (welcome_by_ == instant::max()) return end({reason::unexpected_message, "a welcome without a hello"});
  welcome_ = std::move(w);
  welcome_by_ = instant::max();
  // At four fifths of the time, so that the session does not end if the check is slow.
  const auto whole = seconds(welcome_.reauthenticate_after_s);
  renew_at_ = whole == seconds(0) ? instant::max() : now + duration(whole) / 5 * 4;
  if (state_ == state::streaming) return event::renewed;
  state_ = state::streaming;
  quiet_since_ = now;
  return event::welcomed;
}

outcome<void> agent_session::send(const catalog& c, instant now) {
  if (state_ != state::streaming) return not_streaming();
  auto done = put(c);
  if (done.has_error()) return done;
  encoder_.reset(c);
  has_catalog_ = true;
  quiet_since_ = now;
  return done;
}

outcome<void> agent_session::send(batch& b, instant now) {
  if (state_ != state::streaming || !has_catalog_) return not_streaming();
  b.sent_at_ns = to_ns(now);
  auto done = encoder_.append(out_, b);
  if (done.has_error()) return done;
  ++counters_.frames_out;
  quiet_since_ = now;
  return done;
}

outcome<void> agent_session::send(const std::vector<source_status>& s, instant now) {
  if (state_ != state::streaming) return not_streaming();
  auto done = put(s);
  if (done.has_value()) quiet_since_ = now;
  return done;
}

outcome<void> agent_session::renew(std::string credential, instant now) {
  if (state_ != state::streaming || welcome_by_ != instant::max()) return not_streaming();
  hello_.credential = std::move(credential);
  auto done = put(hello_);
  forget(hello_.credential);
  if (done.has_value()) welcome_by_ = now + settings_.welcome_timeout;
  return done;
}

void agent_session::close(reason why, std::string sentence) {
  if (state_ != state::ended) end({why, std::move(sentence)});
}

auto agent_session::end(fault why) -> event {
  if (state_ != state::idle) (void)put(goodbye{why.text()});
  state_ = state::ended;
  ended_ = std::move(why);
  return event::ended;
}

void agent_session::keep_alive(instant now) {
  if (state_ != state::streaming || !has_catalog_ || needs_full() ||
      now < quiet_since_ + settings_.keep_alive)
    return;
  batch empty;
  (void)send(empty, now);
}

}  // namespace binnacle::wire
