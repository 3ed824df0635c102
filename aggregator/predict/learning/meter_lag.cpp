// In each step the change of the watts over half a minute is compared with changes of the load over half a
// minute that began 0, 5 … 60 s earlier: with the load as it was, with its means over a minute, and with
// those over five minutes. The delay and the mean with the best correlation are taken to be the meter's.
// Changes are compared, and not values: over a day the load at any delay correlates with the watts nearly
// alike.

#include "aggregator/predict/learning/meter_lag.hpp"

#include "aggregator/predict/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace binnacle::predict {
namespace {

constexpr float remembered_changes = 720;  // an hour of them
constexpr std::uint32_t enough_changes = 60;
/// With a correlation below this, the watts do not follow the load at that delay.
constexpr double follows = 0.6;
/// The load must have moved by this much in half a minute, in the mean, before its changes say anything.
constexpr double moves = 0.02;
/// Within a mean, the load may have moved by this much: a curve is nearly straight over it.
constexpr double most_moved = 0.1, most_moved_in_a_mean = 0.2;
/// Above this load a node is not idle. A mean over idle and busy times is no point of a curve, since the
/// watts jump in between.
constexpr double busy = 0.03;

}  // namespace

double meter_lag::mean(std::size_t ago, std::size_t steps) const noexcept {
  double sum = 0;
  for (std::size_t i = ago; i < ago + steps; ++i) sum += load(i);
  return sum / static_cast<double>(steps);
}

void meter_lag::add(double load_now, double watts_now) noexcept {
  at_ = (at_ + 1) % held;
  loads_[at_] = static_cast<float>(load_now);
  std::shift_right(watts_.begin(), watts_.end(), 1);
  watts_[0] = static_cast<float>(watts_now);
  if (held_ < held) ++held_;
  const float keep = 1 - 1 / remembered_changes;
  const float dw = watts_[0] - watts_[change];
  for (std::size_t k = 0; k < means.size(); ++k) {
    if (held_ < needed[k]) continue;
    const std::size_t steps = means[k];
    ++seen_[k];
    watts_squared_[k] = keep * watts_squared_[k] + dw * dw;
    double late_mean = mean(0, steps), late_mean_before = mean(change, steps);
    for (std::size_t d = 0; d < delays; ++d) {
      const auto moved = static_cast<float>(late_mean - late_mean_before);
      both_[k][d] = keep * both_[k][d] + dw * moved;
      loads_squared_[k][d] = keep * loads_squared_[k][d] + moved * moved;
      late_mean += (load(d + steps) - load(d)) / static_cast<double>(steps);
      late_mean_before += (load(d + change + steps) - load(d + change)) / static_cast<double>(steps);
    }
  }
  if (seen_[0] >= enough_changes && held_ >= needed[0]) choose();
}

void meter_lag::choose() noexcept {
  best_ = -1;
  const double changes = std::min(static_cast<double>(seen_[0]), static_cast<double>(remembered_changes));
  looked_ = static_cast<double>(loads_squared_[0][0]) >= changes * moves * moves && watts_squared_[0] > 0;
  if (!looked_) return;
  double most = follows;
  for (std::size_t k = 0; k < means.size(); ++k) {
    if (seen_[k] < enough_changes) continue;
    for (std::size_t d = 0; d < delays; ++d) {
      const double squares =
          static_cast<double>(loads_squared_[k][d]) * static_cast<double>(watts_squared_[k]);
      if (squares <= 0) continue;
      const double together = static_cast<double>(both_[k][d]) / std::sqrt(squares);
      if (together <= most) continue;
      most = together;
      best_ = static_cast<std::int8_t>(k * delays + d);
    }
  }
}

std::optional<double> meter_lag::load_of_watts() const noexcept {
  if (!known()) return std::nullopt;
  const std::size_t k = static_cast<std::size_t>(best_) / delays;
  const std::size_t delay = static_cast<std::size_t>(best_) % delays, steps = means[k];
  if (held_ < needed[k]) return std::nullopt;
  // One step more to either side, because the delay is only known to a step.
  double lowest = load(delay), highest = lowest;
  for (std::size_t i = delay == 0 ? 0 : delay - 1; i <= delay + steps; ++i) {
    lowest = std::min(lowest, load(i));
    highest = std::max(highest, load(i));
  }
  if (highest - lowest > (steps == 1 ? most_moved : most_moved_in_a_mean)) return std::nullopt;
  if (lowest < statistics::idle_below && highest > busy) return std::nullopt;
  return mean(delay, steps);
}

bool meter_lag::means_short() const noexcept {
  return known() && !means_long() && seen_.back() >= enough_changes;
}

std::chrono::seconds meter_lag::late() const noexcept {
  if (!known()) return std::chrono::seconds(0);
  const std::size_t best = static_cast<std::uint8_t>(best_);
  const std::size_t middle = (means[best / delays] - 1) / 2;
  return step * static_cast<std::int64_t>(best % delays + middle);
}

}  // namespace binnacle::predict
