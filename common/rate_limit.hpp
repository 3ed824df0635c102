#pragma once

#include "common/clock.hpp"

#include <chrono>

namespace binnacle {

/// Limits how often something may be done: `burst` times at once, and once more after each `refill`. Pure:
/// the caller gives the time.
class rate_limit {
 public:
  rate_limit(int burst, duration refill) noexcept
      : burst_(burst), refill_(refill), room_((burst - 1) * refill) {}

  /// Changes the pace from now on, also for the part of the burst that is used up.
  void set_refill(duration refill, instant now) noexcept {
    if (full_at_ > now)
      full_at_ = now + std::chrono::duration_cast<duration>(
                           (full_at_ - now) *
                           (static_cast<double>(refill.count()) / static_cast<double>(refill_.count())));
    refill_ = refill;
    room_ = (burst_ - 1) * refill;
  }

  /// True if it may be done now; it is counted then.
  bool take(instant now) noexcept {
    if (now < next()) return false;
    full_at_ = (full_at_ < now ? now : full_at_) + refill_;
    return true;
  }
  /// When it may be done again; may be in the past.
  instant next() const noexcept { return full_at_ - room_; }

 private:
  int burst_;
  duration refill_;
  duration room_;
  instant full_at_{};  // when the whole burst is available again
};

}  // namespace binnacle
