#include "aggregator/predict/chords.hpp"

#include <algorithm>

namespace binnacle::predict {

chords::chords(const curve& of, double max_load)
    : cores_(of.cores()),
      step_(of.step()),
      cap_(std::max(std::clamp(max_load, 0.0, 1.0), 1e-9) * of.cores()) {
  const auto points = of.points();
  // A point that the cap all but touches would make a chord of rounding errors.
  for (std::size_t i = 0;
       i == 0 || (i < points.size() && static_cast<double>(i) * step_ < cap_ - 1e-9 * cores_); ++i)
    watts_.push_back(points[i]);
  watts_.push_back(of.watts(cap_));

  // From right to left: the best chord from a point ends on the envelope of the points right of it.
  next_.assign(watts_.size(), static_cast<std::uint8_t>(last()));
  for (std::size_t i = last(); i-- > 0;) {
    const double load = load_of(i), watts = watts_[i];
    std::size_t end = i + 1;
    while (end != last() && slope(load, watts, next_[end]) <= slope(load, watts, end)) end = next_[end];
    next_[i] = static_cast<std::uint8_t>(end);
  }
}

std::size_t chords::before(double load) const noexcept {
  return std::min(static_cast<std::size_t>(load / step_), last() - 1);
}

double chords::watts(double load) const noexcept {
  const double x = std::clamp(load, 0.0, cap_);
  const std::size_t i = before(x);
  const double low = watts_[i], high = watts_[i + 1];
  return low + (high - low) * (x - load_of(i)) / (load_of(i + 1) - load_of(i));
}

double chords::from(double load) const noexcept {
  const double x = std::clamp(load, 0.0, cap_);
  const std::size_t i = before(x);
  const std::size_t far = next_[i];
  // The best chord leads to the next point: it is the line of the curve on which the load lies.
  if (far == i + 1) return slope(load_of(i), watts_[i], far);
  const double here = watts(x);
  // The curve lies above the envelope here. The best chord ends at a corner of the envelope, not before the
  // end for the point right of the load and not behind the end for the point left of it; mostly they are one.
  std::size_t end = next_[i + 1];
  double best = slope(x, here, end);
  while (end < far) {
    end = next_[end];
    best = std::min(best, slope(x, here, end));
  }
  return best;
}

}  // namespace binnacle::predict
