#include "aggregator/predict/chords.hpp"

namespace binnacle::predict {

chords::chords(const curve& of, double max_load)
    : cores_(of.cores()),
      step_(of.step()),
      per_core_(1 / of.step()),
      cap_(std::max(std::clamp(max_load, 0.0, 1.0), 1e-9) * of.cores()),
      watts_at_cap_(of.watts(cap_)) {
  const auto points = of.points();
  // The last point is the first one at the cap or above it. One that the cap all but touches is at it: a
  // chord between them would be made of rounding errors.
  std::size_t end = 1;
  while (end + 1 < points.size() && static_cast<double>(end) * step_ < cap_ - 1e-9 * cores_) ++end;
  watts_.assign(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(end + 1));

  // From right to left: the best chord from a point ends on the envelope of the points right of it.
  next_.assign(watts_.size(), static_cast<std::uint8_t>(end));
  for (auto i = static_cast<std::uint32_t>(end); i-- > 0;) {
    place here;
    here.before_ = i;
    here.load_ = i * step_;
    here.watts_ = watts_[i];
    std::uint32_t to = i + 1;
    while (to != end && slope(here, next_[to]) <= slope(here, to)) to = next_[to];
    next_[i] = static_cast<std::uint8_t>(to);
  }
}

}  // namespace binnacle::predict
