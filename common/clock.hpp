#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

namespace binnacle {

/// CLOCK_BOOTTIME: monotonic, counts suspend, starts at boot. Samples are stamped with it and every age,
/// deadline and window is measured on it, so a wall-clock step changes nothing. Never
/// compared across machines: the ingest translates an agent's instants by its link's offset first. Source:
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

/// A point in this machine's boot time, and spans of it. Pure cores get `instant now` as an argument; they
/// never ask a clock.
using instant = boot_clock::time_point;
using duration = boot_clock::duration;

/// Nanoseconds since boot, for the wire and atomics.
constexpr std::int64_t to_ns(instant t) noexcept { return t.time_since_epoch().count(); }
constexpr instant from_ns(std::int64_t ns) noexcept { return instant(duration(ns)); }

/// The wall-clock time of `t`, by the present difference between CLOCK_REALTIME and CLOCK_BOOTTIME. For
/// showing to people and Kubernetes only.
std::chrono::system_clock::time_point wall_time(instant t) noexcept;

/// The wall-clock time of `seconds` since 1970. system_clock counts nanoseconds from 1970 and ends in April
/// 2262, while certificates end in 9999 (RFC 5280, 4.1.2.5: no expiry) and times of Go begin in the year 1:
/// what lies outside becomes the nearer end of 1970 to 2262, so that the difference of any two fits.
std::chrono::system_clock::time_point wall_at(std::time_t seconds) noexcept;

/// RFC 3339, UTC, whole seconds, "2026-01-01T00:00:00Z": the form of Kubernetes timestamps.
std::string rfc3339(std::chrono::system_clock::time_point t);

/// "12ms", "1.3s", "4m10s": a span as people read it. Negative spans print as "0ms".
std::string human(duration d);

/// The shortest Go duration of exactly `d`, 0 or more: "1h30m", "1.5s", "200ms", "0s". parse_duration() reads
/// it back the same.
std::string duration_text(duration d);

/// Text of a Go duration ("1h30m", "2.5s", "200ms", "0") to a span; TAS's flags and our policy fields use
/// this form. Units: ns us µs ms s m h, a sign is refused. Returns false when the text is no such duration or
/// exceeds 100 years.
bool parse_duration(std::string_view text, duration& out) noexcept;

}  // namespace binnacle
