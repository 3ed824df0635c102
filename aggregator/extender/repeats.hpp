#pragma once

#include "aggregator/extender/name_list.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace binnacle::extender {

/// Finds names that come again in a list: a scheduler names a node once, and each is answered once whoever
/// asks. Holds places in the list, 24 to 48 bytes a name; the list keeps the text.
class repeats {
 public:
  /// Whether name `i` of `list` is that of an earlier call; always asked of the same list, whose names stay
  /// where they are.
  bool again(const name_list& list, std::size_t i) {
    if ((count_ + 1) * 2 > slots_.size()) grow(2 * slots_.size());
    const std::string_view name = list[i];
    const std::size_t hash = std::hash<std::string_view>{}(name);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = hash;
    for (; slots_[at & mask()].place != none; ++at) {
      const slot& s = slots_[at & mask()];
      if (s.tag == tag && list[s.place] == name) return true;
    }
    slots_[at & mask()] = {tag, static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(i)};
    ++count_;
    return false;
  }

  /// For so many names.
  void reserve(std::size_t names) {
    std::size_t size = slots_.size();
    while (names * 2 > size) size *= 2;
    if (size > slots_.size()) grow(size);
  }

 private:
  static constexpr std::uint32_t none = 0xffff'ffff;
  struct slot {
    std::uint32_t tag = 0, low = 0;  // the halves of the hash
    std::uint32_t place = none;
  };

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  void grow(std::size_t size) {
    std::vector<slot> old(size);
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.place == none) continue;
      std::size_t at = s.low;
      while (slots_[at & mask()].place != none) ++at;
      slots_[at & mask()] = s;
    }
  }

  std::vector<slot> slots_ = std::vector<slot>(64);
  std::size_t count_ = 0;
};

}  // namespace binnacle::extender
