#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace binnacle::agent {

/// One event on one CPU: computes from its readings how much it rose. Pure.
///
/// If a PMU has too few counters, the kernel lets groups take turns. A count then covers only the time for
/// which the group was on the PMU, and the rise is estimated as Δcount × Δenabled / Δrunning. The differences
/// are scaled and not the totals, because a scaled total can go backwards. A count starts at 0 when the event
/// is opened. The difference is taken modulo 2^64, where the kernel's sum wraps. Source: perf_event_open(2),
/// PERF_FORMAT_TOTAL_TIME_RUNNING.
class scaled_counter {
 public:
  /// How much the counter rose since the last reading that gave a result. Nothing if it has not been on the
  /// PMU since then; the next result then covers that time, too.
  std::optional<std::uint64_t> update(std::uint64_t count, std::uint64_t enabled_ns,
                                      std::uint64_t running_ns) noexcept {
    const auto enabled = enabled_ns - enabled_ns_;
    const auto running = running_ns - running_ns_;
    if (running == 0) return std::nullopt;
    auto rise = count - count_;
    // The kernel reads the two times one after the other, so running may be slightly more than enabled.
    if (running < enabled) {
      const double share = static_cast<double>(enabled) / static_cast<double>(running);
      rise = static_cast<std::uint64_t>(std::llround(static_cast<double>(rise) * share));
    }
    count_ = count;
    enabled_ns_ = enabled_ns;
    running_ns_ = running_ns;
    return rise;
  }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t enabled_ns_ = 0;
  std::uint64_t running_ns_ = 0;
};

}  // namespace binnacle::agent
