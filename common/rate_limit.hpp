#pragma once

#include "common/clock.hpp"

#include <chrono>

namespace binnacle {

/// How often something may be done: `burst` times at once, and once more after each `refill`. Pure: time is
/// given.
class rate_limit {
 public:
  rate_limit(int burst, duration refill) noexcept
      : burst_(burst), refill_(refill), room_((burst - 1) * refill) {}

  /// Another pace from now on, also for what is missing of the burst.
  void set_refill(duration refill, instant now) noexcept {
    if (full_at_ > now)
      full_at_ = now + std::chrono::duration_cast<duration>(
                           (full_at_ - now) *
                           (static_cast<double>(refill.count()) / static_cast<double>(refill_.count())));
    refill_ = refill;
    room_ = (burst_ - 1) * refill;
  }

  /// True when it may be done now; it is counted then.
  bool take(instant now) noexcept {
    if (now < next()) return false;
    full_at_ = (full_at_ < now ? now : full_at_) + refill_;
    return true;
  }
  /// When it may be done again; may have passed.
  instant next() const noexcept { return full_at_ - room_; }

 private:
  int burst_;
  duration refill_;
  duration room_;
  instant full_at_{};  // when all of the burst is there again
};

}  // namespace binnacle
