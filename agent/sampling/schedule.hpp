#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace binnacle::agent {

/// Ticks at origin + k × period, for ever. A late tick does not move the ticks after it. Ticks that were
/// missed are counted and left out. Schedules with the same origin tick together, so one wake-up serves them
/// all. Pure.
class schedule {
 public:
  /// The first tick is at `origin`.
  schedule(instant origin, duration period) noexcept : origin_(origin), period_(period), next_(origin) {}

  instant next() const noexcept { return next_; }
  duration period() const noexcept { return period_; }
  bool due(instant now) const noexcept { return now >= next_; }

  /// Takes the tick that is due, so that next() is later than `now`. Returns how many whole ticks were missed
  /// before it.
  std::uint64_t take(instant now) noexcept {
    if (!due(now)) return 0;
    const auto missed = (now - next_) / period_;
    next_ = tick_after(now);
    return static_cast<std::uint64_t>(missed);
  }

  /// From now on ticks on the multiples of another period. The next tick may come earlier, but never later
  /// than it would have: otherwise a period that changes all the time would leave no tick.
  void set_period(duration period, instant now) noexcept {
    if (period == period_) return;
    period_ = period;
    next_ = std::min(next_, tick_after(now));
  }

 private:
  instant tick_after(instant now) const noexcept {
    return now < origin_ ? origin_ : origin_ + ((now - origin_) / period_ + 1) * period_;
  }

  instant origin_;
  duration period_;
  instant next_;
};

}  // namespace binnacle::agent
