#pragma once

#include "agent/base/board.hpp"
#include "agent/uplink/send_pace.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <vector>

namespace binnacle::agent {

/// One link's place in the board: what it has announced and sent, and what comes next. What changed twice
/// before it could be sent goes once, as its newest value (conflation): counters are cumulative, so a gap
/// costs no total. A batch takes what is watched and as many other groups as make it no more than about a
/// kilobyte; the next one goes on with those that it left, so that on a thin line what is watched waits for
/// one such batch at most. With a budget, groups of which no series is watched wait for several of their
/// periods, and are announced with that period. Pure; the board and the pace must outlive it.
class feed {
 public:
  explicit feed(const board& from, const send_pace& pace) : board_(from), pace_(pace) {}

  /// The set of series, or how often they are sent, is another than was announced (at first: always).
  bool catalog_due() const noexcept { return current_version() != announced_; }
  /// The catalogue of the board as it is; all values are due again. A removed series has no place in it.
  wire::catalog announce();

  bool statuses_due() const noexcept {
    return board_.status_change() != statuses_sent_ || (first_ && !board_.statuses().empty());
  }
  /// All sources' health; the receiver keeps the newest of each.
  std::vector<wire::source_status> take_statuses();

  /// Something was read or changed since the last fill().
  bool batch_due() const noexcept { return board_.change() != seen_; }
  /// What changed since it was last sent, as far as it is its turn and there is room; everything when `full`.
  /// batch_due() stays true while something was left. False: nothing, so there is nothing to send. Only after
  /// announce(), and while catalog_due() is false.
  bool fill(wire::batch& out, bool full, instant now);

  /// What of the last fill() is of groups that are watched, in thousandths.
  std::size_t watched_share() const noexcept { return watched_share_; }
  /// Values replaced by newer ones before they were sent, in all.
  std::uint64_t conflated() const noexcept { return conflated_; }

 private:
  struct group_state {
    board::group_ref of = 0;
    bool watched = false;
    duration wait{};          // between two sends, when it is more than its period
    instant due{};            // the next send, then
    std::uint64_t sent = 0;   // change number of the board when it was last sent
    bool its_turn = false;    // in the fill() that is running
    std::size_t pending = 0;  // series that changed since the last send, in that fill()
  };
  /// A batch with so many series takes in no further group that no policy watches.
  static constexpr std::size_t most_at_once = 256;

  /// Says of each group whether it is its turn. True: whatever could go now does.
  bool choose(bool full, instant now);
  /// Differs from that of every catalogue before: both numbers only rise.
  std::uint32_t current_version() const noexcept { return board_.version() + pace_.version(); }

  const board& board_;
  const send_pace& pace_;
  std::uint32_t announced_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t statuses_sent_ = 0;
  bool first_ = true;
  std::vector<board::series_ref> series_;       // by place in the catalogue
  std::vector<std::uint16_t> group_of_series_;  // by place in the catalogue
  std::vector<group_state> groups_;             // by place in the catalogue
  std::vector<std::uint32_t> sent_changes_;     // by place: entry::changes when it was last sent
  std::size_t next_ = 0;   // place of the group that the next batch begins with, after those that are watched
  bool left_out_ = false;  // the last batch had no room for it
  std::size_t watched_share_ = 0;
  std::uint64_t conflated_ = 0;
};

}  // namespace binnacle::agent
