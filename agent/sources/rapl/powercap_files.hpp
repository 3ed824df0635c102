#pragma once

#include "common/absence.hpp"

#include <powercap/powercap.h>

#include <cstdint>
#include <string>
#include <utility>

namespace binnacle::agent {

/// A number from a powercap file, or why there is none.
struct powercap_number {
  std::uint64_t value = 0;
  absence reason = absence::none;
  int error_number = 0;  ///< errno behind `reason`, 0 if none
};

/// Powercap's numbers are in µW.
constexpr double to_watts(std::uint64_t microwatts) noexcept { return static_cast<double>(microwatts) / 1e6; }

/// The open files of one zone, read by libpowercap's getters.
///
/// We open the files ourselves, read-only and below any root. The library's own open functions know only
/// /sys/class/powercap, open without close-on-exec, and refuse a whole package because of one strange file.
/// The descriptor of a file that is not there is −1, for which the getter says EBADF. The library would use
/// 0, but that would read standard input.
class zone_files {
 public:
  /// `folder` is the zone's folder. Never fails: a file that cannot be opened is absent with its reason.
  explicit zone_files(const std::string& folder);
  ~zone_files();
  zone_files(zone_files&& other) noexcept;
  zone_files& operator=(zone_files&& other) noexcept;
  zone_files(const zone_files&) = delete;
  zone_files& operator=(const zone_files&) = delete;

  /// The energy counter in µJ. `last` is the value before. The library reads "abc" as 0 and "12x" as 12. So a
  /// number that is 0, below `last` or above `range` is checked again as text.
  powercap_number energy_uj(std::uint64_t last, std::uint64_t range) const;
  powercap_number max_energy_range_uj() const;

 private:
  powercap_zone fds_;
  int energy_errno_ = 0;  // errno of opening energy_uj
};

/// The files of one constraint of a zone. They stay open, like those of zone_files.
class constraint_files {
 public:
  constraint_files(const std::string& folder, unsigned index);
  ~constraint_files();
  constraint_files(constraint_files&& other) noexcept;
  constraint_files& operator=(constraint_files&& other) noexcept;
  constraint_files(const constraint_files&) = delete;
  constraint_files& operator=(const constraint_files&) = delete;

  powercap_number power_limit_uw() const;  ///< the limit in force
  powercap_number max_power_uw() const;    ///< the largest limit that may be set; for long_term it is the TDP

 private:
  powercap_constraint fds_;
};

}  // namespace binnacle::agent
