#pragma once

#include "aggregator/predict/curve.hpp"

#include <cstdint>
#include <vector>

namespace binnacle::predict {

/// The best chord from each load of a curve: the smallest (f(y) − f(x)) / (y − x) over all y in (x, cap], the
/// first slope of the curve's convex envelope from x on. It charges a step once and spreads it over what the
/// node can still take, so that a node that was started is filled to where its next watts become dear before
/// another one is woken. The slope at x alone sees neither.
/// Made when a curve changes, in one pass over its points; asked once for each candidate of a pod.
/// Units: loads in cores, slopes in watts per core, so that nodes of different size compare.
class chords {
 public:
  /// `max_load`: the cap as a share of all cores, above 0 and at most 1.
  chords(curve of, double max_load);

  const curve& power() const noexcept { return curve_; }
  /// How far the node may be filled, in cores.
  double cap() const noexcept { return loads_.back(); }

  /// Watts per core of the best chord from `load` on. 0 only where the curve stays flat up to some later
  /// load; never negative. Loads below 0 count as 0; at the cap and above it is the last slope before it.
  /// Costs one division or two, and seldom more.
  double from(double load) const noexcept;

 private:
  double slope(double load, double watts, std::size_t to) const noexcept {
    return (watts_[to] - watts) / (loads_[to] - load);
  }

  curve curve_;
  // The curve's points below the cap, and the cap.
  std::vector<double> loads_, watts_;
  std::vector<std::uint8_t> next_;  // where the best chord from each point ends; the last point's own index
};

}  // namespace binnacle::predict
