#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/decimal.hpp"
#include "common/wire/messages.hpp"

namespace binnacle::agent {

/// The newest value of every series of this node: what sources write, and what the uplink and the scrape endpoint read.
/// A new value replaces the old one, so when the socket is full the newest wins and nothing queues (design 6, conflation).
/// Threads: the agent's loop only.
class board {
 public:
  using series_ref = std::uint32_t;
  using group_ref = std::uint16_t;

  /// Adds a group of series that one read refreshes. The same source and name give the same group again.
  group_ref add_group(std::string source, std::string name, duration period, duration stale_after);

  /// Adds a series; the same family and labels in the same group give the same series again. The exponent comes from the
  /// catalogue, for foreign families from `exponent`. Raises version().
  series_ref add_series(group_ref group, std::string family, metrics::label_set labels, std::int8_t exponent, metrics::kind type,
                        std::string help = {});
  /// Forgets the series (a zone, file or device that went away for good). Raises version(); other references stay valid.
  void remove_series(series_ref s);

  /// Stores `value`, rounded to the series' resolution; NaN, infinite and too large become absent (out_of_range).
  void set(series_ref s, double value);
  void set(series_ref s, std::int64_t mantissa);  ///< already at the series' resolution
  void set_absent(series_ref s, wire::absence reason);
  /// Marks the group as read: the only thing that refreshes the age of its values. Call after the read returned.
  void mark_read(group_ref g, instant when);

  /// Health of a source in words, kept until it changes.
  void set_status(std::string source, bool ok, std::string message);

  struct entry {
    wire::series_info info;
    decimal value;
    wire::absence reason = wire::absence::not_read_yet;
    std::uint64_t changed = 0;  ///< change number of the last change of value or reason
    bool removed = false;
  };
  struct group_entry {
    wire::group_info info;
    instant read_at{};  ///< of the last successful read; zero: never
    std::uint64_t changed = 0;
  };
  const std::vector<entry>& series() const noexcept { return series_; }
  const std::vector<group_entry>& groups() const noexcept { return groups_; }
  const std::vector<wire::source_status>& statuses() const noexcept { return statuses_; }

  /// Raised when the set of series or groups changes: the catalogue must be sent again.
  std::uint32_t version() const noexcept { return version_; }
  /// Raised by every change; an uplink remembers up to which it has sent.
  std::uint64_t change() const noexcept { return change_; }
  std::uint64_t status_change() const noexcept { return status_change_; }

 private:
  std::vector<entry> series_;
  std::vector<group_entry> groups_;
  std::vector<wire::source_status> statuses_;
  std::uint32_t version_ = 1;
  std::uint64_t change_ = 0;
  std::uint64_t status_change_ = 0;
};

}  // namespace binnacle::agent
