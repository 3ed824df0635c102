#pragma once

#include "common/clock.hpp"
#include "common/wire/codec/scratch.hpp"
#include "common/wire/frame.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/omissions.hpp"

#include <vector>

namespace binnacle::wire {

inline constexpr std::int64_t ns_per_us = 1'000;

/// The part of a catalog that a session keeps: enough to read the batches that follow.
struct catalog_outline {
  std::uint32_t version = 0;
  std::size_t series = 0, groups = 0;
  duration longest_period{};
};
catalog_outline outline_of(const catalog& c) noexcept;

/// What both ends remember from batch to batch. It is the same on both ends as long as every batch arrives.
struct delta_memory {
  std::vector<std::int64_t> last;  ///< the last mantissa sent of each series of the catalog; 0 if none
  std::size_t groups = 0;          ///< number of groups of the catalog
  std::uint32_t version = 0;
  std::uint64_t sequence = 0;
  std::int64_t sent_at_us = 0;
  bool needs_full = true;

  /// Another catalog is in force now. The sequence and the time continue.
  void reset(const catalog_outline& c);
};

/// Turns batches into frames, for one session and its current catalog. It remembers the last mantissa sent
/// of every series, because only differences are sent.
class batch_encoder {
 public:
  /// A new catalog was sent: the next batch must be full.
  void reset(const catalog& sent) { memory_.reset(outline_of(sent)); }
  bool needs_full() const noexcept { return memory_.needs_full; }

  /// Appends `b` as one frame; its sequence and catalog_version are set here. If it is refused, `out` and the
  /// memory stay as before. Times are sent in whole microseconds, rounded down. Errors: not_full,
  /// unknown_series, clock_backwards (a read later than sent_at, sent_at less than before, or before boot),
  /// bad_message (values or absences not ascending, or a series in both), oversized.
  outcome<void> append(bytes& out, batch& b);

 private:
  outcome<void> check(const batch& b) const;

  delta_memory memory_;
  std::vector<std::uint64_t> words_;  // the message is built in here
};

/// Turns frames into batches: the counterpart of a batch_encoder.
class batch_decoder {
 public:
  /// A new catalog has come: the next batch must be full.
  void reset(const catalog_outline& received) { memory_.reset(received); }
  void reset(const catalog& received) { memory_.reset(outline_of(received)); }

  /// Decodes into `b` and reuses its vectors: nothing is allocated once they have grown. Impossible values,
  /// absences and reads (of a series or group that the catalog does not have, or from before the node's
  /// boot) are left out and counted in `left_out`. A series about which a full batch then says nothing is
  /// absent. Errors: bad_message, oversized, unknown_catalogue, unknown_series, not_full, sequence_gap,
  /// clock_backwards. After an error the session must end, because the memory may be half updated.
  outcome<void> decode(const frame_view& frame, scratch& space, batch& b, omissions& left_out);

 private:
  delta_memory memory_;
  bool any_ = false;  // a batch has come in this session
};

}  // namespace binnacle::wire
