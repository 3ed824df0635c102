#pragma once

#include "common/wire/codec/batch_codec.hpp"
#include "common/wire/session.hpp"

namespace binnacle::wire {

/// The agent's end of one connection to an aggregator replica.
///
///   start() --> awaiting_welcome --welcome--> streaming --> ended
///                    |  20 s, refused             |  goodbye, refused (credential), a fault
///
/// The session itself answers when the aggregator asks for our clock. While streaming, the agent is never
/// silent for more than 10 s: if the shell sends nothing, the session sends an empty batch.
class agent_session : public session {
 public:
  enum class state : std::uint8_t { idle, awaiting_welcome, streaming, ended };
  enum class event : std::uint8_t {
    nothing,         ///< more bytes or next_deadline() are needed
    welcomed,        ///< greeting() says who accepted us; send the catalog now
    renewed,         ///< the new credential was accepted
    interest,        ///< take_interest()
    credential_due,  ///< call renew() with a fresh credential
    ended,           ///< see ended(), and retry_after() if refused; every further call gives `ended` again
  };
  static constexpr duration longest_stay_away = std::chrono::minutes(10);
  struct settings {
    duration welcome_timeout = std::chrono::seconds(20);
    duration keep_alive = std::chrono::seconds(10);
  };

  explicit agent_session(const settings& s);

  /// Sends `h`, whose protocol version is filled in here. Call it once.
  outcome<void> start(hello h, instant now);

  /// The next event, by the frames received and by the time. Call it until it gives `nothing` or `ended`.
  event next(instant now);
  instant next_deadline() const noexcept;

  const welcome& greeting() const noexcept { return welcome_; }
  const interest& last_interest() const noexcept { return interest_; }
  /// How long to stay away after `ended`: what the aggregator asked for, but at most longest_stay_away. Zero:
  /// use the agent's own back-off.
  duration retry_after() const noexcept { return retry_after_; }

  /// Call these only while streaming. If one gives a fault, nothing was sent, and the session goes on.
  /// send(batch) sets sequence, catalog_version and sent_at_ns. The last is `now`, so `now` must be of the
  /// same clock as the read times.
  outcome<void> send(const catalog& c, instant now);
  outcome<void> send(batch& b, instant now);
  outcome<void> send(const std::vector<source_status>& s, instant now);
  /// Whether the next batch must be full, as the first one after every catalog must.
  bool needs_full() const noexcept { return encoder_.needs_full(); }

  /// Sends another hello with the new credential.
  outcome<void> renew(std::string credential, instant now);
  /// Ends the session from this side and tells the peer.
  void close(reason why, std::string sentence);

  state now_in() const noexcept { return state_; }

 private:
  event end(fault why);
  /// `nothing` if the session answered the frame itself or left it out.
  event receive(const frame_view& frame, instant now);
  event take_welcome(welcome w, instant now);
  outcome<void> tell_time(clock_reading question, instant now);
  void keep_alive(instant now);

  const settings settings_;
  state state_ = state::idle;
  instant welcome_by_ = instant::max();
  instant renew_at_ = instant::max();
  instant quiet_since_{};  // when something was sent last
  bool has_catalog_ = false;

  hello hello_;
  welcome welcome_;
  interest interest_;
  duration retry_after_{};
  batch_encoder encoder_;
};

}  // namespace binnacle::wire
