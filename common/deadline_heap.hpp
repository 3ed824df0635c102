#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace binnacle {

/// Deadlines, the earliest first. A deadline that is no longer awaited stays in the heap until it is due,
/// because taking it out of the middle would cost more; its owner then ignores it. An owner that replaces
/// deadlines by earlier ones would fill the heap, so it calls prune_if_large() after push(). `awaited(d)`
/// says whether `d` still matters. `Deadline` has a member `at`, which comes first in its order. Pure.
template <class Deadline>
class deadline_heap {
 public:
  void push(const Deadline& d) {
    heap_.push_back(d);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  std::optional<instant> next() const noexcept {
    return heap_.empty() ? std::nullopt : std::optional(heap_.front().at);
  }
  /// Takes out the earliest that is at or before `now`.
  std::optional<Deadline> pop(instant now) {
    if (heap_.empty() || heap_.front().at > now) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Deadline d = heap_.back();
    heap_.pop_back();
    return d;
  }
  /// Drops all deadlines that are not awaited.
  template <class Awaited>
  void prune(Awaited awaited) {
    std::erase_if(heap_, [&awaited](const Deadline& d) { return !awaited(d); });
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    large_ = 2 * heap_.size() + usual;
  }
  /// prune(), but only when the heap has become twice as large as the last one left it, so that the cost is
  /// spread over many calls of push(). Of equal deadlines it leaves one. Where a deadline was replaced by an
  /// earlier one and then pushed again, the heap has it twice, and both are awaited.
  template <class Awaited>
  void prune_if_large(Awaited awaited) {
    if (heap_.size() < large_) return;
    std::sort(heap_.begin(), heap_.end());
    heap_.erase(std::unique(heap_.begin(), heap_.end()), heap_.end());
    prune(awaited);
  }
  std::size_t size() const noexcept { return heap_.size(); }

 private:
  static constexpr std::size_t usual = 1'024;

  std::vector<Deadline> heap_;
  std::size_t large_ = usual;
};

}  // namespace binnacle
