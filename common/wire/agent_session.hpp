#pragma once

#include "common/wire/codec/batch_codec.hpp"
#include "common/wire/session.hpp"

namespace binnacle::wire {

/// The agent's end of one connection to an aggregator replica.
///
///   start() --> awaiting_welcome --welcome--> streaming --> ended
///                    |  20 s, refused             |  goodbye, refused (credential), a fault
///
/// The aggregator's questions for our clock are answered in here. While streaming nothing is ever silent for
/// longer than 10 s: an empty batch is put out when the shell sends none.
class agent_session : public session {
 public:
  enum class state : std::uint8_t { idle, awaiting_welcome, streaming, ended };
  enum class event : std::uint8_t {
    nothing,         ///< more bytes or next_deadline() are needed
    welcomed,        ///< greeting() says by whom; send the catalogue now
    renewed,         ///< the new credential was accepted
    interest,        ///< take_interest()
    credential_due,  ///< call renew() with a fresh credential
    ended,           ///< see ended(), and retry_after() when refused; given once, and again whenever asked
  };
  static constexpr duration longest_stay_away = std::chrono::minutes(10);
  struct settings {
    duration welcome_timeout = std::chrono::seconds(20);
    duration keep_alive = std::chrono::seconds(10);
  };

  explicit agent_session(const settings& s);

  /// Says hello. `h`'s protocol version is filled in. Once.
  outcome<void> start(hello h, instant now);

  /// The next thing that happened, by frames received and by time. Call until `nothing` or `ended`.
  event next(instant now);
  instant next_deadline() const noexcept;

  const welcome& greeting() const noexcept { return welcome_; }
  const interest& last_interest() const noexcept { return interest_; }
  /// How long to stay away after `ended`, whatever the aggregator asks for at most longest_stay_away; zero:
  /// the agent's own back-off.
  duration retry_after() const noexcept { return retry_after_; }

  /// Call both only while streaming. After a fault nothing was sent, and the session goes on. send(batch)
  /// sets sequence, catalog_version and sent_at_ns (`now`, so it must be the clock of the read times).
  outcome<void> send(const catalog& c, instant now);
  outcome<void> send(batch& b, instant now);
  outcome<void> send(const std::vector<source_status>& s, instant now);
  /// Whether the next batch must be full: after every catalogue.
  bool needs_full() const noexcept { return encoder_.needs_full(); }

  /// Another hello with this credential.
  outcome<void> renew(std::string credential, instant now);
  /// Ends the session from this side, telling the peer.
  void close(reason why, std::string sentence);

  state now_in() const noexcept { return state_; }

 private:
  event end(fault why);
  /// `nothing` when the frame was answered in here or is left out.
  event receive(const frame_view& frame, instant now);
  event take_welcome(welcome w, instant now);
  outcome<void> tell_time(clock_reading question, instant now);
  void keep_alive(instant now);

  const settings settings_;
  state state_ = state::idle;
  instant welcome_by_ = instant::max();
  instant renew_at_ = instant::max();
  instant quiet_since_{};  // last time something was put out
  bool has_catalog_ = false;

  hello hello_;
  welcome welcome_;
  interest interest_;
  duration retry_after_{};
  batch_encoder encoder_;
};

}  // namespace binnacle::wire
