#pragma once

#include "common/absence.hpp"
#include "common/clock.hpp"
#include "common/decimal.hpp"

#include <optional>
#include <span>
#include <vector>

namespace binnacle::agent {

/// One way to know a quantity, as it is now.
struct contender {
  std::optional<decimal> value;
  instant read_at{};               ///< of the oldest part of the value
  duration stale_after{};          ///< the shortest of its parts'
  absence why = absence::missing;  ///< without a value
  bool set_aside = false;          ///< it has none because it was not believed
  bool awaited = false;            ///< it may be there, but nobody has had a first value of it yet
  /// How much it measures: a way of less says a lower number. Ways of the same reach measure the same thing.
  unsigned reach = 0;
};

/// Which of several ways to know one quantity counts now. It changes only when the present way has had no
/// value for its stale-after, or when a better one has had one for as long: a sensor that comes and goes
/// makes no step in the series at each time. One that is set aside is left at once: its last value is not to
/// be believed either. A way that measures less than one that counted before never counts instead of it:
/// because a sensor died the number would be lower, and by lowest watts that node would win. For the same
/// reason no way counts after the start while one that measures more is awaited, but not for longer than
/// `patience`. Pure.
class best_of {
 public:
  explicit best_of(duration patience = {}) : patience_(patience) {}

  /// `all`: the best first, the same ways at each call. Nothing when none has a value.
  std::optional<std::size_t> choose(std::span<const contender> all, instant now);
  /// Whether any way has counted so far.
  bool began() const noexcept { return began_; }
  /// Whether the last choose() gave nothing because a way that measures more is awaited.
  bool waits() const noexcept { return waits_; }

 private:
  unsigned least_reach(std::span<const contender> all, instant now);

  duration patience_;
  std::optional<instant> first_asked_;
  bool began_ = false, waits_ = false;
  std::optional<std::size_t> present_;
  instant kept_until_{};                             // of the present way
  std::vector<std::optional<instant>> there_since_;  // by way: without interruption
  unsigned reach_ = 0;                               // the most that counted
};

}  // namespace binnacle::agent
