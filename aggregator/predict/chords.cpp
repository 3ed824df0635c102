#include "aggregator/predict/chords.hpp"

#include <algorithm>

namespace binnacle::predict {

chords::chords(curve of, double max_load) : curve_(std::move(of)) {
  const double cap = std::clamp(max_load, 0.0, 1.0) * curve_.cores();
  const auto points = curve_.points();
  // A point that the cap all but touches would make a chord of rounding errors.
  for (std::size_t i = 0;
       i == 0 || (i < points.size() && static_cast<double>(i) * curve_.step() < cap - 1e-9 * curve_.cores());
       ++i) {
    loads_.push_back(static_cast<double>(i) * curve_.step());
    watts_.push_back(points[i]);
  }
  loads_.push_back(std::max(cap, 1e-9 * curve_.cores()));
  watts_.push_back(curve_.watts(cap));

  // From right to left: the end of the best chord from a point is on the envelope of what is right of it.
  const std::size_t last = loads_.size() - 1;
  next_.assign(loads_.size(), static_cast<std::uint8_t>(last));
  for (std::size_t i = last; i-- > 0;) {
    std::size_t end = i + 1;
    while (end != last && slope(loads_[i], watts_[i], next_[end]) <= slope(loads_[i], watts_[i], end))
      end = next_[end];
    next_[i] = static_cast<std::uint8_t>(end);
  }
}

double chords::from(double load) const noexcept {
  const std::size_t last = loads_.size() - 1;
  const double x = std::clamp(load, 0.0, cap());
  const auto i = std::min(static_cast<std::size_t>(x / curve_.step()), last - 1);
  const std::size_t far = next_[i];
  // On the envelope, or at its end: the chord is the line that the load lies on.
  if (far == i + 1) return slope(loads_[i], watts_[i], far);
  const double watts = curve_.watts(x);
  // Above the envelope. Between the ends for the points left and right of the load, the best is one of the
  // envelope's corners; mostly both ends are the same.
  std::size_t end = next_[i + 1];
  double best = slope(x, watts, end);
  while (end < far) {
    end = next_[end];
    best = std::min(best, slope(x, watts, end));
  }
  return best;
}

}  // namespace binnacle::predict
