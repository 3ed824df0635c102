#pragma once

#include "common/wire/codec/batch_codec.hpp"

namespace binnacle::wire {

/// A catalog as it arrived, not decoded yet. Decoding one of the largest takes as long as about ten
/// thousand batches. That is too long for a thread on which other agents wait.
class sealed_catalog {
 public:
  sealed_catalog() = default;
  /// Copies the payload, 1 MiB at most.
  explicit sealed_catalog(const frame_view& frame)
      : payload_(frame.payload.begin(), frame.payload.end()), version_(frame.version), flags_(frame.flags) {}

  struct opened {
    outcome<catalog> what;
    omissions left_out;  ///< items of the catalog that were left out
    /// For adopt() of the session.
    outcome<catalog_outline> outline() const;
  };
  /// Decodes and checks. Any thread. Errors: those of decode().
  opened open() const;

 private:
  bytes payload_;
  std::uint8_t version_ = 0, flags_ = 0;
};

}  // namespace binnacle::wire
