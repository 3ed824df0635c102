#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <utility>

namespace binnacle {

/// Keeps one kind of log line from becoming a flood: at most `most` lines in a span, which begins with its
/// first line, and a count of those left out. Pure: time is given.
class line_throttle {
 public:
  line_throttle(std::size_t most, duration span) noexcept : most_(most), span_(span) {}

  /// How many lines were left out of the last span, once it is over; told once. Ask before take(), which
  /// begins the next span.
  std::size_t left_out(instant now) noexcept {
    if (now < until_) return 0;
    const std::size_t seen = std::exchange(seen_, 0);
    return seen > most_ ? seen - most_ : 0;
  }
  /// True when a line may be said now; it is counted either way.
  bool take(instant now) noexcept {
    if (now >= until_) seen_ = 0;
    if (seen_ == 0) until_ = now + span_;
    return ++seen_ <= most_;
  }

  /// Forgets what was said: the next line begins a span.
  void reset() noexcept { seen_ = 0, until_ = {}; }

 private:
  std::size_t most_;
  duration span_;
  std::size_t seen_ = 0;
  instant until_{};
};

}  // namespace binnacle
