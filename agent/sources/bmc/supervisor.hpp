#pragma once

#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <string>

namespace binnacle::agent {

/// Decides when the helper binnacle-ipmi is started (or its socket dialled), when it is asked whether it
/// lives, and when it is given up and started again. So a BMC call that never returns blocks the helper and
/// nothing else. Pure: what happened and the time go in, what to do comes out.
///
///   waiting → starting → greeting → talking → ending → waiting …
///
/// There is never more than one helper: the next is started only when the last one has ended. A helper that
/// hangs in the kernel cannot be killed, and another one would hang beside it.
class supervisor {
 public:
  struct settings {
    /// Whether the helper is our child. Only a child is held back after a refused password. A sidecar decides
    /// that by itself, so it is always dialled again.
    bool child = true;
    duration hello_within = std::chrono::seconds(10);  ///< of its start
    duration ping_every = std::chrono::seconds(5);
    duration answer_least = std::chrono::seconds(2);  ///< added to what the hello says about pings
    /// With a plan and a BMC in order, something comes at least every so many of its shortest periods.
    int silent_periods = 10;
    duration silent_least = std::chrono::seconds(60);
    /// A helper that lived for this long was in order: the pause before the next starts from the least again.
    duration steady = std::chrono::seconds(60);
    backoff::settings pause{std::chrono::seconds(1), std::chrono::seconds(2), std::chrono::seconds(60)};
  };
  supervisor(const settings& s, std::uint64_t seed);

  enum class action : unsigned char {
    none,
    start,  ///< then started() or not_started()
    ping,   ///< with the number ping()
    end,    ///< kill it or close the connection, then gone()
  };
  /// What is to be done at `now`; ask again until it is none.
  action next(instant now);
  /// When next() has something to say, if nothing happens before; instant::max() for never.
  instant deadline() const noexcept;
  std::uint64_t ping() const noexcept { return ping_; }

  // What happened.
  /// There may be a BMC, so the helper may be started. It is not before the first call.
  void allow(instant now);
  void started(instant now);
  void not_started(error why, instant now);
  void hello(duration quiet, instant now);
  void pong(std::uint64_t number, instant now);
  /// The shortest period of the plan; nothing when the plan is empty.
  void planned(std::optional<duration> shortest, instant now);
  void reading(instant now);
  void status(bool ok, bool permanent, std::string message, instant now);
  /// The helper already serves another agent. It serves one at a time.
  void serves_another(std::string message, instant now);
  /// It broke the protocol: it must go.
  void broke(const error& why, instant now);
  /// The helper has ended; `how` in words ("status 1", "signal 9").
  void gone(std::string_view how, instant now);
  /// Starts a helper that was held back after a refusal. A running one looks at the file itself.
  void credentials_changed(instant now);

  /// Whether nothing has been allowed yet.
  bool idle() const noexcept { return state_ == state::idle; }
  /// Whether its words are worth listening to now.
  bool talking() const noexcept { return state_ == state::talking; }
  /// Whether a refused password (or the like) keeps it from being started.
  bool held() const noexcept { return held_; }
  /// Why there are no readings, in one sentence; nothing while all is well. `timeout` after one that hung.
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
  void hung(std::string what, instant now);
  void excuse_lateness(instant now);
  void expect_reading(instant now);

  const settings settings_;
  std::mt19937_64 random_;
  backoff pause_;
  state state_ = state::idle;
  bool end_wanted_ = false;  // next() has to say it still
  bool held_ = false;
  instant start_at_ = instant::max();
  instant hello_by_ = instant::max();
  instant ping_at_ = instant::max();
  instant pong_by_ = instant::max();  // max: no ping is out
  instant reading_by_ = instant::max();
  instant since_{};  // hello
  duration answer_within_{};
  std::optional<duration> shortest_;
  bool well_ = false;  // the last status
  std::uint64_t ping_ = 0;
  std::optional<error> trouble_;
  counts counts_;
};

}  // namespace binnacle::agent
