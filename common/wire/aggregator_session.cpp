#include "common/wire/aggregator_session.hpp"

#include "common/wire/codec/batch_codec.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::wire {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// A catalog may announce any period. With this cap a dead link is found within three hours.
constexpr duration longest_period = hours(1);

fault too_early() { return {reason::unexpected_message, "nothing may follow a hello before its answer"}; }

}  // namespace

aggregator_session::aggregator_session(const settings& s, instant now)
    : session(max_first_frame), settings_(s), deadline_(now + s.hello_timeout), silence_(s.silence) {}

auto aggregator_session::next(instant now) -> event {
  if (state_ == state::ended) return event::ended;
  if (!opening_) {
    const auto frame = next_frame();
    if (frame.has_error()) return end(frame.error());
    if (frame->has_value()) return receive(**frame, now);
  }
  if (now >= reauthenticate_by_)
    return end({reason::reauthentication, "the credential was not renewed in time"});
  if (now < deadline_) return event::nothing;
  switch (state_) {
    case state::awaiting_hello: return end({reason::hello_timeout, "no hello came"});
    case state::authorising:
      return end({reason::authorise_timeout, "the hello could not be checked in time"});
    default: return end({reason::idle, "nothing came for " + human(silence_)});
  }
}

instant aggregator_session::next_deadline() const noexcept {
  return state_ == state::ended ? instant::max() : std::min(deadline_, reauthenticate_by_);
}

auto aggregator_session::receive(const frame_view& frame, instant now) -> event {
  if (frame.kind == frame_kind::batch) {  // the most frequent kind
    if (state_ != state::streaming || !has_catalog_)
      return end({reason::unexpected_message, "a batch before the catalog"});
    if (auto done = decoder_.decode(frame, scratch_, batch_, left_out_); done.has_error())
      return end(done.error());
    deadline_ = now + silence_;
    if (!asking_ && now >= ask_at_) ask_for_clock(now);
    return event::batch;
  }
  if (state_ == state::awaiting_hello && frame.kind != frame_kind::hello)
    return end({reason::not_hello, "a session begins with a hello"});
  if (frame.kind == frame_kind::catalog) {
    if (state_ != state::streaming) return end(too_early());
    sealed_ = sealed_catalog(frame);
    opening_ = true;
    deadline_ = now + silence_;
    return event::catalog;
  }
  auto decoded = read(frame);
  if (decoded.has_error()) return end(decoded.error());
  if (!decoded->has_value()) {
    if (state_ != state::streaming) return end(too_early());
    deadline_ = now + silence_;
    return event::left_out;
  }
  message& m = **decoded;
  if (auto* g = std::get_if<goodbye>(&m)) {
    state_ = state::ended;
    ended_ = fault{reason::closed_by_peer, std::move(g->reason)};
    return event::ended;
  }
  if (auto* h = std::get_if<hello>(&m)) return take_hello(std::move(*h), now);
  if (state_ != state::streaming) return end(too_early());
  if (auto* s = std::get_if<std::vector<source_status>>(&m)) {
    statuses_ = std::move(*s);
    deadline_ = now + silence_;
    return event::statuses;
  }
  if (const auto* c = std::get_if<clock_reading>(&m)) return take_clock(*c, now);
  return end({reason::unexpected_message, "a message that only an aggregator sends"});
}

void aggregator_session::adopt(const outcome<catalog_outline>& opened, const omissions& left_out,
                               instant now) {
  if (!std::exchange(opening_, false) || state_ == state::ended) return;
  left_out_.add(left_out);
  if (opened.has_error()) {
    end(opened.error());
    return;
  }
  decoder_.reset(*opened);
  has_catalog_ = true;
  silence_ = std::max(settings_.silence, 3 * std::min(opened->longest_period, longest_period));
  deadline_ = now + silence_;
}

catalog aggregator_session::open_catalog(instant now) {
  auto opened = take_catalog().open();
  adopt(opened.outline(), opened.left_out, now);
  return opened.what.has_value() ? std::move(*opened.what) : catalog{};
}

void aggregator_session::ask_for_clock(instant now) {
  clock_.aggregator_us = to_us(now);
  asking_ = put(clock_reading{clock_.aggregator_us, 0}).has_value();
}

auto aggregator_session::take_clock(const clock_reading& c, instant now) -> event {
  if (!asking_ || c.aggregator_us != clock_.aggregator_us)
    return end({reason::unexpected_message, "a clock that nobody asked for"});
  asking_ = false;
  clock_ = c;
  ask_at_ = now + ask_pauses_.next();
  return event::clock;
}

auto aggregator_session::take_hello(hello h, instant now) -> event {
  if (h.protocol_major != protocol_major)
    return end({reason::wrong_version, "the agent speaks version " + std::to_string(h.protocol_major) +
                                           " of the protocol, we speak " + std::to_string(protocol_major)});
  if (state_ == state::authorising || renewing_)
    return end({reason::unexpected_message, "a second hello before the first was answered"});
  if (state_ == state::streaming) {
    if (h.node != greeting_.node || h.cluster != greeting_.cluster || h.boot_id != greeting_.boot_id)
      return end({reason::wrong_node, "a session may not change its node, cluster or boot id"});
    renewing_ = true;
    deadline_ = now + silence_;
  } else {
    state_ = state::authorising;
    deadline_ = now + settings_.authorise_timeout;
  }
  greeting_ = std::move(h);
  return event::hello;
}

void aggregator_session::accept(welcome w, instant now) {
  if (state_ != state::authorising && !renewing_) return;
  forget(greeting_.credential);
  w.protocol_major = protocol_major;
  w.protocol_minor = protocol_minor;
  reauthenticate_by_ =
      w.reauthenticate_after_s == 0 ? instant::max() : now + std::chrono::seconds(w.reauthenticate_after_s);
  if (state_ == state::authorising) deadline_ = now + silence_;
  const bool begins = state_ == state::authorising;
  state_ = state::streaming;
  renewing_ = false;
  reader_.limit(max_frame_payload);
  if (auto done = put(w); done.has_error()) {
    end(done.error());
  } else if (begins) {
    ask_for_clock(now);
  }
}

void aggregator_session::refuse(reason why, std::string sentence, duration retry_after) {
  if (state_ != state::ended) end({why, std::move(sentence)}, retry_after);
}

outcome<void> aggregator_session::want(const interest& i) {
  if (state_ != state::streaming)
    return fault{reason::unexpected_message, "an interest outside of a running session"};
  return put(i);
}

void aggregator_session::close(reason why, std::string sentence) {
  if (state_ != state::ended) end({why, std::move(sentence)});
}

auto aggregator_session::end(fault why, duration retry_after) -> event {
  forget(greeting_.credential);
  const auto wait = std::chrono::ceil<milliseconds>(retry_after).count();
  // A hello that is not accepted is answered with `refused`. In all other cases the peer gets `goodbye`.
  if (state_ == state::streaming && !renewing_) {
    (void)put(goodbye{why.text()});
  } else {
    (void)put(refused{why.text(), static_cast<std::uint32_t>(std::clamp<std::int64_t>(wait, 0, UINT32_MAX))});
  }
  state_ = state::ended;
  ended_ = std::move(why);
  return event::ended;
}

}  // namespace binnacle::wire
