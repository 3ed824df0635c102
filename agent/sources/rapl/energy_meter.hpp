#pragma once

#include "common/absence.hpp"
#include "common/clock.hpp"

#include <cstdint>
#include <optional>

namespace binnacle::agent {

/// Turns readings of one RAPL energy counter into power and a total that never goes back. Pure: no file, no
/// clock.
///
/// The counter is 32 bits of an energy unit and wraps at max_energy_range_uj (minutes under load), so a
/// difference is taken modulo that range. What cannot be known is not guessed:
///  - first reading: no power (not_read_yet), the total stays;
///  - a difference that would need more than `most_watts`: `reset` (the driver was loaded again, hotplug);
///  - so long since the last reading that one more wrap would fit under `most_watts`: `gap`;
///  - a suspend in between, told by interrupt(): `gap`.
/// In the last three the reading is the new start: power is back with the next one, and the energy of that
/// span is left out of the total.
///
/// A counter that must move (`still_after`) and does not is no reading of 0 W: what it had when it last moved
/// stays the start, so that one which moves seldom still gives the right mean. For a second the last power
/// stays; then there is none (no_data), and from `still_after` on the counter is dead: `never_moved`, or
/// `stands_still` when it moved once. When it moves again that reading is a new start (`gap`).
///
/// A counter that dies between two readings leaves a mean that is too low, and looks like a machine that
/// calms down. Only the next reading tells: a live counter has moved again. So where the counter must move, a
/// mean that is more than 5 % below the one before is given when the counter has moved after it, one reading
/// late; until then watts() stays. A rise is given at once. Of a counter that was dead the first mean waits
/// likewise. Source: Linux Documentation/power/powercap/powercap.rst; drivers/powercap/intel_rapl_common.c.
class energy_meter {
 public:
  struct limits {
    std::uint64_t range_uj = 0;  ///< max_energy_range_uj, where it wraps; 0: not known, so a fall is a reset
    double most_watts = 0;       ///< more than this zone can draw, for telling a wrap from a reset; > 0
    duration still_after{};      ///< it must have moved by then (zone_rule); zero: it may stand still
    double step_joules = 0;      ///< it may count in steps of this (zone_rule): one less is no fall
  };
  explicit energy_meter(limits l) noexcept : limits_(l) {}

  /// Another range after the driver was reloaded.
  void set_range(std::uint64_t range_uj) noexcept { limits_.range_uj = range_uj; }

  /// Takes a reading. Two readings less than 20 ms apart count as one, since the counter itself moves about
  /// every millisecond.
  void update(std::uint64_t energy_uj, instant when) noexcept;

  /// The machine slept or the counter was out of sight: the next reading is only a new start.
  void interrupt() noexcept;

  /// Why there is no power, or none.
  absence reason() const noexcept { return reason_; }
  /// Mean power between the last two readings, or the two before those when that fell and the counter has not
  /// moved since. Units: watts. Meaningful when reason() is none.
  double watts() const noexcept { return watts_; }
  /// Why total_uj() says nothing, or none: of a counter that must move and has not, 0 J would be a claim.
  absence energy_reason() const noexcept;
  /// Energy seen since the first reading, wraps undone. Units: µJ.
  std::uint64_t total_uj() const noexcept { return total_uj_; }
  /// The last reading as the kernel gave it; nothing before the first.
  std::optional<std::uint64_t> last_uj() const noexcept {
    return started_ ? std::optional(last_uj_) : std::nullopt;
  }

 private:
  void start_at(std::uint64_t energy_uj, instant when, absence why) noexcept;
  void stand_still(duration since) noexcept;
  bool may_have_died(double before, double mean, double seconds) const noexcept;
  bool is_dead() const noexcept {
    return reason_ == absence::never_moved || reason_ == absence::stands_still;
  }

  limits limits_;
  bool started_ = false;
  bool interrupted_ = false;
  bool moved_ = false;
  bool was_dead_ = false;  // and has not given a mean since
  std::uint64_t last_uj_ = 0;
  instant last_at_{};
  std::uint64_t total_uj_ = 0;
  double watts_ = 0;
  std::optional<double> last_mean_;  // between the last two moves; watts_, unless it waits for another move
  absence reason_ = absence::not_read_yet;
};

}  // namespace binnacle::agent
