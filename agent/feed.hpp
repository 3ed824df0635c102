#pragma once

#include "agent/board.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <vector>

namespace binnacle::agent {

/// One link's place in the board: what it has announced and sent, and what comes next. What changed twice
/// before it could be sent goes once, as its newest value (design 6, conflation). Pure; the board must
/// outlive it.
class feed {
 public:
  explicit feed(const board& from) : board_(from) {}

  /// The set of series is another one than was announced (at first: always).
  bool catalog_due() const noexcept { return board_.version() != announced_; }
  /// The catalogue of the board as it is; all values are due again. A removed series has no place in it.
  wire::catalog announce();

  bool statuses_due() const noexcept {
    return board_.status_change() != statuses_sent_ || (first_ && !board_.statuses().empty());
  }
  /// All sources' health; the receiver keeps the newest of each.
  std::vector<wire::source_status> take_statuses();

  /// Something was read or changed since the last fill().
  bool batch_due() const noexcept { return board_.change() != sent_; }
  /// What changed since the last fill(), everything when `full`. Only after announce(), and while
  /// catalog_due() is false.
  void fill(wire::batch& out, bool full);

  /// Values replaced by newer ones before they were sent, in all.
  std::uint64_t conflated() const noexcept { return conflated_; }

 private:
  const board& board_;
  std::uint32_t announced_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t statuses_sent_ = 0;
  bool first_ = true;
  std::vector<board::series_ref> series_;  // by place in the catalogue
  std::vector<board::group_ref> groups_;
  std::vector<std::uint32_t> sent_changes_;  // by place: entry::changes when it was last sent
  std::uint64_t conflated_ = 0;
};

}  // namespace binnacle::agent
