#pragma once

#include "common/clock.hpp"

#include <functional>

namespace binnacle::agent {

/// The clocks that a source reads. Tests put in their own.
struct clocks {
  /// CLOCK_BOOTTIME.
  std::function<instant()> now = boot_clock::now;
  /// How long this machine has slept since boot (CLOCK_BOOTTIME − CLOCK_MONOTONIC). If it changed between two
  /// reads, the machine was suspended, and hardware counters may have started again.
  std::function<duration()> asleep = time_asleep;
  /// CPU time of this thread. It is what a read costs, even while other processes compete for the CPU.
  std::function<duration()> worked = cpu_time;

  static duration time_asleep() noexcept;
  static duration cpu_time() noexcept;
};

}  // namespace binnacle::agent
