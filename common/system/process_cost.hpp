#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace binnacle {

/// What this process has used so far.
struct process_cost {
  double cpu_seconds = 0;                       ///< user and system time of all threads
  std::optional<std::uint64_t> resident_bytes;  ///< nothing if there is no /proc
};

/// Blocks: reads /proc/self/statm. Source: getrusage(2); proc(5), /proc/pid/statm.
process_cost own_cost();

/// CPU time that the calling thread has used so far. Source: clock_gettime(2), CLOCK_THREAD_CPUTIME_ID.
duration own_thread_time() noexcept;

/// The part of the time in which a thread worked. Pure: the caller gives the present time and how long the
/// thread has worked so far (own_thread_time()).
class load_meter {
 public:
  load_meter(duration worked, instant now) noexcept : worked_(worked), at_(now) {}

  /// The part of the time since the last call in which the thread worked, 0 to 1.
  double next(duration worked, instant now) noexcept {
    const duration work = worked - worked_, span = now - at_;
    worked_ = worked;
    at_ = now;
    if (span <= duration::zero()) return 0;
    return std::clamp(std::chrono::duration<double>(work) / std::chrono::duration<double>(span), 0.0, 1.0);
  }

 private:
  duration worked_;
  instant at_;
};

}  // namespace binnacle
