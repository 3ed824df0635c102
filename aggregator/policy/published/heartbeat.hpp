#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace binnacle::policy {

/// Shows that verdicts are kept up to date. The loop that judges calls beat() about once a second. Without
/// that, readers of verdicts could not tell a cell that nobody writes any more from one that needs no change.
/// Threads: one writer, any readers.
class heartbeat {
 public:
  /// Without a beat for longer than this, verdicts count as missing data.
  static constexpr duration patience = std::chrono::seconds(5);

  void beat(instant now) noexcept { last_ns_.store(to_ns(now), std::memory_order_release); }
  /// Since the last beat; zero before the first.
  duration age(instant now) const noexcept {
    const auto last = last_ns_.load(std::memory_order_acquire);
    return last == 0 ? duration::zero() : std::max(now - from_ns(last), duration::zero());
  }
  bool stopped(instant now) const noexcept { return age(now) > patience; }

 private:
  std::atomic<std::int64_t> last_ns_{0};
};

}  // namespace binnacle::policy
