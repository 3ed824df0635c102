#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace binnacle::ingest {

/// How many handshakes a second may begin, learned from how the loop does: more by a fixed step while it has
/// time, less by a quarter when it is busy (additive increase, multiplicative decrease). So a fleet finds a
/// quiet aggregator's door wide open, and agents that stream are not kept waiting by those that come.
///
/// Above `usual` the rate goes only while most handshakes end in a welcome, and while the loop comes in time
/// to what is due. So a crowd of strangers cannot make the loop spend more on it than `usual` costs, and on a
/// machine without CPU for it the loop begins no more than it can finish. Only the loop's own work brings the
/// rate below `usual`: on a machine that is busy with other programs, fewer handshakes would change nothing,
/// and the fleet would be away for longer. Pure.
class handshake_rate {
 public:
  /// Handshakes a second. A mutual handshake takes 0.8 ms of the loop; one that a stranger begins and
  /// abandons takes a third of it.
  struct bounds {
    double least = 100, usual = 600, most = 4'000;
  };
  /// Shares of the time for which the loop works: below `has_time` more begin, above `busy` fewer. The latter
  /// is less than aggregator::reading_budget::busy: agents that come do not slow the readings of agents that
  /// are there.
  static constexpr double has_time = 0.65, busy = 0.72;
  /// A loop that comes later than this to what is due has too much in one turn, or the machine has no CPU for
  /// it.
  static constexpr duration late = std::chrono::milliseconds(20);
  static constexpr double step = 50;                                  ///< more, for each measurement
  static constexpr double part = 0.75;                                ///< what is left of the rate
  static constexpr duration period = std::chrono::milliseconds(100);  ///< between two measurements

  /// What happened since the last measurement.
  struct measurement {
    double load = 0;             ///< which part of the time the loop worked, 0 to 1
    duration lateness{};         ///< how late it came to this measurement
    std::uint64_t begun = 0;     ///< handshakes
    std::uint64_t welcomed = 0;  ///< sessions
    bool kept_waiting = false;   ///< a handshake waited for nothing but this rate
  };

  explicit handshake_rate(bounds b) noexcept : bounds_(b), now_(b.usual) {}

  void measured(const measurement& m) noexcept {
    // A handshake may end in the next period. So what began and what was welcomed are sums that fade.
    begun_ = begun_ * fading + static_cast<double>(m.begun);
    welcomed_ = welcomed_ * fading + static_cast<double>(m.welcomed);
    const bool mostly_agents = 2 * welcomed_ >= begun_ && welcomed_ > 0;
    const double roof = mostly_agents && m.lateness <= late ? bounds_.most : bounds_.usual;
    if (m.load > busy) {
      now_ *= part;
    } else if (now_ > roof) {
      now_ = std::max(roof, now_ * part);
    } else if (m.kept_waiting && m.load < has_time) {
      now_ = std::min(roof, now_ + step);
    }
    now_ = std::clamp(now_, bounds_.least, bounds_.most);
  }

  double per_second() const noexcept { return now_; }

 private:
  static constexpr double fading = 0.8;  // half in three periods

  bounds bounds_;
  double now_;
  double begun_ = 0, welcomed_ = 0;
};

/// When the next handshake may begin: a token bucket that holds no more than what comes in a twentieth of a
/// second, so that handshakes never keep the loop busy for long. Pure.
class handshake_budget {
 public:
  handshake_budget(double per_second, instant now) noexcept : cost_(cost_of(per_second)), free_at_(now) {}

  /// From the next handshake on.
  void set_rate(double per_second) noexcept { cost_ = cost_of(per_second); }

  bool allows(instant now) const noexcept { return free_at_ <= now; }
  /// A handshake begins now.
  void take(instant now) noexcept {
    const duration burst = std::chrono::milliseconds(50);
    free_at_ = std::max(free_at_, now - burst) + cost_;
  }
  /// When the next one may begin.
  instant next() const noexcept { return free_at_; }

 private:
  static duration cost_of(double per_second) noexcept {
    return duration(static_cast<std::int64_t>(1e9 / std::max(per_second, 1.0)));
  }

  duration cost_;
  instant free_at_;
};

}  // namespace binnacle::ingest
