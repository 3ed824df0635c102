#pragma once

#include "common/clock.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::ipmi {

/// When which sensor is read, so that the BMC never spends more than a share of its time (the budget) on us.
/// Pure.
///
/// Each sensor's cost is how long its readings took, as a moving mean. When the wanted periods cost more than
/// the budget they are stretched: sensors that somebody waits for share what the others leave, and those keep
/// a quarter of it, so that nothing starves. After each reading the BMC is left alone for a while, so that
/// its work is spread; short readings follow each other at once, up to ten milliseconds of its time, so that
/// neither the BMC nor this process wakes for each reading. And the time spent is counted: over any minute it
/// is never more than the budget and one reading, also while readings suddenly take seconds. A single slow
/// reading (this machine may just have been busy) costs no pause.
class read_schedule {
 public:
  struct wish {
    std::string key;
    duration period{};  ///< wanted
    bool waited_for = false;
  };

  /// What is read from now on. Sensors known before keep their costs and their turns.
  void set(const std::vector<wish>& wishes, double budget_ratio, instant now);

  struct turn {
    std::string key;
    instant at;  ///< not before this
  };
  /// Whose turn is next; nothing, if nothing is to be read.
  std::optional<turn> next() const;

  /// A reading ended. One without a value (N/A, taken out) is tried less often after the third in a row: a
  /// powered-off node's sensors would cost as much as a running one's.
  void done(const std::string& key, instant started, instant ended, bool has_value);
  /// The BMC spent time on something else (SDR check, keep-alive).
  void spent(instant started, instant ended);

  /// The period of each sensor as it is now.
  std::map<std::string, std::uint32_t> periods_ms() const;
  /// Whether periods_ms() has other sensors than `told`, or a period that differs by a fifth or more.
  bool differs_from(const std::map<std::string, std::uint32_t>& told) const;

  /// Share of the last minute (less after the start) that the BMC spent on us.
  double busy_ratio(instant now) const;

 private:
  struct item {
    duration wanted{};
    bool waited_for = false;
    std::optional<double> cost_ns;  // nothing: never read
    duration period{};
    instant due;
    int without_value = 0;
  };
  void stretch();
  void charge(instant started, instant ended, double pause_for_ns);
  /// Share of the time that is handed out: with what can be saved up, a minute never has more than the
  /// budget.
  double rate() const noexcept { return budget_ * 5 / 6; }
  double most_credit_ns() const noexcept { return budget_ * 10e9; }

  std::map<std::string, item> items_;
  double budget_ = 0.05;
  instant free_at_{};                // the BMC is left alone until then
  instant rested_at_{};              // by then it will have rested for all it did
  std::optional<double> credit_ns_;  // of its time; below zero: overdrawn
  instant credited_at_{};
  double last_took_ns_ = 0;  // the reading before, of whatever sensor
  static constexpr std::size_t slots = 6;
  static constexpr duration slot = std::chrono::seconds(10);
  std::array<duration, slots> busy_{};  // by the slot of time
  std::int64_t newest_slot_ = 0;
  std::optional<instant> first_;
};

}  // namespace binnacle::ipmi
