#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace binnacle::ingest {

/// How many handshakes may begin in a second, learned from the load of the loop: more by a fixed step while
/// the loop has time, fewer by a quarter when it is busy (additive increase, multiplicative decrease). So a
/// quiet aggregator lets a fleet in quickly, and newcomers do not delay the agents that are connected.
///
/// The rate exceeds `usual` only while most handshakes end in a welcome and the loop's timers are on time. So
/// strangers cannot make the loop spend more time on them than `usual` handshakes cost, and on a machine
/// without spare CPU the loop begins no more handshakes than it can finish. Only the loop's own work lowers
/// the rate below `usual`: if other programs keep the machine busy, fewer handshakes would not help, and the
/// fleet would be away for longer. Pure.
class handshake_rate {
 public:
  /// Handshakes a second. A mutual handshake takes 0.8 ms of the loop; one that a stranger begins and
  /// abandons takes a third of it.
  struct bounds {
    double least = 100, usual = 600, most = 4'000;
  };
  /// Loads of the loop, as the share of time in which it works. Below `has_time` more handshakes begin, above
  /// `busy` fewer. `busy` is less than aggregator::reading_budget::busy, so that newcomers do not slow the
  /// readings of connected agents.
  static constexpr double has_time = 0.65, busy = 0.72;
  /// If the loop is later than this, it has too much work in one turn, or the machine has no CPU for it.
  static constexpr duration late = std::chrono::milliseconds(20);
  static constexpr double step = 50;    ///< added to the rate when more may begin
  static constexpr double part = 0.75;  ///< factor of the rate when the loop is busy
  static constexpr duration period = std::chrono::milliseconds(100);  ///< between two measurements

  /// What happened since the last measurement.
  struct measurement {
    double load = 0;             ///< the share of time in which the loop worked, 0 to 1
    duration lateness{};         ///< how late it came to this measurement
    std::uint64_t begun = 0;     ///< handshakes
    std::uint64_t welcomed = 0;  ///< sessions
    bool kept_waiting = false;   ///< a handshake waited only because of this rate
  };

  explicit handshake_rate(bounds b) noexcept : bounds_(b), now_(b.usual) {}

  void measured(const measurement& m) noexcept {
    // A handshake may begin in one period and end in the next. So both counts are sums over several periods,
    // in which older periods count less and less.
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

/// Says when the next handshake may begin. It is a token bucket that holds the handshakes of a twentieth of a
/// second at most, so that handshakes never keep the loop busy for long. Pure.
class handshake_budget {
 public:
  handshake_budget(double per_second, instant now) noexcept : cost_(cost_of(per_second)), free_at_(now) {}

  /// Sets the rate, from the next handshake on.
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
