#pragma once

#include "common/clock.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::ipmi {

/// Decides when which sensor is read, so that the BMC never spends more than a share of its time (the budget)
/// on us. Pure.
///
/// A sensor's cost is the moving mean of how long its readings took. If the wanted periods would cost more
/// than the budget, they are stretched. Sensors that a policy waits for share what the other sensors leave;
/// the others keep a quarter of the budget, so that none of them starves.
///
/// After each reading the BMC is left alone for a while, so that its work is spread out. Short readings
/// follow each other without a pause, up to ten milliseconds of the BMC's time, so that neither the BMC nor
/// this process wakes for each reading. The time spent is counted: over any minute it is never more than the
/// budget and one reading, even while readings suddenly take seconds. No pause follows a single slow
/// reading, because perhaps only this machine was busy.
class read_schedule {
 public:
  struct wish {
    std::string key;
    duration period{};  ///< wanted
    bool waited_for = false;
  };

  /// Sets what is read from now on. Sensors that were known before keep their costs and their turns.
  void set(const std::vector<wish>& wishes, double budget_ratio, instant now);

  struct turn {
    std::string key;
    instant at;  ///< the turn begins at this time or later
  };
  /// Which sensor is next. Nothing if no sensor is to be read.
  std::optional<turn> next() const;

  /// A reading ended. After three readings in a row without a value (N/A, taken out) the sensor is read less
  /// often. Otherwise the sensors of a node that is switched off would cost as much as those of a running
  /// one.
  void done(const std::string& key, instant started, instant ended, bool has_value);
  /// A reading got no answer: the link was lost, or the BMC had no time for this sensor. The time that the
  /// reading took does not count against the budget, or one sensor could use it up. All others have their
  /// turn before the sensor is read again. It is read after 2, 4, 8 … 512 s if it is unanswered again and
  /// again.
  void unanswered(const std::string& key, instant ended);
  /// The BMC spent time on something else (SDR check, keep-alive).
  void spent(instant started, instant ended);

  /// The present period of each sensor.
  std::map<std::string, std::uint32_t> periods_ms() const;
  /// Whether periods_ms() has other sensors than `told`, or a period that differs by a fifth or more.
  bool differs_from(const std::map<std::string, std::uint32_t>& told) const;

  /// The share of the last minute (less after the start) that the BMC spent on us.
  double busy_ratio(instant now) const;

 private:
  struct item {
    duration wanted{};
    bool waited_for = false;
    std::optional<double> cost_ns;  // nothing: never read
    duration period{};
    instant due;
    int without_value = 0;
    int unanswered = 0;  // readings in a row
  };
  void stretch();
  void charge(instant started, instant ended, double pause_for_ns);
  /// The share of the BMC's time that is handed out. It is less than the budget, because credit can be saved
  /// up; both together never exceed the budget over a minute.
  double rate() const noexcept { return budget_ * 5 / 6; }
  double most_credit_ns() const noexcept { return budget_ * 10e9; }

  std::map<std::string, item> items_;
  double budget_ = 0.05;
  instant free_at_{};                // the BMC is left alone until then
  instant rested_at_{};              // at this time the BMC will have rested for all that it did
  std::optional<double> credit_ns_;  // the BMC's time that we may use; below zero: overdrawn
  instant credited_at_{};
  double last_took_ns_ = 0;  // how long the last reading took, of whichever sensor
  static constexpr std::size_t slots = 6;
  static constexpr duration slot = std::chrono::seconds(10);
  std::array<duration, slots> busy_{};  // by the slot of time
  std::int64_t newest_slot_ = 0;
  std::optional<instant> first_;
};

}  // namespace binnacle::ipmi
