#pragma once

#include "common/doubling.hpp"
#include "common/wire/codec/batch_codec.hpp"
#include "common/wire/sealed_catalog.hpp"
#include "common/wire/session.hpp"

namespace binnacle::wire {

/// The aggregator's end of one agent connection.
///
///   awaiting_hello --hello--> authorising --accept()--> streaming --> ended
///         |  10 s                 |  10 s                  |  silence, credential not renewed, a fault
///         '---------------------- '----- refused ----------'--- goodbye, or the peer's goodbye
///
/// Faults end this session only; ended() names the reason and the peer is told it.
class aggregator_session : public session {
 public:
  enum class state : std::uint8_t { awaiting_hello, authorising, streaming, ended };
  enum class event : std::uint8_t {
    nothing,   ///< more bytes or next_deadline() are needed
    hello,     ///< greeting() wants accept() or refuse(); also in a running session, to renew the credential
    catalog,   ///< take_catalog() and adopt(), or open_catalog()
    batch,     ///< last_batch()
    statuses,  ///< take_statuses()
    clock,     ///< last_clock()
    ended,     ///< see ended(); given once, and again whenever asked
  };
  struct settings {
    duration hello_timeout = std::chrono::seconds(10);
    duration authorise_timeout = std::chrono::seconds(10);
    duration silence =
        std::chrono::seconds(30);  ///< or three times the longest period in the catalogue, if that is more
  };

  aggregator_session(const settings& s, instant now);

  /// The next thing that happened, by frames received and by time. Call until `nothing` or `ended`.
  event next(instant now);
  /// When next() must be called again though nothing was received; instant::max() for never.
  instant next_deadline() const noexcept;

  /// What the hello said. Its credential is forgotten once accepted or refused.
  const hello& greeting() const noexcept { return greeting_; }
  /// The catalogue that came, to be opened on any thread. Until adopt() says what became of it, next() reads
  /// no further frame: what follows stands on it.
  sealed_catalog take_catalog() { return std::move(sealed_); }
  /// A catalogue that could not be opened ends the session.
  void adopt(const outcome<catalog_outline>& opened, const omissions& left_out, instant now);
  /// Opens the catalogue and adopts it, on this thread. Empty if the catalogue ended the session.
  catalog open_catalog(instant now);
  std::vector<source_status> take_statuses() { return std::move(statuses_); }
  /// Valid until next() is called again.
  const batch& last_batch() const noexcept { return batch_; }
  /// What the agent's clock showed when ours was asked for it; the session asks after the welcome, then every
  /// minute or so. An agent of version 1.0 never answers.
  const clock_reading& last_clock() const noexcept { return clock_; }
  /// What the clock is thought to show does not fit what it showed: the session asks with the next batch, and
  /// as often as at first.
  void doubt_clock(instant now) noexcept {
    ask_at_ = now;
    ask_pauses_.reset();
  }

  /// Answers a hello. `w`'s protocol version is filled in; reauthenticate_after_s counts from `now`.
  void accept(welcome w, instant now);
  /// `sentence` is for the agent's log; it must hold nothing secret. retry_after zero: the agent's own
  /// back-off.
  void refuse(reason why, std::string sentence, duration retry_after);
  /// Tells the agent what to read and how often. Only while streaming.
  outcome<void> want(const interest& i);
  /// Ends the session from this side (superseded, shutting_down, overloaded…), telling the peer.
  void close(reason why, std::string sentence);

  state now_in() const noexcept { return state_; }
  /// While streaming: something came within half the time after which the session counts as dead.
  bool is_heard(instant now) const noexcept {
    return state_ == state::streaming && now < deadline_ - silence_ / 2;
  }

 private:
  event end(fault why, duration retry_after = {});
  /// `nothing` when the frame is left out.
  event receive(const frame_view& frame, instant now);
  event take_hello(hello h, instant now);
  void ask_for_clock(instant now);
  event take_clock(const clock_reading& c, instant now);

  const settings settings_;
  state state_ = state::awaiting_hello;
  instant deadline_;  // for hello and authorisation; then of silence
  instant reauthenticate_by_ = instant::max();
  duration silence_;
  bool renewing_ = false;  // a hello in a running session waits for its answer
  bool has_catalog_ = false;
  bool opening_ = false;  // a catalogue was given out and is not adopted yet
  bool asking_ = false;   // for the agent's clock
  instant ask_at_{};      // again, when it was answered
  // The first answers come from agents that are busy.
  doubling ask_pauses_{std::chrono::seconds(1), std::chrono::seconds(64)};

  hello greeting_;
  sealed_catalog sealed_;
  std::vector<source_status> statuses_;
  batch batch_;
  clock_reading clock_;
  batch_decoder decoder_;
};

}  // namespace binnacle::wire
