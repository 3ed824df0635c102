#include "agent/base/clocks.hpp"

#include "common/system/process_cost.hpp"

#include <chrono>
#include <time.h>

namespace binnacle::agent {

duration clocks::time_asleep() noexcept {
  const auto since_boot = boot_clock::now().time_since_epoch();
  timespec awake{};
  ::clock_gettime(CLOCK_MONOTONIC, &awake);
  return since_boot - (std::chrono::seconds(awake.tv_sec) + std::chrono::nanoseconds(awake.tv_nsec));
}

duration clocks::cpu_time() noexcept { return own_thread_time(); }

}  // namespace binnacle::agent
