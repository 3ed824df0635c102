#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <utility>

namespace binnacle {

/// How long to wait before the next attempt at something that nobody else waits for (a sensor, a BMC). The
/// span doubles with every attempt up to a cap. If many callers wait for one peer, use `backoff`, which
/// spreads them in time.
class doubling {
 public:
  constexpr explicit doubling(duration first, duration cap = duration::max() / 2) noexcept
      : first_(first), cap_(cap), next_(first) {}

  constexpr duration next() noexcept { return std::exchange(next_, std::min(next_ * 2, cap_)); }
  /// The same as next(), but at most `most` this time.
  constexpr duration next(duration most) noexcept {
    next_ = std::min(next_, most);
    return next();
  }
  /// What next() will give.
  constexpr duration upcoming() const noexcept { return next_; }
  /// The attempt succeeded: the next failure begins with the shortest wait again.
  constexpr void reset() noexcept { next_ = first_; }

 private:
  duration first_, cap_, next_;
};

}  // namespace binnacle
