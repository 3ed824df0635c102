#include "agent/sources/rapl/energy_meter.hpp"

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

void energy_meter::interrupt() noexcept {
  if (!started_) return;
  interrupted_ = true;
  reason_ = absence::gap;
}

void energy_meter::stand_still(duration since) noexcept {
  if (since >= limits_.still_after) {
    reason_ = moved_ ? absence::stands_still : absence::never_moved;
  } else if (since >= hold && reason_ == absence::none) {
    reason_ = absence::no_data;
  }
}

bool energy_meter::may_have_died(double before, double mean, double seconds) const noexcept {
  if (limits_.still_after == duration::zero()) return false;
  return (before * (1 - exact_to) - mean) * seconds > limits_.step_joules;
}

absence energy_meter::energy_reason() const noexcept {
  if (limits_.still_after == duration::zero()) return absence::none;
  if (is_dead() || reason_ == absence::no_data) return reason_;
  return moved_ ? absence::none : absence::not_read_yet;
}

void energy_meter::update(std::uint64_t energy_uj, instant when) noexcept {
  if (!started_) return start_at(energy_uj, when, absence::not_read_yet);
  if (interrupted_) return start_at(energy_uj, when, absence::gap);
  const auto elapsed = when - last_at_;
  if (elapsed < least_interval) return;
  if (energy_uj == last_uj_ && limits_.still_after > duration::zero()) return stand_still(elapsed);
  moved_ = true;
  if (is_dead()) {
    was_dead_ = true;
    return start_at(energy_uj, when, absence::gap);  // how much of that time it really counted is unknown
  }

  const auto range = limits_.range_uj;
  const bool fell = energy_uj < last_uj_;
  if (fell && last_uj_ > range) return start_at(energy_uj, when, absence::reset);  // also if range is 0
  const auto used_uj = fell ? range - last_uj_ + energy_uj : energy_uj - last_uj_;

  const double seconds = std::chrono::duration<double>(elapsed).count();
  const double most_uj = limits_.most_watts * seconds * 1e6;
  if (static_cast<double>(used_uj) > most_uj) return start_at(energy_uj, when, absence::reset);
  if (range > 0 && static_cast<double>(used_uj) + static_cast<double>(range) <= most_uj) {
    return start_at(energy_uj, when, absence::gap);
  }
  total_uj_ += used_uj;
  const double mean = static_cast<double>(used_uj) / 1e6 / seconds;
  const auto before = last_mean_;  // the counter has moved since, so it was alive and this mean is valid
  const bool waits = !before && std::exchange(was_dead_, false);
  watts_ = before && may_have_died(*before, mean, seconds) ? *before : mean;
  start_at(energy_uj, when, waits ? absence::gap : absence::none);
  last_mean_ = mean;
}

}  // namespace binnacle::agent
