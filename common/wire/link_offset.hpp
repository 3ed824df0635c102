#pragma once

#include "common/clock.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::wire {

/// The difference between the aggregator's boot clock and an agent's, kept per link: the least of received -
/// sentAt over the last ten minutes, that is of the batch that travelled fastest. The one-way delay of that
/// batch stays in it, so ages come out too small by that much (design 5, Time). Memory: a monotonic queue, at
/// most one entry per bucket of about ten seconds.
class link_offset {
 public:
  static constexpr duration window = std::chrono::minutes(10);
  static constexpr int buckets = 64;

  /// A session of a node begins; another boot id than before makes the past useless.
  void begin(std::string_view boot_id);

  /// A batch stamped `sent_at_ns` by the agent's clock was received at `received`.
  void add(std::int64_t sent_at_ns, instant received);

  /// `agent_ns` on this machine's clock, never later than `now`. Call only after add().
  instant translate(std::int64_t agent_ns, instant now) const noexcept;

  bool known() const noexcept { return !least_.empty(); }
  duration offset() const noexcept { return least_.empty() ? duration() : duration(least_.front().offset); }
  std::size_t entries() const noexcept { return least_.size(); }

 private:
  struct entry {
    std::int64_t bucket;
    std::int64_t offset;  // ns
  };
  std::vector<entry> least_;  // offsets ascending, buckets ascending; the front is the minimum
  std::string boot_id_;
};

}  // namespace binnacle::wire
