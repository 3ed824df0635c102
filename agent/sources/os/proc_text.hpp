#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// Parsers for texts of /proc. They accept what newer kernels add, and return nothing for a broken text.
/// Source: proc(5); Linux Documentation/filesystems/proc.rst, accounting/psi.rst.
namespace binnacle::agent::proc {

/// Ticks (1/100 s) of all CPUs since boot, by mode. guest and guest_nice are inside user and nice.
struct cpu_ticks {
  static constexpr std::array<std::string_view, 8> modes{"user",   "nice", "system",  "idle",
                                                         "iowait", "irq",  "softirq", "steal"};
  std::array<std::uint64_t, 8> mode{};

  std::uint64_t total() const noexcept;
  std::uint64_t idle() const noexcept { return mode[3] + mode[4]; }  ///< idle and iowait
};

struct stat {
  cpu_ticks all;
  unsigned cpus = 0;  ///< online
  std::optional<std::uint64_t> context_switches;
  std::optional<std::uint64_t> running;
};
/// Parses /proc/stat. Nothing if there is no complete "cpu" line.
std::optional<stat> parse_stat(std::string_view text) noexcept;

/// One "cpuN" line of /proc/stat.
struct one_cpu {
  unsigned number = 0;
  cpu_ticks ticks;
};
/// Puts the CPUs that are online into `out`, by number, in place of what was there. A broken line is left
/// out.
void parse_cpus(std::string_view stat, std::vector<one_cpu>& out);

/// The share of CPU time between two readings that was neither idle nor iowait. A single mode may step back a
/// little (iowait and idle are estimates); it then counts as 0. Nothing if no time has passed, or if all of
/// it went back.
std::optional<double> utilization(const cpu_ticks& before, const cpu_ticks& after) noexcept;

/// /proc/loadavg over 1, 5 and 15 minutes.
std::optional<std::array<double, 3>> parse_loadavg(std::string_view text) noexcept;

/// /proc/meminfo in bytes; a field the kernel does not have is absent.
struct meminfo {
  std::optional<std::uint64_t> total, available, free, buffers, cached, slab_reclaimable, slab_unreclaimable,
      swap_total, swap_free;
  /// collectd's "used": total minus free, buffers, cached and slab. Nothing if a part is missing, or if the
  /// parts are more than the total.
  std::optional<std::uint64_t> used() const noexcept;
};
std::optional<meminfo> parse_meminfo(std::string_view text) noexcept;

/// One line of /proc/net/dev. The name is a view into the text.
struct interface {
  std::string_view name;
  std::uint64_t receive_bytes, receive_packets, receive_errors, receive_dropped;
  std::uint64_t transmit_bytes, transmit_packets, transmit_errors, transmit_dropped;
};
/// Replaces `out`. False if the text is not a /proc/net/dev; a single broken line is left out.
bool parse_net_dev(std::string_view text, std::vector<interface>& out);

/// For how many µs some or all (`full`) tasks waited. For cpu, older kernels have no `full`.
struct pressure {
  std::uint64_t some_us = 0;
  std::optional<std::uint64_t> full_us;
};
std::optional<pressure> parse_pressure(std::string_view text) noexcept;

/// Seconds since boot, of /proc/uptime.
std::optional<double> parse_uptime(std::string_view text) noexcept;

}  // namespace binnacle::agent::proc
