#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace binnacle::wire {

/// Memory into which a decoder unpacks. It is kept from message to message. One per session, or one per loop.
struct scratch {
  std::vector<std::uint64_t> words;
  std::vector<std::byte> inflated;
  /// Bytes that the messages unpacked to, in all. A few hundred bytes of a frame may become 4 MiB, so this
  /// and not the size of frames tells how much work a peer makes.
  std::uint64_t unpacked = 0;

  /// Frees the memory that a large message needed, because thousands of sessions each keep a scratch.
  void rest() {
    if (words.capacity() * sizeof(std::uint64_t) > resting_bytes) std::vector<std::uint64_t>().swap(words);
    if (inflated.capacity() > resting_bytes) std::vector<std::byte>().swap(inflated);
  }

 private:
  static constexpr std::size_t resting_bytes = std::size_t{16} << 10;
};

}  // namespace binnacle::wire
