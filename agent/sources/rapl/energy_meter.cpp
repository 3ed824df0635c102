#include "agent/sources/rapl/energy_meter.hpp"

#include <chrono>

namespace binnacle::agent {
namespace {

constexpr duration least_interval = std::chrono::milliseconds(20);
// While policies watch, readings are 200 ms apart: some that find the same number must not make holes.
constexpr duration hold = std::chrono::seconds(1);

}  // namespace

void energy_meter::start_at(std::uint64_t energy_uj, instant when, wire::absence why) noexcept {
  started_ = true;
  interrupted_ = false;
  last_uj_ = energy_uj;
  last_at_ = when;
  reason_ = why;
}

void energy_meter::interrupt() noexcept {
  if (!started_) return;
  interrupted_ = true;
  reason_ = wire::absence::gap;
}

void energy_meter::stand_still(duration since) noexcept {
  if (since >= limits_.still_after) {
    reason_ = moved_ ? wire::absence::stands_still : wire::absence::never_moved;
  } else if (since >= hold && reason_ == wire::absence::none) {
    reason_ = wire::absence::no_data;
  }
}

wire::absence energy_meter::energy_reason() const noexcept {
  if (limits_.still_after == duration::zero()) return wire::absence::none;
  if (is_dead() || reason_ == wire::absence::no_data) return reason_;
  return moved_ ? wire::absence::none : wire::absence::not_read_yet;
}

void energy_meter::update(std::uint64_t energy_uj, instant when) noexcept {
  if (!started_) return start_at(energy_uj, when, wire::absence::not_read_yet);
  if (interrupted_) return start_at(energy_uj, when, wire::absence::gap);
  const auto elapsed = when - last_at_;
  if (elapsed < least_interval) return;
  if (energy_uj == last_uj_ && limits_.still_after > duration::zero()) return stand_still(elapsed);
  moved_ = true;
  if (is_dead())
    return start_at(energy_uj, when, wire::absence::gap);  // how long it really counted is unknown

  const auto range = limits_.range_uj;
  const bool fell = energy_uj < last_uj_;
  if (fell && last_uj_ > range) return start_at(energy_uj, when, wire::absence::reset);  // also range unknown
  const auto used_uj = fell ? range - last_uj_ + energy_uj : energy_uj - last_uj_;

  const double seconds = std::chrono::duration<double>(elapsed).count();
  const double most_uj = limits_.most_watts * seconds * 1e6;
  if (static_cast<double>(used_uj) > most_uj) return start_at(energy_uj, when, wire::absence::reset);
  if (range > 0 && static_cast<double>(used_uj) + static_cast<double>(range) <= most_uj) {
    return start_at(energy_uj, when, wire::absence::gap);
  }
  total_uj_ += used_uj;
  watts_ = static_cast<double>(used_uj) / 1e6 / seconds;
  start_at(energy_uj, when, wire::absence::none);
}

}  // namespace binnacle::agent
