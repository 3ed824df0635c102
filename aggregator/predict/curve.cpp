#include "aggregator/predict/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::predict {

result<curve> curve::through(std::span<const double> watts, double cores) {
  if (watts.size() < 2 || watts.size() > most_points) {
    return error{errc::invalid_input,
                 fmt::format("a power curve of {} points: give 2 to {} at evenly spaced loads", watts.size(),
                             most_points)};
  }
  if (!std::isfinite(cores) || cores <= 0) {
    return error{errc::invalid_input,
                 fmt::format("a power curve of a node with {} cores: a node has some", cores)};
  }
  for (std::size_t i = 0; i < watts.size(); ++i) {
    if (std::isfinite(watts[i]) && watts[i] > 0) continue;
    return error{errc::invalid_input,
                 fmt::format("a power curve whose point {} of {} is {} W: watts are finite and above 0",
                             i + 1, watts.size(), watts[i])};
  }
  // Each gap gets the same number of steps, so that the points given stay points of the curve.
  const std::size_t gaps = watts.size() - 1;
  const std::size_t steps = gaps >= least_points - 1 ? 1 : (least_points - 1 + gaps - 1) / gaps;
  std::vector<double> fine;
  fine.reserve(gaps * steps + 1);
  double highest = watts[0];
  fine.push_back(highest);
  for (std::size_t i = 0; i < gaps; ++i) {
    const double from = highest;
    highest = std::max(highest, watts[i + 1]);
    for (std::size_t k = 1; k <= steps; ++k) {
      fine.push_back(from + (highest - from) * static_cast<double>(k) / static_cast<double>(steps));
    }
  }
  return curve(std::move(fine), cores);
}

double curve::watts(double load) const noexcept {
  const double at = std::clamp(load / step(), 0.0, static_cast<double>(watts_.size() - 1));
  const auto i = std::min(static_cast<std::size_t>(at), watts_.size() - 2);
  const double share = at - static_cast<double>(i);
  return watts_[i] + share * (watts_[i + 1] - watts_[i]);
}

}  // namespace binnacle::predict
