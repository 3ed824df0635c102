#pragma once

#include "aggregator/store/types.hpp"

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::store {

/// Maps node names to ids, for thousands of names in one call. Such a call mostly waits for memory. So the
/// names lie in one piece, a slot has 16 bytes, and the memory of many look-ups is fetched at once. Names are
/// never removed. Shape: open addressing with linear probing, at most half full.
class name_index {
 public:
  static constexpr node_id none{std::numeric_limits<std::uint32_t>::max()};

  /// `name` must be new.
  void add(std::string_view name, node_id id) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    const std::size_t hash = hash_of(name);
    place(
        {tag_of(hash), static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(text_.size()), id},
        hash);
    text_ += name;
    ++count_;
  }

  node_id find(std::string_view name) const noexcept { return find_from(hash_of(name), hash_of(name), name); }

  /// out[i] = the id of name_at(i), for i in [0, count).
  template <class NameAt>
  void find_all(std::size_t count, NameAt name_at, node_id* out) const noexcept {
    constexpr std::size_t block = 16;
    std::array<std::size_t, block> hash, at;
    for (std::size_t done = 0; done < count; done += block) {
      const std::size_t n = std::min(block, count - done);
      for (std::size_t k = 0; k < n; ++k) {
        hash[k] = hash_of(name_at(done + k));
        __builtin_prefetch(&slots_[hash[k] & mask()]);
      }
      for (std::size_t k = 0; k < n; ++k) {
        at[k] = probe(hash[k], tag_of(hash[k]));
        __builtin_prefetch(text_.data() + slots_[at[k] & mask()].offset);
      }
      for (std::size_t k = 0; k < n; ++k) out[done + k] = find_from(at[k], hash[k], name_at(done + k));
    }
  }

 private:
  struct slot {
    std::uint32_t tag = 0;  // the upper half of the hash
    std::uint32_t length = 0;
    std::uint32_t offset = 0;  // of the name in text_
    node_id id = none;         // none: the slot is free
  };

  static std::size_t hash_of(std::string_view name) noexcept { return std::hash<std::string_view>{}(name); }
  static std::uint32_t tag_of(std::size_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t mask() const noexcept { return slots_.size() - 1; }

  /// The first slot from `at` on that is free or has that tag.
  std::size_t probe(std::size_t at, std::uint32_t tag) const noexcept {
    while (slots_[at & mask()].id != none && slots_[at & mask()].tag != tag) ++at;
    return at;
  }
  node_id find_from(std::size_t at, std::size_t hash, std::string_view name) const noexcept {
    for (;; ++at) {
      at = probe(at, tag_of(hash));
      const slot& s = slots_[at & mask()];
      if (s.id == none || (s.length == name.size() && text_.compare(s.offset, s.length, name) == 0))
        return s.id;
    }
  }
  void place(slot s, std::size_t at) noexcept {
    while (slots_[at & mask()].id != none) ++at;
    slots_[at & mask()] = s;
  }
  void grow() {
    std::vector<slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.id != none) place(s, hash_of(std::string_view(text_).substr(s.offset, s.length)));
    }
  }

  std::vector<slot> slots_ = std::vector<slot>(64);
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace binnacle::store
