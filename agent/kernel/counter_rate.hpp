#pragma once

#include "common/absence.hpp"
#include "common/clock.hpp"

#include <chrono>
#include <cstdint>

namespace binnacle::agent {

/// The rate of a kernel counter between its last two readings. Pure. When a counter falls (a driver was
/// reloaded, an interface made again), there is no rate until the next reading.
template <class Number>
class basic_counter_rate {
 public:
  void update(Number value, instant when) noexcept {
    const auto elapsed = when - last_at_;
    if (started_ && elapsed < std::chrono::milliseconds(20)) return;  // counts as the same reading
    if (!started_) {
      reason_ = absence::not_read_yet;
    } else if (value < last_) {
      reason_ = absence::reset;
    } else {
      reason_ = absence::none;
      per_second_ = static_cast<double>(value - last_) / std::chrono::duration<double>(elapsed).count();
    }
    started_ = true;
    last_ = value;
    last_at_ = when;
  }
  /// The counter was not read for a while. The next reading counts as a first one.
  void restart() noexcept { started_ = false; }

  absence reason() const noexcept { return reason_; }
  /// Only valid if reason() is none. Units: those of the counter, per second.
  double per_second() const noexcept { return per_second_; }

 private:
  bool started_ = false;
  Number last_ = 0;
  instant last_at_{};
  double per_second_ = 0;
  absence reason_ = absence::not_read_yet;
};
using counter_rate = basic_counter_rate<std::uint64_t>;

}  // namespace binnacle::agent
