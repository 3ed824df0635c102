#pragma once

#include <cstdint>
#include <string_view>

namespace binnacle {

/// A hash that is the same on every machine and in every release. For values that others compare: entity
/// tags, revisions of policies. For texts that a peer chooses use keyed_hash: anybody can make texts that
/// collide here. Source: FNV-1a, 64 bits; Fowler, Noll, Vo; draft-eastlake-fnv.
class fnv1a {
 public:
  constexpr void add(std::string_view bytes) noexcept {
    for (const char c : bytes) add(static_cast<unsigned char>(c));
  }
  /// Adds `text` and a byte that marks its end, so that ("ab", "c") differs from ("a", "bc"). No UTF-8 text
  /// holds that byte.
  constexpr void add_field(std::string_view text) noexcept {
    add(text);
    add(static_cast<unsigned char>(0xff));
  }
  constexpr std::uint64_t value() const noexcept { return hash_; }

 private:
  constexpr void add(unsigned char byte) noexcept { hash_ = (hash_ ^ byte) * 0x100000001b3; }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace binnacle
