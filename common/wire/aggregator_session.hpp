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
/// A fault ends only this session. ended() gives the reason, and the peer is told it, too.
class aggregator_session : public session {
 public:
  enum class state : std::uint8_t { awaiting_hello, authorising, streaming, ended };
  enum class event : std::uint8_t {
    nothing,   ///< more bytes or next_deadline() are needed
    hello,     ///< answer greeting() with accept() or refuse(); also sent in a running session to renew it
    catalog,   ///< take_catalog() and adopt(), or open_catalog()
    batch,     ///< last_batch()
    statuses,  ///< take_statuses()
    clock,     ///< last_clock()
    left_out,  ///< a message that could not be read was left out; see left_out()
    ended,     ///< see ended(); every further call gives `ended` again
  };
  struct settings {
    duration hello_timeout = std::chrono::seconds(10);
    duration authorise_timeout = std::chrono::seconds(10);
    duration silence =
        std::chrono::seconds(30);  ///< or three times the longest period in the catalog, if that is more
  };

  aggregator_session(const settings& s, instant now);

  /// The next event, by the frames received and by the time. Call it until it gives `nothing` or `ended`.
  event next(instant now);
  /// The time at which next() must be called again even if nothing is received; instant::max() for never.
  instant next_deadline() const noexcept;

  /// The content of the hello. Its credential is erased once the hello is accepted or refused.
  const hello& greeting() const noexcept { return greeting_; }
  /// The catalog that arrived. It may be opened on any thread. next() reads no further frame until adopt()
  /// has the result, because the frames that follow depend on the catalog.
  sealed_catalog take_catalog() { return std::move(sealed_); }
  /// Takes the result of opening the catalog. If it could not be opened, the session ends.
  void adopt(const outcome<catalog_outline>& opened, const omissions& left_out, instant now);
  /// Opens the catalog and adopts it, on this thread. Empty if the catalog ended the session.
  catalog open_catalog(instant now);
  std::vector<source_status> take_statuses() { return std::move(statuses_); }
  /// Valid until next() is called again.
  const batch& last_batch() const noexcept { return batch_; }
  /// The agent's answer to our question for its clock: what both clocks showed. The session asks after the
  /// welcome and then about every minute. An agent of version 1.0 never answers.
  const clock_reading& last_clock() const noexcept { return clock_; }
  /// Call it if the agent's times contradict its earlier answers. The session then asks with the next batch,
  /// and then as often as at the beginning.
  void doubt_clock(instant now) noexcept {
    ask_at_ = now;
    ask_pauses_.reset();
  }

  /// Accepts a hello. The protocol version of `w` is filled in here; reauthenticate_after_s counts from
  /// `now`.
  void accept(welcome w, instant now);
  /// Refuses a hello. `sentence` goes into the agent's log and must hold nothing secret. retry_after zero:
  /// the agent uses its own back-off.
  void refuse(reason why, std::string sentence, duration retry_after);
  /// Tells the agent what to read and how often. Only while streaming.
  outcome<void> want(const interest& i);
  /// Ends the session from this side (superseded, shutting_down, overloaded…) and tells the peer.
  void close(reason why, std::string sentence);

  state now_in() const noexcept { return state_; }
  /// True while streaming if something came recently: within half of the time after which a silent session
  /// counts as dead.
  bool is_heard(instant now) const noexcept {
    return state_ == state::streaming && now < deadline_ - silence_ / 2;
  }

 private:
  event end(fault why, duration retry_after = {});
  event receive(const frame_view& frame, instant now);
  event take_hello(hello h, instant now);
  void ask_for_clock(instant now);
  event take_clock(const clock_reading& c, instant now);

  const settings settings_;
  state state_ = state::awaiting_hello;
  instant deadline_;  // for the hello and the authorisation; later, when silence ends the session
  instant reauthenticate_by_ = instant::max();
  duration silence_;
  bool renewing_ = false;  // a hello in a running session is not answered yet
  bool has_catalog_ = false;
  bool opening_ = false;  // the shell has a catalog and has not called adopt() yet
  bool asking_ = false;   // the agent has not yet answered with its clock
  instant ask_at_{};      // when to ask again, once it has answered
  // Asks often at first: the first answers may be late, because the agent is busy at its start.
  doubling ask_pauses_{std::chrono::seconds(1), std::chrono::seconds(64)};

  hello greeting_;
  sealed_catalog sealed_;
  std::vector<source_status> statuses_;
  batch batch_;
  clock_reading clock_;
  batch_decoder decoder_;
};

}  // namespace binnacle::wire
