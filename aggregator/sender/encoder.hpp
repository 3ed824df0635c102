#pragma once

#include "aggregator/sender/cursor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace binnacle::sender {

/// Where the readings come from: added to the labels of every series.
struct origin {
  std::string cluster;  ///< empty: none
  std::string replica;  ///< empty: only one replica writes
  std::string version = BINNACLE_VERSION;
};

/// Turns points into the body of one request after another. Pure.
class encoder {
 public:
  virtual ~encoder() = default;
  /// Adds a point; `at_ns`: when it was read, in nanoseconds since 1970.
  virtual void add(const point& p, std::int64_t at_ns) = 0;
  virtual std::size_t samples() const noexcept = 0;
  virtual std::size_t bytes() const noexcept = 0;  ///< before compression
  /// The compressed body; the encoder is empty again afterwards.
  virtual std::string take() = 0;
};

}  // namespace binnacle::sender
