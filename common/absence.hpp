#pragma once

#include <cstdint>
#include <string_view>

namespace binnacle {

/// Why a series has no value. The names are printed by every face.
enum class absence : std::uint8_t {
  none = 0,      ///< there is a value
  not_read_yet,  ///< announced, no successful read so far
  missing,       ///< the file, sensor or zone is not there (any more)
  permission,    ///< EACCES/EPERM: --probe names the privilege
  malformed,     ///< the kernel or device gave something that is not a number
  timeout,       ///< the read did not end in time
  no_data,       ///< ENODATA, "N/A", measurement inactive
  reset,         ///< a counter went back: no rate until the next sample
  gap,           ///< too long since the last read to make a rate (double wrap possible)
  not_running,   ///< a perf event that was never scheduled
  out_of_range,  ///< NaN, infinite, or too large for an int64 mantissa
  frozen,        ///< the sensor is stuck: the same reading again and again while similar ones move
  never_moved,   ///< an energy counter that has stood still too long, ever since it was first seen
  stands_still,  ///< a counter (energy, CPU time) that moved once and has stood still for too long since
  implausible,   ///< the number cannot be true: 0 W from a thing that is on, less than a part of it draws
  stale,         ///< older than its stale-after (set by the aggregator, never sent)
  disconnected,  ///< the agent's link is down and the value has aged out (set by the aggregator, never sent)
  other,         ///< a reason that this version does not know, sent by a newer agent
};
/// "not_read_yet", "permission"…
std::string_view to_string(absence reason) noexcept;
/// The reason that has this name; `other` for a name that this version does not know.
absence absence_of(std::string_view name) noexcept;

/// Whether there was a number, and it is not believed. The sensor is broken then, and its last value may be
/// wrong, too. (A sensor that is `frozen` need not be broken.)
constexpr bool is_disbelieved(absence reason) noexcept {
  return reason == absence::never_moved || reason == absence::stands_still || reason == absence::implausible;
}

}  // namespace binnacle
