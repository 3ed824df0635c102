#pragma once

#include "common/clock.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::wire {

/// The difference between the aggregator's boot clock and an agent's, kept per link. What comes from the
/// agent is received later than it was sent, so received - sentAt is too large, by the least of ten minutes
/// if the least is taken; on a line that is always full that is what always waits in it. What the agent hears
/// of us it hears late, so asked - heardAt is too small, by the way there alone, however full the way back
/// is. Once an agent has told that, it is what counts: an age is never too small, and too large by the
/// fastest way there of ten minutes. Of an agent that tells nothing (version 1.0) ages are too small by the
/// fastest way back. Memory: two monotonic queues, at most one entry each per bucket of about ten seconds.
class link_offset {
 public:
  static constexpr duration window = std::chrono::minutes(10);
  static constexpr int buckets = 64;

  /// A session of a node begins; another boot id than before makes the past useless.
  void begin(std::string_view boot_id);

  /// A batch stamped `sent_at_ns` by the agent's clock was received at `received`.
  void add(std::int64_t sent_at_ns, instant received);
  /// What was sent at `asked` reached the agent when its clock showed `heard_at_ns`; its answer came at
  /// `received`.
  void heard(instant asked, std::int64_t heard_at_ns, instant received);

  /// `agent_ns` on this machine's clock, never later than `now`. Call only after add().
  instant translate(std::int64_t agent_ns, instant now) const noexcept;

  bool known() const noexcept { return back_.least().has_value(); }
  duration offset() const noexcept;
  std::size_t entries() const noexcept { return back_.size() + there_.size(); }

 private:
  /// The least of the spans added in the last ten minutes.
  class recent_least {
   public:
    void add(std::int64_t span_ns, instant now);
    std::optional<std::int64_t> least() const noexcept {
      return entries_.empty() ? std::nullopt : std::optional(entries_.front().span);
    }
    std::size_t size() const noexcept { return entries_.size(); }

   private:
    struct entry {
      std::int64_t bucket;
      std::int64_t span;  // ns
    };
    std::vector<entry> entries_;  // spans ascending, buckets ascending; the front is the minimum
  };
  recent_least back_;   // received here - sent there: the offset and the way back
  recent_least there_;  // heard there - asked here: the way there less the offset
  std::string boot_id_;
};

}  // namespace binnacle::wire
