#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <utility>

namespace binnacle {

/// Limits one kind of log line: at most `most` lines in a span of time. The first line begins the span, and
/// the lines left out are counted. Pure: the caller gives the time.
class line_throttle {
 public:
  line_throttle(std::size_t most, duration span) noexcept : most_(most), span_(span) {}

  /// After the last span is over: how many of its lines were left out. The number is returned once. Call it
  /// before take(), which begins the next span.
  std::size_t left_out(instant now) noexcept {
    if (now < until_) return 0;
    const std::size_t seen = std::exchange(seen_, 0);
    return seen > most_ ? seen - most_ : 0;
  }
  /// True if a line may be logged now. The line is counted either way.
  bool take(instant now) noexcept {
    if (now >= until_) seen_ = 0;
    if (seen_ == 0) until_ = now + span_;
    return ++seen_ <= most_;
  }

  /// Forgets all earlier lines: the next line begins a span.
  void reset() noexcept { seen_ = 0, until_ = {}; }

 private:
  std::size_t most_;
  duration span_;
  std::size_t seen_ = 0;
  instant until_{};
};

}  // namespace binnacle
