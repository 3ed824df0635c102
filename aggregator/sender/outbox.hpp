#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace binnacle::sender {

struct dialect;

/// A request that waits to be sent.
struct parcel {
  std::string body;
  std::size_t samples = 0;
  instant made{};
  const dialect* in = nullptr;  ///< in which the body is written
  std::size_t nodes = 1;        ///< whose samples these are
  // How often the server failed at this request, or at the one that this is a part of, and since when.
  unsigned failures = 0;
  instant failing_since{};
  unsigned alone = 0;          ///< how many of these failures counted for one node
  unsigned beside_others = 0;  ///< how many came while the server took other requests
  bool is_part = false;        ///< of a request that was sent in halves
};

/// Requests that the server has not taken yet, the oldest first. Bounded by bytes and by age: requests that
/// are too old or do not fit are dropped, the oldest first, and their samples are counted.
class outbox {
 public:
  outbox(std::size_t most_bytes, duration most_age) : most_bytes_(most_bytes), most_age_(most_age) {}

  void put(parcel p, instant now);
  /// Takes the oldest request out; nothing if there is none.
  std::optional<parcel> take(instant now);
  /// Puts back a request that could not be delivered: in front of all others, but behind older ones, which
  /// let it pass. It is dropped if newer ones fill the box.
  void put_back(parcel p, instant now);
  /// Puts it back behind the first one that waits, if any.
  void put_after_next(parcel p, instant now);

  /// When the oldest request was made; nothing if there is none.
  std::optional<instant> oldest() const;
  std::size_t size() const noexcept { return waiting_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }
  std::uint64_t dropped_samples() const noexcept { return dropped_; }

 private:
  void tidy(instant now);
  std::size_t most_bytes_;
  duration most_age_;
  std::deque<parcel> waiting_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace binnacle::sender
