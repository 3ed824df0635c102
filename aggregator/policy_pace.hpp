#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <chrono>

namespace binnacle::aggregator {

/// When policies that have been read are put in force. Putting them in force is one turn of the ingest loop,
/// and whoever may write policies chooses how long it takes and how often there is something new. So a pause
/// of ten times as long follows it, and agents keep nine tenths of the loop. An edit after a quiet time
/// does not wait. Pure: time is given.
class policy_pace {
 public:
  /// For how long policies that have been read wait for others whose texts have come, too.
  static constexpr duration longest_unread = std::chrono::milliseconds(100);
  /// Six seconds of work have their whole pause. What seems to have taken longer was a machine that slept.
  static constexpr duration longest_pause = std::chrono::minutes(1);

  /// Whether to put them in force now. `more_wait`: texts that have not been read.
  bool is_due(bool more_wait, instant now) const noexcept {
    return now >= next_ && (!more_wait || now - last_ >= longest_unread);
  }
  /// Not before this instant.
  instant next() const noexcept { return next_; }
  /// They were put in force, from `began` to `ended`. The first time brings all policies that there are:
  /// nobody could avoid it, so no pause follows.
  void put_in_force(instant began, instant ended) noexcept {
    last_ = ended;
    next_ = first_ ? ended : ended + std::min<duration>(10 * (ended - began), longest_pause);
    first_ = false;
  }

 private:
  instant last_{}, next_{};
  bool first_ = true;
};

}  // namespace binnacle::aggregator
