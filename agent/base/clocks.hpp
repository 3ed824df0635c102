#pragma once

#include "common/clock.hpp"

#include <functional>

namespace binnacle::agent {

/// The clocks a source reads; tests give their own.
struct clocks {
  /// CLOCK_BOOTTIME.
  std::function<instant()> now = boot_clock::now;
  /// How long this machine has slept since boot (CLOCK_BOOTTIME − CLOCK_MONOTONIC): a change between two
  /// reads means a suspend, over which counters of hardware may start again.
  std::function<duration()> asleep = time_asleep;
  /// CPU time of this thread: what a read costs, however many others want the CPU meanwhile.
  std::function<duration()> worked = cpu_time;

  static duration time_asleep() noexcept;
  static duration cpu_time() noexcept;
};

}  // namespace binnacle::agent
