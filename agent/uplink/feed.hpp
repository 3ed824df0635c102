#pragma once

#include "agent/base/board.hpp"
#include "agent/uplink/send_pace.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <vector>

namespace binnacle::agent {

/// What one link has announced and sent of the board, and what it sends next. If a value changes twice before
/// it can be sent, only the newest value is sent (conflation). Counters are cumulative, so nothing is missing
/// in their totals. A batch takes all watched groups, and other groups as long as it stays below about a
/// kilobyte; the next batch continues with the groups left over. So on a slow line watched groups wait for
/// one such batch at most. With a budget, a group without watched series waits for several of its periods,
/// and is announced with that longer period. Pure; the board and the pace must outlive it.
class feed {
 public:
  explicit feed(const board& from, const send_pace& pace) : board_(from), pace_(pace) {}

  /// Whether the set of series, or how often they are sent, differs from what was announced. True at first.
  bool catalog_due() const noexcept { return current_version() != announced_; }
  /// Whether there is a catalog to which fill() refers.
  bool has_announced() const noexcept { return announced_ != 0; }
  /// The catalog of the board as it is now. Removed series are not in it. All values are due again.
  wire::catalog announce();

  bool statuses_due() const noexcept {
    return board_.status_change() != statuses_sent_ || (first_ && !board_.statuses().empty());
  }
  /// The health of all sources. The receiver keeps the newest of each.
  std::vector<wire::source_status> take_statuses();

  /// Whether something was read or has changed since the last fill().
  bool batch_due() const noexcept { return board_.change() != seen_; }
  /// Puts into `out` what has changed since it was last sent, as far as groups have their turn and there is
  /// room. If `full`, puts everything in. batch_due() stays true if something was left over. False if there
  /// is nothing to send. Call it only after announce(). What has gone, come or got another exponent since
  /// then is left out.
  bool fill(wire::batch& out, bool full, instant now);

  /// The share of the last fill() that belongs to watched groups, in thousandths.
  std::size_t watched_share() const noexcept { return watched_share_; }
  /// How many values were replaced by newer ones before they were sent.
  std::uint64_t conflated() const noexcept { return conflated_; }

 private:
  struct group_state {
    board::group_ref of = 0;
    bool watched = false;
    duration wait{};          // between two sends, if that is longer than its period; else 0
    instant due{};            // when the next send is due, if it waits
    std::uint64_t sent = 0;   // the board's change number at the last send
    bool its_turn = false;    // whether the fill() under way takes it
    std::size_t pending = 0;  // series that changed since the last send, as counted by the fill() under way
  };
  /// A batch with this many series takes no further group that no policy watches.
  static constexpr std::size_t most_at_once = 256;

  /// Decides for each group whether it has its turn. True if every group that may be sent now is taken.
  bool choose(bool full, instant now);
  /// Whether the board has something else at this place than what was announced.
  bool is_other(const board::entry& e) const noexcept { return e.removed || is_later(e.since); }
  bool is_other(const board::group_entry& g) const noexcept { return g.removed || is_later(g.since); }
  bool is_later(std::uint64_t version) const noexcept { return version > board_version_; }
  /// Differs from the version of every earlier catalog, since both numbers only rise.
  std::uint32_t current_version() const noexcept {
    return static_cast<std::uint32_t>(board_.version()) + pace_.version();
  }

  const board& board_;
  const send_pace& pace_;
  std::uint32_t announced_ = 0;
  std::uint64_t board_version_ = 0;  // of the board, when it was announced
  std::uint64_t seen_ = 0;
  std::uint64_t statuses_sent_ = 0;
  bool first_ = true;
  std::vector<board::series_ref> series_;       // by place in the catalog
  std::vector<std::uint16_t> group_of_series_;  // by place in the catalog
  std::vector<group_state> groups_;             // by place in the catalog
  std::vector<std::uint32_t> sent_changes_;     // by place in the catalog: entry::changes at the last send
  std::size_t next_ = 0;                        // place of the first unwatched group in the next batch
  bool left_out_ = false;                       // the last batch had no room for the group at next_
  std::size_t watched_share_ = 0;
  std::uint64_t conflated_ = 0;
};

}  // namespace binnacle::agent
