#pragma once

#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace binnacle::agent {

/// Decides when the helper binnacle-ipmi is started (or its socket dialled), when it is pinged, and when it
/// is given up and started again. So a BMC call that never returns blocks only the helper. Pure: callers pass
/// in events and the time, and get the next action.
///
///   waiting → starting → greeting → talking → ending → waiting …
///
/// There is never more than one helper: the next one is started only when the last one has ended. A helper
/// that hangs in the kernel cannot be killed, and another one would hang beside it.
class supervisor {
 public:
  struct settings {
    /// Whether the helper is our child. Only a child is held back after a refused password. A sidecar decides
    /// by itself when to try again, so it is always dialled again.
    bool child = true;
    duration hello_within = std::chrono::seconds(10);  ///< after its start
    duration ping_every = std::chrono::seconds(5);
    duration answer_least = std::chrono::seconds(2);  ///< added to the time for a ping that the hello names
    /// If there is a plan and the BMC is in order, a reading must come within this many of the plan's
    /// shortest periods.
    int silent_periods = 10;
    duration silent_least = std::chrono::seconds(60);
    /// A helper that lived this long was healthy. The pause before the next start is then the shortest again.
    duration steady = std::chrono::seconds(60);
    backoff::settings pause{std::chrono::seconds(1), std::chrono::seconds(2), std::chrono::seconds(60)};
  };
  supervisor(const settings& s, std::uint64_t seed);

  enum class action : unsigned char {
    none,
    start,  ///< then call started() or not_started()
    ping,   ///< send a ping with the number ping()
    end,    ///< kill the child or close the connection, then call gone()
  };
  /// What to do at `now`. Ask again until the answer is `none`.
  action next(instant now);
  /// When next() must be asked again if nothing happens before; instant::max() for never.
  instant deadline() const noexcept;
  std::uint64_t ping() const noexcept { return ping_; }

  // Calls that say what happened.
  /// There may be a BMC, so the helper may be started. Before the first call it is not started.
  void allow(instant now);
  void started(instant now);
  void not_started(error why, instant now);
  void hello(duration quiet, instant now);
  void pong(std::uint64_t number);
  /// The shortest period of the plan. Nothing if the plan is empty.
  void planned(std::optional<duration> shortest, instant now);
  void reading(instant now);
  void status(bool ok, bool permanent, std::string message, instant now);
  /// The helper already serves another agent. It serves one at a time.
  void serves_another(std::string message);
  /// The helper broke the protocol and must be ended.
  void broke(const error& why);
  /// The helper has ended; `how` in words ("status 1", "signal 9").
  void gone(std::string_view how, instant now);
  /// A helper that was held back after a refusal may be started. A running helper looks at the file itself.
  void credentials_changed(instant now);

  /// Whether allow() has not been called yet.
  bool idle() const noexcept { return state_ == state::idle; }
  /// Whether the helper's messages count now.
  bool talking() const noexcept { return state_ == state::talking; }
  /// Whether a refused password (or a similar refusal) keeps the helper from being started.
  bool held() const noexcept { return held_; }
  /// Why there are no readings, in one sentence. Nothing while everything works. Its code is `timeout` after
  /// a helper that hung.
  const std::optional<error>& trouble() const noexcept { return trouble_; }

  struct counts {
    std::uint64_t starts = 0;    ///< of the helper, or connections to it
    std::uint64_t failures = 0;  ///< it could not be started or reached, or serves another agent
    std::uint64_t hung = 0;      ///< ended by us: no answer, or no reading, in time
    std::uint64_t broke = 0;     ///< ended by us: it broke the protocol
    std::uint64_t ended = 0;     ///< it ended by itself
    std::uint64_t refused = 0;   ///< it said that trying again cannot help
  };
  const counts& counted() const noexcept { return counts_; }

 private:
  enum class state : unsigned char { idle, waiting, starting, greeting, talking, ending };

  void end(error why, std::uint64_t& counter);
  void wait(instant now);
  void hung(std::string_view what);
  void excuse_lateness(instant now);
  void expect_reading(instant now);

  const settings settings_;
  std::mt19937_64 random_;
  backoff pause_;
  state state_ = state::idle;
  bool end_wanted_ = false;  // next() still has to return `end`
  bool held_ = false;
  instant start_at_ = instant::max();
  instant hello_by_ = instant::max();
  instant ping_at_ = instant::max();
  instant pong_by_ = instant::max();  // when the pong must be there; max: no ping is under way
  instant reading_by_ = instant::max();
  instant since_{};  // when hello came
  duration answer_within_{};
  std::optional<duration> shortest_;
  bool well_ = false;  // whether the last status said that the BMC is in order
  std::uint64_t ping_ = 0;
  std::optional<error> trouble_;
  counts counts_;
};

}  // namespace binnacle::agent
