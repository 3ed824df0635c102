#pragma once

#include "common/wire/reason.hpp"

#include <cstdint>
#include <utility>

namespace binnacle::wire {

/// Items that a reader left out of messages, because it does not understand them or because they break a
/// bound. Only the item is lost; the rest of its message counts, and the session goes on.
struct omissions {
  std::uint64_t items = 0;
  fault last;               ///< the fault of the last one, for people
  std::uint64_t taken = 0;  ///< how many of the items take_new() has reported

  void add(fault why, std::uint64_t n = 1) {
    items += n;
    last = std::move(why);
  }
  void add(const omissions& others) {
    if (others.items > 0) add(others.last, others.items);
  }
  /// How many items came since the last call.
  std::uint64_t take_new() { return items - std::exchange(taken, items); }
};

}  // namespace binnacle::wire
