#pragma once

#include "common/absence.hpp"
#include "common/clock.hpp"

#include <cstdint>
#include <optional>

namespace binnacle::agent {

/// Turns readings of one RAPL energy counter into power and into a total. Pure: no file, no clock.
///
/// The counter has 32 bits of an energy unit and wraps at max_energy_range_uj (under load after minutes), so
/// a difference is taken modulo that range. Nothing is guessed. These readings give no power:
/// - the first reading: not_read_yet; the total stays;
/// - a difference that would need more than `most_watts`: `reset` (the driver was loaded again, hotplug).
///   From the third one in a row on, or if the number fell three times in 30 readings, it is no accident:
///   `implausible` (faulty()). A real wrap is no such fall, and comes after minutes. Some differences of a
///   number without meaning look right by chance. So the counter is believed again only after three
///   differences in a row that can be true, and when it has fallen at most twice in 30 readings;
/// - a mean below `least_watts`: `implausible` at once, and believed again as above. If the number changes
///   between two units, the mean of an interval with both of them could be true;
/// - the last reading is so long ago that one more wrap would fit under `most_watts`: `gap`;
/// - a suspend in between, reported by interrupt(): `gap`.
/// In all cases but the first the reading is a new start, and power is back with the next reading. The energy
/// of the time in between is not known. So the total starts again at 0, as any counter may. A total that went
/// on without that energy would say that next to nothing was drawn.
///
/// A reading above the range shows that the range is wrong. It counts as unknown from then on, until
/// set_range().
///
/// If a counter must move (`still_after`), a reading with an unchanged number does not mean 0 W. The start
/// stays at the reading in which the counter last moved, so a counter that moves seldom still gives the right
/// mean. The last power stays for a second; then there is none (no_data). From `still_after` on the counter
/// is dead: `never_moved`, or `stands_still` if it has counted before. When it moves again, that reading is a
/// new start (`gap`).
///
/// A counter that must move counts only when it has moved twice. Firmware may set a register once and never
/// again, and the one jump would look like power. So the first mean waits for a second move (not_read_yet).
///
/// A counter that dies between two readings leaves a mean that is too low, and looks like a load that falls.
/// Only the next reading tells the two apart, because a live counter has moved again by then. So if a counter
/// must move, a mean that is more than 5 % below the one before is shown only when the counter has moved once
/// more, one reading late; until then watts() keeps the mean before. A rise is shown at once. After a counter
/// was dead, its first mean waits for a second move in the same way. Source: Linux
/// Documentation/power/powercap/powercap.rst; drivers/powercap/intel_rapl_common.c.
class energy_meter {
 public:
  struct limits {
    std::uint64_t range_uj = 0;  ///< max_energy_range_uj, where it wraps; 0: not known, so a fall is a reset
    double most_watts = 0;       ///< bound on this zone's power, for telling a wrap from a reset; > 0
    duration still_after{};      ///< it must move within this time (zone_rule); zero: it may stand still
    double step_joules = 0;      ///< size of its steps (zone_rule); a mean lower by one step is no fall
    double least_watts = 0;      ///< fewer are not believed
  };
  explicit energy_meter(limits l) noexcept : limits_(l) {}

  /// Sets another range and the bound that suits it, after the driver was reloaded.
  void set_range(std::uint64_t range_uj, double most_watts) noexcept {
    limits_.range_uj = range_uj;
    limits_.most_watts = most_watts;
  }
  /// Sets another bound, when other CPUs are online.
  void set_least_watts(double watts) noexcept { limits_.least_watts = watts; }
  const limits& bounds() const noexcept { return limits_; }

  /// Takes a reading. Two readings less than 20 ms apart count as one, since the counter itself moves about
  /// every millisecond.
  void update(std::uint64_t energy_uj, instant when) noexcept;

  /// The machine slept, or the counter could not be read for a while. The next reading is only a new start.
  void interrupt() noexcept;

  /// What is wrong with a counter that is not believed, or that gave no power three times in a row; none if
  /// it is not so.
  enum class fault : unsigned char {
    none,
    too_fast,      ///< more than `most_watts`
    too_low,       ///< less than `least_watts`
    backwards,     ///< its number falls again and again
    wraps_unseen,  ///< it may wrap between two readings; reason() stays `gap`
  };
  fault faulty() const noexcept { return distrusted_ || times_ >= enough_times ? fault_ : fault::none; }

  /// Why there is no power; `none` if there is.
  absence reason() const noexcept { return reason_; }
  /// The mean power between the last two readings. If it has fallen and the counter has not moved since, it
  /// is still the mean of the interval before. Units: watts. Only valid if reason() is none; while a counter
  /// is too_fast or too_low, what it claims.
  double watts() const noexcept { return watts_; }
  /// Why total_uj() is not valid; `none` if it is. While a counter that must move has not moved, a total of 0
  /// J would be a false claim.
  absence energy_reason() const noexcept;
  /// The energy since the first reading or the last new start, with wraps taken into account. Units: µJ.
  std::uint64_t total_uj() const noexcept { return total_uj_; }
  /// The energy up to the last reading is not believed: the total starts again at 0.
  void restart_total() noexcept { total_uj_ = 0; }
  /// The last reading as the kernel gave it; nothing before the first.
  std::optional<std::uint64_t> last_uj() const noexcept {
    return started_ ? std::optional(last_uj_) : std::nullopt;
  }
  /// The counter has changed since the first reading, be it once.
  bool has_moved() const noexcept { return moves_ > 0; }

 private:
  static constexpr unsigned enough_times = 3;
  static constexpr unsigned fall_window = 30;  // readings; a bit of recent_falls_ for each

  void start_at(std::uint64_t energy_uj, instant when, absence why) noexcept;
  void start_anew(std::uint64_t energy_uj, instant when, absence why) noexcept;
  absence reset_by(bool fell) noexcept;
  bool falls_often() const noexcept;
  void stand_still(duration since) noexcept;
  bool may_have_died(double before, double mean, double seconds) const noexcept;
  bool must_move() const noexcept { return limits_.still_after > duration::zero(); }
  bool is_dead() const noexcept {
    return reason_ == absence::never_moved || reason_ == absence::stands_still;
  }

  limits limits_;
  bool started_ = false;
  bool interrupted_ = false;
  unsigned moves_ = 0;     // since the first reading; at most 2 are counted
  bool was_dead_ = false;  // it was dead, and has not given a mean since
  std::uint64_t last_uj_ = 0;
  instant last_at_{};
  std::uint64_t total_uj_ = 0;
  double watts_ = 0;
  std::optional<double> last_mean_;  // between the last two moves; watts_ may still be the mean before
  absence reason_ = absence::not_read_yet;
  fault fault_ = fault::none;       // of the last reading that had one, as long as it counts
  bool distrusted_ = false;         // it had a fault so often that what it says now is not believed
  unsigned times_ = 0;              // so many readings in a row had a fault
  unsigned good_ = 0;               // differences since the last fault that can be true, while distrusted
  std::uint32_t recent_falls_ = 0;  // of the newest readings, the lowest bit first: whether the number fell
};

}  // namespace binnacle::agent
