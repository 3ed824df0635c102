// In each step the change of the watts over half a minute is compared with changes of the load over half a
// minute that began 0, 5 … 60 s earlier: once with the load as it was, once with its means over a minute. The
// delay and the mean with the best correlation are taken to be the meter's. Changes are compared, and not
// values: over a day the load at any delay correlates with the watts nearly alike.

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
constexpr float most_moved = 0.1F, most_moved_in_a_minute = 0.2F;
/// Above this load a node is not idle. A mean over idle and busy times is no point of a curve, since the
/// watts jump in between.
constexpr float busy = 0.03F;

}  // namespace

double meter_lag::mean(std::size_t ago, std::size_t steps) const noexcept {
  double sum = 0;
  for (std::size_t i = ago; i < ago + steps; ++i) sum += static_cast<double>(load(i));
  return sum / static_cast<double>(steps);
}

void meter_lag::add(double load_now, double watts_now) noexcept {
  at_ = (at_ + 1) % held;
  loads_[at_] = static_cast<float>(load_now);
  std::shift_right(watts_.begin(), watts_.end(), 1);
  watts_[0] = static_cast<float>(watts_now);
  if (held_ < held) ++held_;
  if (held_ < held) return;
  const float keep = 1 - 1 / remembered_changes;
  const float dw = watts_[0] - watts_[change];
  watts_squared_ = keep * watts_squared_ + dw * dw;
  double late_mean = mean(0, means), late_mean_before = mean(change, means);
  for (std::size_t d = 0; d < delays; ++d) {
    const float as_it_was = load(d) - load(d + change);
    const auto as_a_mean = static_cast<float>(late_mean - late_mean_before);
    both_[0][d] = keep * both_[0][d] + dw * as_it_was;
    loads_squared_[0][d] = keep * loads_squared_[0][d] + as_it_was * as_it_was;
    both_[1][d] = keep * both_[1][d] + dw * as_a_mean;
    loads_squared_[1][d] = keep * loads_squared_[1][d] + as_a_mean * as_a_mean;
    late_mean += static_cast<double>(load(d + means) - load(d)) / means;
    late_mean_before += static_cast<double>(load(d + change + means) - load(d + change)) / means;
  }
  ++seen_;
  if (seen_ >= enough_changes) choose();
}

void meter_lag::choose() noexcept {
  best_ = -1;
  const double changes = std::min(static_cast<double>(seen_), static_cast<double>(remembered_changes));
  if (static_cast<double>(loads_squared_[0][0]) < changes * moves * moves || watts_squared_ <= 0) return;
  double most = follows;
  for (std::size_t k = 0; k < 2 * delays; ++k) {
    const auto both = static_cast<double>(both_[k / delays][k % delays]);
    const auto squares = static_cast<double>(loads_squared_[k / delays][k % delays]);
    if (squares <= 0) continue;
    const double together = both / std::sqrt(squares * static_cast<double>(watts_squared_));
    if (together <= most) continue;
    most = together;
    best_ = static_cast<std::int8_t>(k);
  }
}

std::optional<double> meter_lag::load_of_watts() const noexcept {
  if (!known() || held_ < held) return std::nullopt;
  const auto k = static_cast<std::size_t>(best_);
  const bool of_a_minute = k >= delays;
  const std::size_t delay = k % delays, steps = of_a_minute ? means : 1;
  // One step more to either side, because the delay is only known to a step.
  float lowest = load(delay), highest = lowest;
  for (std::size_t i = delay == 0 ? 0 : delay - 1; i <= delay + steps; ++i) {
    lowest = std::min(lowest, load(i));
    highest = std::max(highest, load(i));
  }
  if (highest - lowest > (of_a_minute ? most_moved_in_a_minute : most_moved)) return std::nullopt;
  if (lowest < static_cast<float>(statistics::idle_below) && highest > busy) return std::nullopt;
  return mean(delay, steps);
}

std::chrono::seconds meter_lag::late() const noexcept {
  if (!known()) return std::chrono::seconds(0);
  const auto k = static_cast<std::size_t>(best_);
  const auto middle = k >= delays ? (means - 1) / 2 : 0;
  return step * static_cast<std::int64_t>(k % delays + middle);
}

}  // namespace binnacle::predict
