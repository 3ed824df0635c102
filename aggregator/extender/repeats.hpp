#pragma once

#include "aggregator/extender/name_list.hpp"
#include "common/keyed_hash.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace binnacle::extender {

/// Finds names that come twice in a list. A scheduler names each node once, but another caller may not, and
/// each node is answered once. It stores places in the list, 8 to 16 bytes for each name, so that 5,000 names
/// fit into the processor's cache; the text stays in the list. For lists of up to `most` names. Names whose
/// hashes collide by chance make runs of a few places. A longer run means that somebody chose the names. From
/// then on a keyed hash is used, for which nobody can make collisions and which takes twice as long.
class repeats {
 public:
  static constexpr std::size_t most = (1u << 17) - 1;
  static constexpr std::size_t longest_run = 64;  // places; half of all are free, so chance makes some ten

  /// Whether name `i` of `list` equals a name of an earlier call. All calls must be for the same list, and
  /// its names must keep their places.
  bool again(const name_list& list, std::size_t i) {
    if ((count_ + 1) * 2 > slots_.size()) grow(list, 2 * slots_.size());
    const std::string_view name = list[i];
    const std::size_t hash = hash_of(name);
    std::size_t at = hash & mask();
    std::size_t run = 0;
    for (; slots_[at] != empty; at = (at + 1) & mask()) {
      if (slots_[at] >> place_bits == tag(hash) && list[place(slots_[at])] == name) return true;
      ++run;
    }
    put(at, hash, i);
    ++count_;
    if (run >= longest_run && !keyed_) {
      keyed_ = true;
      grow(list, slots_.size());
    }
    return false;
  }

  /// True once somebody has sent names chosen to collide.
  bool attacked() const noexcept { return keyed_; }

  /// Makes room for so many names. Call it before the first one.
  void reserve(std::size_t names) {
    std::size_t size = slots_.size();
    while (names * 2 > size) size *= 2;
    slots_.assign(size, empty);
  }

 private:
  // The upper bits of the name's hash, and its place in the list, from 1 on.
  static constexpr int place_bits = 17;
  static constexpr std::uint32_t empty = 0;

  static std::uint32_t tag(std::size_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> (64 - (32 - place_bits)));
  }
  static std::size_t place(std::uint32_t slot) noexcept { return (slot & most) - 1; }
  std::size_t mask() const noexcept { return slots_.size() - 1; }
  std::size_t hash_of(std::string_view name) const noexcept {
    return keyed_ ? keyed_hash{}(name) : std::hash<std::string_view>{}(name);
  }
  void put(std::size_t at, std::size_t hash, std::size_t i) {
    slots_[at] = tag(hash) << place_bits | static_cast<std::uint32_t>(i + 1);
  }
  void grow(const name_list& list, std::size_t size) {
    std::vector<std::uint32_t> old(size, empty);
    old.swap(slots_);
    for (const std::uint32_t slot : old) {
      if (slot == empty) continue;
      const std::size_t hash = hash_of(list[place(slot)]);
      std::size_t at = hash & mask();
      while (slots_[at] != empty) at = (at + 1) & mask();
      put(at, hash, place(slot));
    }
  }

  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64, empty);
  std::size_t count_ = 0;
  bool keyed_ = false;
};

}  // namespace binnacle::extender
