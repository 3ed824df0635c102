#pragma once

#include "common/clock.hpp"

#include <cstdint>

namespace binnacle::agent {

/// Ticks at origin + k × period, for ever: a late tick does not shift the ones after it, and ticks that went
/// by unseen are counted and left out. Schedules of one origin tick together, so that one wake-up serves them
/// all. Pure.
class schedule {
 public:
  /// The first tick is at `origin`.
  schedule(instant origin, duration period) noexcept : origin_(origin), period_(period), next_(origin) {}

  instant next() const noexcept { return next_; }
  duration period() const noexcept { return period_; }
  bool due(instant now) const noexcept { return now >= next_; }

  /// Takes the tick that is due; next() is later than `now` then. Gives how many whole ticks went by before
  /// it.
  std::uint64_t take(instant now) noexcept {
    if (!due(now)) return 0;
    const auto missed = (now - next_) / period_;
    next_ += (missed + 1) * period_;
    return static_cast<std::uint64_t>(missed);
  }

  /// Ticks on the multiples of another period from now on.
  void set_period(duration period, instant now) noexcept {
    if (period == period_) return;
    period_ = period;
    next_ = now < origin_ ? origin_ : origin_ + ((now - origin_) / period_ + 1) * period_;
  }

 private:
  instant origin_;
  duration period_;
  instant next_;
};

}  // namespace binnacle::agent
