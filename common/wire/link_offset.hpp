#pragma once

#include "common/clock.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::wire {

/// The difference between the aggregator's boot clock and an agent's, kept per link. Ages are computed with
/// it. Pure.
///
/// Why it is not simple: agents stamp readings with their own boot clock, because wall clocks jump and
/// differ. Nothing keeps two boot clocks together. All that can be measured are messages, and each is late by
/// an unknown time on its way. With offset = our clock - the agent's clock at the same moment:
///
///   a batch comes:       received - sent = offset + the way back,  so offset <= received - sent
///   a question arrives:  asked - heard = offset - the way there,   so offset >= asked - heard
///
/// A batch goes from the agent to the aggregator; a question goes the other way.
/// So batches bound the offset from above and answers to questions bound it from below. The fastest message
/// of each kind gives the tightest bound. It counts for ten minutes, since clocks drift.
///
/// Which bound is used: an offset that is too large makes readings look younger than they are, and policies
/// would trust old values. An offset that is too small makes them look older, which is safe. On a line that
/// is always full, every batch waits for seconds, and the upper bound is wrong by that much. A question goes
/// the other way, where the line is not full. So once an agent has answered a question, the lower bound is
/// used. Ages are then never too small, and too large by no more than the time that the fastest question of
/// ten minutes took. An agent of version 1.0 answers no questions. Then the upper bound is used, and ages are
/// too small by the time that the fastest batch took.
///
/// What can go wrong: a boot clock can lose time (a machine that was stopped for a snapshot), or the kernel
/// slews it. Then the bounds of the last ten minutes belong to an offset that is no longer true, and ages
/// would be wrong until those bounds are forgotten. This can be seen, because the lower bound then exceeds
/// the upper one. If it does so by more than `tolerance` for `answers` answers in a row, everything is
/// forgotten, and the last answer is the new beginning. A single odd answer does not count, so that it does
/// not throw away ten minutes.
///
/// Memory: two monotonic queues, with at most one entry each per bucket of about ten seconds.
class link_offset {
 public:
  static constexpr duration window = std::chrono::minutes(10);
  static constexpr int buckets = 64;
  /// Two sound clocks drift apart by at most 300 ms within `window`, if a kernel slews one as much as it may
  /// (500 ppm). Such a drift exceeds the tolerance, so the link forgets and learns again every few minutes.
  /// That costs nothing.
  static constexpr duration tolerance = std::chrono::milliseconds(100);
  static constexpr int answers = 2;  ///< answers in a row that must contradict before all is forgotten

  /// Call it when a session of a node begins. If the boot id differs from the last one, everything learnt is
  /// forgotten.
  void begin(std::string_view boot_id);

  /// Adds a batch that the agent's clock stamped `sent_at_ns` and that was received at `received`. True if it
  /// is the eighth in a row that is later than the fastest batch by more than the tolerance. Then either the
  /// line is full or a clock lost time; the caller should ask the agent for its clock to find out which. True
  /// at most once in 16 s.
  bool add(std::int64_t sent_at_ns, instant received);

  enum class agreement { yes, no, restarted };
  /// Adds an answer. The question was sent at `asked`, the agent's clock showed `heard_at_ns` when it
  /// arrived, and the answer came at `received`. `no`: the answer contradicts what was learnt, and the agent
  /// should be asked again soon.
  agreement heard(instant asked, std::int64_t heard_at_ns, instant received);

  /// Our clock - the agent's at the same moment, as far as is known; 0 before the first add().
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
  recent_least back_;       // received here - sent there = offset + time of the way back
  recent_least there_;      // heard there - asked here = time of the way there - offset
  int late_ = 0;            // late batches in a row
  instant quiet_until_{};   // add() does not ask for an answer before this
  int contradictions_ = 0;  // contradicting answers in a row
  std::string boot_id_;
};

}  // namespace binnacle::wire
