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
/// a quarter of it, so that nothing starves. And after each reading the BMC is left alone for as long as its
/// cost makes necessary: also a reading that suddenly takes seconds cannot break the budget.
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
  /// Whether periods_ms() differs from `told` by a sensor, or by a fifth in any of them.
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

  std::map<std::string, item> items_;
  double budget_ = 0.05;
  instant free_at_{};  // the BMC is left alone until then
  static constexpr std::size_t slots = 6;
  static constexpr duration slot = std::chrono::seconds(10);
  std::array<duration, slots> busy_{};  // by the slot of time
  std::int64_t newest_slot_ = 0;
  std::optional<instant> first_;
};

}  // namespace binnacle::ipmi
