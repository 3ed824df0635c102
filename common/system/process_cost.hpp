#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <optional>

namespace binnacle {

/// What this process has used so far.
struct process_cost {
  double cpu_seconds = 0;                       ///< of user and system, of all threads
  std::optional<std::uint64_t> resident_bytes;  ///< nothing where /proc is not there
};

/// Blocks: reads /proc/self/statm. Source: getrusage(2); proc(5), /proc/pid/statm.
process_cost own_cost();

/// CPU time that the calling thread has used so far. Source: clock_gettime(2), CLOCK_THREAD_CPUTIME_ID.
duration own_thread_time() noexcept;

}  // namespace binnacle
