#pragma once

#include "common/async/task.hpp"
#include "common/async/timeout.hpp"

#include <chrono>
#include <cstdint>

namespace binnacle::async {

task<void> sleep_for(std::chrono::nanoseconds span);

/// Ticks on multiples of its period since its start: a late tick does not shift the next one, and ticks that
/// were missed are counted, never made up for.
class periodic_timer {
 public:
  periodic_timer(loop& on, std::chrono::nanoseconds period);
  /// Waits for the next tick; the number of whole ticks missed before it (0 when in time).
  task<std::uint64_t> next();
  /// From the next tick on.
  void set_period(std::chrono::nanoseconds period) { period_ = period; }

 private:
  steady_timer timer_;
  std::chrono::nanoseconds period_;
  deadline due_;
};

/// Wakes one waiting coroutine; a notify() before the wait is remembered once. The coroutines' condition
/// variable. Threads: one loop.
class event {
 public:
  explicit event(loop& on) : timer_(on, never) {}
  explicit event(const executor& on) : timer_(on, never) {}
  void notify();
  /// True when notified, false when `until` came first (or the coroutine was cancelled).
  task<bool> wait(deadline until = never);

 private:
  steady_timer timer_;
  bool notified_ = false;
};

/// The first of SIGTERM, SIGINT and SIGHUP (a closed terminal; not where it was ignored before: nohup). From
/// its start on these signals no longer end the process.
task<int> stop_signal();

}  // namespace binnacle::async
