#pragma once

#include "common/error.hpp"

#include <boost/crc.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace binnacle::aggregator {

/// The last bytes of a state file: they tell whether the others are those that were written. A disk or a copy
/// may change a byte, and a changed number may be as believable as the right one. (Against somebody who may
/// write to the folder it is no help.) Eight letters, and the CRC-32 of all bytes before them.
class state_seal {
 public:
  static constexpr std::size_t size = 12;

  /// Takes the next bytes of the file into account.
  void add(std::span<const std::byte> bytes) { sum_.process_bytes(bytes.data(), bytes.size()); }
  std::array<std::byte, size> bytes() const;

 private:
  boost::crc_32_type sum_;
};

/// The bytes of a whole file, without their seal. A file of an older release has none and is taken as it is.
/// Error: invalid_input, if the bytes are not those that were written; a clause.
result<std::span<const std::byte>> without_seal(std::span<const std::byte> file);

}  // namespace binnacle::aggregator
