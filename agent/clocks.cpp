#include "agent/clocks.hpp"

#include <chrono>
#include <time.h>

namespace binnacle::agent {

duration clocks::time_asleep() noexcept {
  const auto since_boot = boot_clock::now().time_since_epoch();
  timespec awake{};
  ::clock_gettime(CLOCK_MONOTONIC, &awake);
  return since_boot - (std::chrono::seconds(awake.tv_sec) + std::chrono::nanoseconds(awake.tv_nsec));
}

duration clocks::cpu_time() noexcept {
  timespec worked{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &worked);
  return std::chrono::seconds(worked.tv_sec) + std::chrono::nanoseconds(worked.tv_nsec);
}

}  // namespace binnacle::agent
