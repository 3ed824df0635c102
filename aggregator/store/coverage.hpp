#pragma once

#include "aggregator/store/words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace binnacle::store {

/// How much of a window's time is known. A value stands for the time since the read before it. Before the
/// first read, and across a gap, nothing is known. Without a gap inside the window (the usual case, also
/// while a new window fills) it costs a comparison or two and no memory.
///
/// Bounded: when there are more than `most_gaps` gaps, the two oldest are joined, as if both had been where
/// the later one was. Coverage is then too low for a while, but never too high.
class coverage {
 public:
  static constexpr std::size_t most_gaps = 16;

  /// `length_us`: the window's length, at least 1.
  explicit coverage(std::int64_t length_us) noexcept : length_us_(length_us) {}

  /// A read at `at_us`, later than the one before. `gap`: nothing is known of the time since then.
  void add(std::int64_t at_us, bool gap) {
    if (newest_us_ == never) {
      known_since_us_ = at_us;
    } else if (gap) {
      gaps_.push_back({newest_us_, at_us});
    }
    newest_us_ = at_us;
    if (gaps_.empty()) return;
    std::size_t over = 0;
    while (over < gaps_.size() && gaps_[over].end_us <= at_us - length_us_) ++over;
    if (over == gaps_.size()) {
      gaps_ = {};  // there are thousands of windows: an empty list takes no memory
      return;
    }
    gaps_.erase(gaps_.begin(), gaps_.begin() + static_cast<std::ptrdiff_t>(over));
    if (gaps_.size() > most_gaps) {
      gaps_[1].begin_us -= gaps_[0].end_us - gaps_[0].begin_us;
      gaps_.erase(gaps_.begin());
    }
  }

  /// The percentage of the window up to the newest read that is unknown, rounded up; 100 before the first
  /// read.
  std::uint8_t unknown_percent() const noexcept {
    if (newest_us_ == never) return 100;
    const std::int64_t from = newest_us_ - length_us_;
    if (gaps_.empty() && known_since_us_ <= from) return 0;
    std::int64_t unknown_us = std::max<std::int64_t>(known_since_us_ - from, 0);
    for (const span& g : gaps_) unknown_us += g.end_us - std::max(g.begin_us, from);
    // A week in microseconds times a hundred is far from overflowing.
    return static_cast<std::uint8_t>((unknown_us * 100 + length_us_ - 1) / length_us_);
  }

  /// For a snapshot; words.hpp.
  void save(words& into) const {
    into.insert(into.end(), {newest_us_, known_since_us_, static_cast<std::int64_t>(gaps_.size())});
    for (const span& g : gaps_) into.insert(into.end(), {g.begin_us, g.end_us});
  }
  /// What save() wrote, for a window of the same length. With anything else the reader fails, and nothing is
  /// known of the window.
  void load(word_reader& from) {
    clear();
    const std::int64_t newest = from.time_us(), since = from.time_us();
    std::int64_t last = since;
    for (std::int64_t n = from.next(0, most_gaps); n > 0 && from.ok(); --n) {
      const span g{from.time_us(), from.time_us()};
      if (g.begin_us < last || g.end_us < g.begin_us || g.end_us > newest) from.fail();
      last = g.end_us;
      gaps_.push_back(g);
    }
    if (since > newest) from.fail();
    if (!from.ok()) return clear();
    newest_us_ = newest;
    known_since_us_ = since;
  }

  /// The clock of the read times went back: coverage starts again from nothing.
  void clear() noexcept {
    newest_us_ = never;
    gaps_.clear();
  }

 private:
  struct span {
    std::int64_t begin_us, end_us;
  };
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

  std::int64_t length_us_;
  std::int64_t newest_us_ = never;   // the newest read
  std::int64_t known_since_us_ = 0;  // the first read
  std::vector<span> gaps_;           // by time; each ends inside the window
};

}  // namespace binnacle::store
