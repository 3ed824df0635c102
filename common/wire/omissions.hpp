#pragma once

#include "common/wire/reason.hpp"

#include <cstdint>
#include <utility>

namespace binnacle::wire {

/// Items of messages that a reader left out, because it does not understand them or because they break a
/// bound. Such an item costs itself, never the message that it came with nor the session.
struct omissions {
  std::uint64_t items = 0;
  fault last;               ///< what was wrong with the last one, for people
  std::uint64_t taken = 0;  ///< of the items, by take_new()

  void add(fault why, std::uint64_t n = 1) {
    items += n;
    last = std::move(why);
  }
  void add(const omissions& others) {
    if (others.items > 0) add(others.last, others.items);
  }
  /// How many items came since the last call, for a caller that counts them and reports the last.
  std::uint64_t take_new() { return items - std::exchange(taken, items); }
};

}  // namespace binnacle::wire
