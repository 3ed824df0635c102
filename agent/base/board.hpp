#pragma once

#include "common/clock.hpp"
#include "common/decimal.hpp"
#include "common/keyed_hash.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::agent {

/// A period or stale-after as a group announces it: whole milliseconds, at least 1, at most what 32 bits hold
/// (49 days).
std::uint32_t in_ms(duration d);

/// Holds the newest value of every series of this node. Sources write it; the uplink and the metrics page
/// read it. A new value replaces the old one and nothing queues, so when a socket is full the newest value is
/// what is sent (conflation). Threads: the agent's loop only.
class board {
 public:
  using series_ref = std::uint32_t;
  using group_ref = std::uint16_t;
  /// What add_series() and add_group() return when the board is full. Every call accepts it and then does
  /// nothing.
  static constexpr series_ref no_series = std::numeric_limits<series_ref>::max();
  static constexpr group_ref no_group = std::numeric_limits<group_ref>::max();

  /// Bounds on what sources may announce. Anything beyond them is refused and counted in refused(). They
  /// equal what an aggregator takes from one node (store::catalog_limits, wire::max_message_bytes), since an
  /// aggregator refuses a catalog only as a whole.
  struct bounds {
    std::size_t series = 10'000;
    std::size_t groups = 1'000;
    std::size_t bytes = 3u << 19;  ///< of names, labels and help texts
  };
  board() : board(bounds{}) {}
  explicit board(bounds most) : most_(most) {}

  /// Adds a group: the series that one read refreshes. The same source and name give the same group again.
  /// Gives no_group if the board is full or the wire would refuse the group.
  group_ref add_group(std::string source, std::string name, duration period, duration stale_after);
  /// From now on the group is read at another period. Raises version() if the period or stale-after is new.
  void set_period(group_ref g, duration period, duration stale_after);
  /// Forgets the group and its series. Raises version(). All other references stay valid; this one may be
  /// given out again.
  void remove_group(group_ref g);

  /// Adds a series. The same family and labels in the same group give the same series again. Exponent and
  /// type come from METRICS.md, or for foreign families from the arguments. Label values may come from
  /// hardware and file names: bytes that are not UTF-8 become '?', so texts that differ only in such bytes
  /// are one. Gives no_series if the board is full, if the group was removed, or if the aggregator would
  /// refuse the series (an invalid name, a label value of more than 1 KiB). Raises version().
  series_ref add_series(group_ref group, std::string family, metrics::label_set labels,
                        std::int8_t exponent = 0, metrics::kind type = metrics::kind::gauge,
                        std::string help = {});
  /// Whether the bounds leave room for one more series with `text` bytes of name, labels and help, if
  /// `series` other series with `bytes` bytes of text are forgotten first.
  bool has_room(std::size_t text, std::size_t series = 0, std::size_t bytes = 0) const noexcept {
    return live_series() < most_.series + series && bytes_ + text <= most_.bytes + bytes;
  }
  /// Forgets the series, because its file or device went away for good. Raises version(). All other
  /// references stay valid; this one may be given out again.
  void remove_series(series_ref s);

  /// Stores `value`, rounded to the series' resolution. NaN, infinities and values that are too large become
  /// absent (out_of_range). If the exponent of a foreign series keeps fewer than nine digits of `value`, the
  /// series gets another exponent, which raises version(). If a foreign value other than 0 would still be
  /// rounded to 0, it becomes absent (out_of_range).
  void set(series_ref s, double value);
  /// Stores a value that is already a mantissa at the series' resolution.
  void set(series_ref s, std::int64_t mantissa);
  void set_absent(series_ref s, absence reason);
  /// Makes every series of `source` absent that now has a value. Series that are absent already keep their
  /// reason.
  void set_without_value(std::string_view source, absence reason);
  /// Withholds a series whose reading cannot be believed: it is absent with `reason`, whatever its source
  /// sets. `withheld` = false takes this reason back. A series may be withheld for several reasons at once;
  /// the first of them in the order of `absence` is shown.
  void withhold(series_ref s, absence reason, bool withheld);
  /// What the source set last, withheld or not. Nothing if the source set an absence.
  std::optional<decimal> measured(series_ref s) const;
  /// Marks the group as read now. Only this refreshes the age of its values. Call it after the read returned.
  void mark_read(group_ref g, instant when);

  /// Health of a source in words, kept until it changes.
  void set_status(std::string source, bool ok, std::string message);

  struct entry {
    wire::series_info info;
    decimal value;
    absence reason = absence::not_read_yet;
    bool removed = false;
    bool foreign = false;           ///< not in METRICS.md: the exponent may change
    std::uint32_t withheld = 0;     ///< the reasons for which it is withheld, one bit each
    std::optional<decimal> behind;  ///< the value set while withheld
    bool withheld_for(absence why) const noexcept { return (withheld >> static_cast<unsigned>(why)) & 1u; }
    std::uint32_t changes = 0;  ///< how often value or reason changed; wraps
    std::uint64_t changed = 0;  ///< change number of the last change of value or reason
    std::uint64_t since = 0;    ///< the board's version() since which it has this name and exponent
    // Foreign series only:
    double largest = 0;             ///< magnitude that the exponent leaves room for
    std::uint8_t refits_used = 0;   ///< how many of the most_refits changes of exponent are used up
    std::uint8_t values_since = 0;  ///< values until the next change is given back, counted from 0
  };
  struct group_entry {
    wire::group_info info;
    instant read_at{};  ///< time of the last successful read; zero: never read
    std::uint64_t changed = 0;
    std::uint64_t since = 0;  ///< the board's version() since which it is there
    bool removed = false;
  };
  const std::vector<entry>& series() const noexcept { return series_; }
  const std::vector<group_entry>& groups() const noexcept { return groups_; }
  const std::vector<wire::source_status>& statuses() const noexcept { return statuses_; }
  std::size_t live_series() const noexcept { return series_.size() - free_series_.size(); }

  /// Raised when the set of series or groups changes: the catalog must be sent again.
  std::uint64_t version() const noexcept { return version_; }
  /// Raised by every change. An uplink remembers the number up to which it has sent.
  std::uint64_t change() const noexcept { return change_; }
  std::uint64_t status_change() const noexcept { return status_change_; }
  /// Counts something that a source could not take over. `reason` is a label value and must be static text.
  void count_refused(std::string_view reason, std::uint64_t times = 1);
  struct refusal {
    std::string_view reason;  ///< "bound": the board was full; "invalid": wire::check(); else a source's own
    std::uint64_t count = 0;
  };
  const std::vector<refusal>& refused() const noexcept { return refused_; }
  /// Why add_group() or add_series() last refused something, in one sentence, for the source's status.
  const std::string& last_refusal() const noexcept { return last_refusal_; }
  /// Raised each time add_group() or add_series() refuses something.
  std::uint64_t refusals() const noexcept { return refusals_; }

 private:
  void store(entry& e, decimal value);
  void lose(entry& e, absence reason);
  void refit(entry& e, double value);
  void refuse(std::string_view reason, std::string sentence);

  bounds most_;
  std::vector<entry> series_;
  std::vector<group_entry> groups_;
  std::vector<wire::source_status> statuses_;
  std::unordered_map<std::string, series_ref, keyed_hash> by_name_;  // key: group, family and labels
  std::vector<series_ref> free_series_;
  std::vector<group_ref> free_groups_;
  std::uint64_t version_ = 1;
  std::uint64_t change_ = 0;
  std::uint64_t status_change_ = 0;
  std::vector<refusal> refused_;
  std::string last_refusal_;
  std::uint64_t refusals_ = 0;
  std::size_t bytes_ = 0;  // of the texts of all series
};

}  // namespace binnacle::agent
