#pragma once

#include "common/clock.hpp"
#include "common/rate_limit.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace binnacle::labels {

/// When the next patch may be sent: `least` a second at first, and `burst` at once. Each quick answer to a
/// patch that was `held` up by this pace allows one a second more, up to `most`. A slow answer takes a
/// quarter off the pace. If the server has no time (429 of its priority and fairness, 5xx) or does not
/// answer, the pace falls back to `least`. So 5,000 labels take less than a minute where the API server has
/// time for them. Several patches may be under way at a time; the bound of their number also bounds the load
/// on a slow server. Pure.
class patch_pace {
 public:
  static constexpr double least = 20, most = 200;  ///< a second
  static constexpr int burst = 40;
  static constexpr duration quick = std::chrono::milliseconds(250), slow = std::chrono::seconds(1);

  instant next() const noexcept { return limit_.next(); }
  /// A patch is sent. Returns whether the next one has to wait for this pace.
  bool sent(instant now) noexcept {
    limit_.take(now);
    return limit_.next() > now;
  }
  /// The server took a patch, after that long. `held`: patches were waiting for this pace when it was sent,
  /// and for nothing else.
  void taken(duration after, bool held, instant now) noexcept {
    if (after > slow) {
      set(now_ * 0.75, now);
    } else if (after <= quick && held) {
      set(now_ + 1, now);
    }
  }
  /// The server had no time for it, or did not answer.
  void refused(instant now) noexcept { set(least, now); }

  double per_second() const noexcept { return now_; }

 private:
  void set(double per_second, instant now) noexcept {
    now_ = std::clamp(per_second, least, most);
    limit_.set_refill(refill(), now);
  }
  duration refill() const noexcept { return duration(static_cast<std::int64_t>(1e9 / now_)); }

  double now_ = least;
  rate_limit limit_{burst, refill()};
};

}  // namespace binnacle::labels
