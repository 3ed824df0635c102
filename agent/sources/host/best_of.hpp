#pragma once

#include "common/absence.hpp"
#include "common/clock.hpp"
#include "common/decimal.hpp"

#include <optional>
#include <span>
#include <vector>

namespace binnacle::agent {

/// The present state of one way (one source) to know a quantity.
struct contender {
  std::optional<decimal> value;
  instant read_at{};               ///< when the oldest part of the value was read
  duration stale_after{};          ///< the shortest stale-after of its parts
  absence why = absence::missing;  ///< the reason if it has no value
  bool set_aside = false;          ///< it has no value because its number was not believed
  bool awaited = false;            ///< it may exist, but no first value of it has come yet
  bool in_doubt = false;           ///< it contradicts another one, but not for long enough to be set aside
  bool settles = false;            ///< parts of it have values, and it will soon have one without the others
  /// How much of the machine it measures. A way with less reach gives lower numbers. Ways with the same reach
  /// measure the same thing.
  unsigned reach = 0;
};

/// Chooses which of several ways to know one quantity is used now. Pure.
///
/// The choice changes only if the present way has had no value for its stale-after, or if a better way has
/// had a value for that long. So a sensor that comes and goes does not make the series jump each time. A way
/// that is set aside is left at once, because its last value is not to be believed either. A way never
/// replaces one that measured more: when a sensor dies, the number would become lower, and the node would win
/// placements by lowest watts. For the same reason no way is used after the start while a way that measures
/// more is awaited, but only for `patience`, or while it settles. A way that is in doubt stays if it is used
/// already; it is not begun with, for the time that it is given is for a number that was believed.
class best_of {
 public:
  explicit best_of(duration patience = {}) : patience_(patience) {}

  /// Chooses one of `all`, which are sorted from the best to the worst and are the same ways at each call.
  /// Nothing if none may be used.
  std::optional<std::size_t> choose(std::span<const contender> all, instant now);
  /// Whether any way has been used so far.
  bool began() const noexcept { return began_; }
  /// Whether the last choose() gave nothing because a way that measures more is awaited.
  bool waits() const noexcept { return waits_; }
  /// Whether choose() waits for awaited ways now: none has been used so far, and `patience` is not over.
  bool is_patient(instant now) const noexcept;

 private:
  unsigned least_reach(std::span<const contender> all, instant now);

  duration patience_;
  std::optional<instant> first_asked_;
  bool began_ = false, waits_ = false;
  std::optional<std::size_t> present_;
  instant kept_until_{};                             // how long the present way may go without a value
  std::vector<std::optional<instant>> there_since_;  // by way: since when it has a value without a break
  unsigned reach_ = 0;                               // the largest reach that was used
};

}  // namespace binnacle::agent
