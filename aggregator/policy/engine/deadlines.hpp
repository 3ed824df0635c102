#pragma once

#include "aggregator/store/types.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace binnacle::policy {

enum class due : std::uint8_t {
  expiry,     ///< an input's value at a node becomes absent
  cool_down,  ///< a waiting node may get its label
  grace,      ///< a strategy has waited long enough for values that never came
  give_up,    ///< a strategy has waited long enough for values of one node that never came
};

struct deadline {
  instant at{};
  due what = due::expiry;
  std::uint32_t owner = 0;  ///< serial number of the input or strategy
  store::node_id node{};
};

/// The engine's deadlines, earliest first. A deadline that is no longer wanted stays in until it is due or
/// pruned; its owner then ignores it.
class deadlines {
 public:
  void push(const deadline& d) {
    heap_.push_back(d);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  std::optional<instant> next() const noexcept {
    return heap_.empty() ? std::nullopt : std::optional(heap_.front().at);
  }
  /// Takes out the earliest that is at or before `now`.
  std::optional<deadline> pop(instant now) {
    if (heap_.empty() || heap_.front().at > now) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const deadline d = heap_.back();
    heap_.pop_back();
    return d;
  }
  /// Drops all for which `dead` is true.
  template <class Dead>
  void prune(Dead dead) {
    std::erase_if(heap_, dead);
    std::make_heap(heap_.begin(), heap_.end(), later);
  }
  std::size_t size() const noexcept { return heap_.size(); }

 private:
  static bool later(const deadline& a, const deadline& b) noexcept { return a.at > b.at; }
  std::vector<deadline> heap_;
};

}  // namespace binnacle::policy
