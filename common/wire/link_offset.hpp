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
/// fastest way back.
/// A boot clock can lose time (a machine that was stopped for a snapshot) or be slewed. Then the two bounds
/// contradict each other: the way there says that the offset is larger than the way back allows. When that
/// goes beyond a tolerance for some answers in a row, all that was learnt is forgotten and the last answer
/// begins anew. Memory: two monotonic queues, at most one entry each per bucket of about ten seconds.
class link_offset {
 public:
  static constexpr duration window = std::chrono::minutes(10);
  static constexpr int buckets = 64;
  /// What two sound clocks may drift apart within `window`, at the most that a kernel slews (500 ppm), is 300
  /// ms: that alone starts anew every few minutes, which costs nothing.
  static constexpr duration tolerance = std::chrono::milliseconds(100);
  static constexpr int answers = 2;  ///< that contradict, before all is forgotten

  /// A session of a node begins; another boot id than before makes the past useless.
  void begin(std::string_view boot_id);

  /// A batch stamped `sent_at_ns` by the agent's clock was received at `received`. True when it is the eighth
  /// in a row that comes later than the offset says it could have, beyond the tolerance: a line that is full,
  /// or a clock that lost time. An answer would tell which; it is not said again within 16 s.
  bool add(std::int64_t sent_at_ns, instant received);

  enum class agreement { yes, no, restarted };
  /// What was sent at `asked` reached the agent when its clock showed `heard_at_ns`; its answer came at
  /// `received`. `no`: the clocks contradict what was learnt, and another answer should come soon.
  agreement heard(instant asked, std::int64_t heard_at_ns, instant received);

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
  recent_least back_;       // received here - sent there: the offset and the way back
  recent_least there_;      // heard there - asked here: the way there less the offset
  int late_ = 0;            // batches in a row
  instant quiet_until_{};   // add() does not ask for an answer before
  int contradictions_ = 0;  // answers in a row
  std::string boot_id_;
};

}  // namespace binnacle::wire
