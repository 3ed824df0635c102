#include "agent/sources/rapl/energy_meter.hpp"

#include <bit>
#include <chrono>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr duration least_interval = std::chrono::milliseconds(20);
// While policies watch, readings are 200 ms apart. For this long, readings with an unchanged counter keep the
// last watts, so that the series has no holes.
constexpr duration hold = std::chrono::seconds(1);
// RAPL is exact to some percent. A mean that is lower by less than this does not count as lower.
constexpr double exact_to = 0.05;

}  // namespace

void energy_meter::start_at(std::uint64_t energy_uj, instant when, absence why) noexcept {
  started_ = true;
  interrupted_ = false;
  last_uj_ = energy_uj;
  last_at_ = when;
  last_mean_.reset();
  reason_ = why;
}

// Leaves out the energy since the last reading.
void energy_meter::start_anew(std::uint64_t energy_uj, instant when, absence why) noexcept {
  restart_total();
  start_at(energy_uj, when, why);
}

void energy_meter::interrupt() noexcept {
  if (!started_) return;
  interrupted_ = true;
  reason_ = absence::gap;
}

void energy_meter::stand_still(duration since) noexcept {
  if (since >= limits_.still_after) {
    reason_ = moves_ > 1 ? absence::stands_still : absence::never_moved;
  } else if (since >= hold && reason_ == absence::none) {
    reason_ = absence::no_data;
  }
}

// Why a reading has no power whose difference needs more than `most_watts`. A counter that is too fast falls
// now and then, when it wraps; so while it also rises too fast, only falls in a row mean that it runs
// backwards.
absence energy_meter::reset_by(bool fell) noexcept {
  constexpr std::uint32_t in_a_row = (1u << enough_times) - 1;
  if (fault_ == fault::wraps_unseen) times_ = 0;
  recent_falls_ |= fell ? 1u : 0u;
  good_ = 0;
  const bool keeps_falling = (recent_falls_ & in_a_row) == in_a_row;
  fault_ = !fell || (fault_ == fault::too_fast && !keeps_falling) ? fault::too_fast : fault::backwards;
  if (++times_ >= enough_times || falls_often()) distrusted_ = true;
  return distrusted_ ? absence::implausible : absence::reset;
}

bool energy_meter::falls_often() const noexcept {
  constexpr std::uint32_t window = (1u << fall_window) - 1;
  return std::popcount(recent_falls_ & window) >= static_cast<int>(enough_times);
}

bool energy_meter::may_have_died(double before, double mean, double seconds) const noexcept {
  if (!must_move()) return false;
  return (before * (1 - exact_to) - mean) * seconds > limits_.step_joules;
}

absence energy_meter::energy_reason() const noexcept {
  if (reason_ == absence::implausible) return reason_;
  if (!must_move()) return absence::none;
  if (is_dead() || reason_ == absence::no_data) return reason_;
  return moves_ > 1 ? absence::none : absence::not_read_yet;
}

void energy_meter::update(std::uint64_t energy_uj, instant when) noexcept {
  if (!started_) return start_at(energy_uj, when, absence::not_read_yet);
  if (interrupted_) return start_anew(energy_uj, when, absence::gap);
  const auto elapsed = when - last_at_;
  if (elapsed < least_interval) return;
  // The range is wrong, so where the counter wraps is not known.
  if (energy_uj > limits_.range_uj) limits_.range_uj = 0;
  if (energy_uj == last_uj_ && must_move()) return stand_still(elapsed);
  if (moves_ < 2) ++moves_;
  if (is_dead()) {
    was_dead_ = true;
    return start_anew(energy_uj, when, absence::gap);  // how much of that time it really counted is unknown
  }

  recent_falls_ <<= 1;
  const auto range = limits_.range_uj;
  const bool fell = energy_uj < last_uj_;
  if (fell && last_uj_ > range)  // also if range is 0
    return start_anew(energy_uj, when, reset_by(true));
  const auto used_uj = fell ? range - last_uj_ + energy_uj : energy_uj - last_uj_;

  const double seconds = std::chrono::duration<double>(elapsed).count();
  const double most_uj = limits_.most_watts * seconds * 1e6;
  const double mean = static_cast<double>(used_uj) / 1e6 / seconds;
  if (static_cast<double>(used_uj) > most_uj) {
    watts_ = mean;
    return start_anew(energy_uj, when, reset_by(fell));
  }
  if (range > 0 && static_cast<double>(used_uj) + static_cast<double>(range) <= most_uj) {
    if (!distrusted_) {
      times_ = fault_ == fault::wraps_unseen ? times_ + 1 : 1;
      fault_ = fault::wraps_unseen;
    }
    return start_anew(energy_uj, when, absence::gap);
  }
  const bool unproven = must_move() && moves_ < 2;
  if (mean < limits_.least_watts && !unproven) {
    watts_ = mean;
    fault_ = fault::too_low;
    distrusted_ = true;
    good_ = 0;
    return start_anew(energy_uj, when, absence::implausible);
  }
  if (distrusted_ && (++good_ < enough_times || falls_often()))
    return start_anew(energy_uj, when, absence::implausible);
  distrusted_ = false;
  times_ = good_ = 0;
  fault_ = fault::none;
  total_uj_ += used_uj;
  const auto before = last_mean_;  // the counter has moved since, so it was alive and this mean is valid
  const bool waits = unproven || (!before && std::exchange(was_dead_, false));
  watts_ = before && may_have_died(*before, mean, seconds) ? *before : mean;
  start_at(energy_uj, when, unproven ? absence::not_read_yet : waits ? absence::gap : absence::none);
  last_mean_ = mean;
}

}  // namespace binnacle::agent
