#pragma once

#include "common/async/task.hpp"
#include "common/async/timeout.hpp"

#include <chrono>
#include <cstdint>

namespace binnacle::async {

task<void> sleep_for(std::chrono::nanoseconds span);

/// Ticks on multiples of its period since its start. A late tick does not shift the next one. Missed ticks
/// are counted and not made up for.
class periodic_timer {
 public:
  periodic_timer(loop& on, std::chrono::nanoseconds period);
  /// Waits for the next tick. Returns how many whole ticks were missed before it (0: none).
  task<std::uint64_t> next();

 private:
  steady_timer timer_;
  const std::chrono::nanoseconds period_;
  deadline due_;
};

/// Wakes one waiting coroutine, as a condition variable wakes a thread. One notify() before the wait is
/// remembered. Threads: one loop.
class event {
 public:
  explicit event(loop& on) : timer_(on, never) {}
  explicit event(const executor& on) : timer_(on, never) {}
  void notify();
  /// True if notified; false if `until` passed first or the coroutine was cancelled.
  task<bool> wait(deadline until = never);

 private:
  steady_timer timer_;
  bool notified_ = false;
};

/// Waits for the first of SIGTERM, SIGINT and SIGHUP (a closed terminal), and returns it. From its start on
/// these signals no longer end the process. SIGHUP stays ignored if it was ignored before (nohup).
task<int> stop_signal();
/// "SIGTERM", "SIGINT" or "SIGHUP": what stop_signal() returned, for the log.
const char* name_of_signal(int number) noexcept;

}  // namespace binnacle::async
