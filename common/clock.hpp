#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

namespace binnacle {

/// CLOCK_BOOTTIME: monotonic, counts suspend, starts at boot. Samples are stamped with it, and every age,
/// deadline and window is measured on it, so a step of the wall clock changes nothing. Times of two machines
/// are never compared directly: the ingest first translates an agent's times by its link's offset. Source:
/// clock_gettime(2).
struct boot_clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;

  /// Thread-safe; one vDSO call.
  static time_point now() noexcept;
};

/// A point in this machine's boot time, and spans of it. Pure code gets `instant now` as an argument and
/// never asks a clock.
using instant = boot_clock::time_point;
using duration = boot_clock::duration;

/// Nanoseconds since boot, for the wire and atomics.
constexpr std::int64_t to_ns(instant t) noexcept { return t.time_since_epoch().count(); }
constexpr instant from_ns(std::int64_t ns) noexcept { return instant(duration(ns)); }
/// Whole microseconds since boot, rounded towards it.
constexpr std::int64_t to_us(instant t) noexcept { return to_ns(t) / 1'000; }
constexpr instant from_us(std::int64_t us) noexcept { return from_ns(us * 1'000); }

/// The wall-clock time of `t`, by the present difference between CLOCK_REALTIME and CLOCK_BOOTTIME. Only for
/// output to people and to Kubernetes.
std::chrono::system_clock::time_point wall_time(instant t) noexcept;

/// The wall-clock time of `seconds` since 1970. system_clock counts nanoseconds from 1970 and ends in April
/// 2262, but certificates may end in 9999 (RFC 5280, 4.1.2.5: no expiry), and times of Go begin in the year
/// 1. A time outside 1970 to 2262 becomes the nearer end of that range, so that the difference of any two
/// times fits.
std::chrono::system_clock::time_point wall_at(std::time_t seconds) noexcept;

/// RFC 3339, UTC, whole seconds, "2026-01-01T00:00:00Z": the form of Kubernetes timestamps.
std::string rfc3339(std::chrono::system_clock::time_point t);

/// "12ms", "1.3s", "4m10s": a span as people read it. Negative spans print as "0ms".
std::string human(duration d);

/// The shortest Go duration of exactly `d`, 0 or more: "1h30m", "1.5s", "200ms", "0s". parse_duration() reads
/// it back the same.
std::string duration_text(duration d);

/// Reads a Go duration ("1h30m", "2.5s", "200ms", "0"). TAS's flags and our policy fields use this form.
/// Units: ns us µs ms s m h; a sign is refused. Returns false if the text is no such duration or exceeds 100
/// years.
bool parse_duration(std::string_view text, duration& out) noexcept;

}  // namespace binnacle
