#pragma once

#include "aggregator/predict/curve.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>

namespace binnacle::predict {

/// The best chord from each load of a curve: the smallest (f(y) − f(x)) / (y − x) over all y in (x, cap], the
/// first slope of the curve's convex envelope from x on. It charges a step once and spreads it over what the
/// node can still take, so that a node that was started is filled to where its next watts become dear before
/// another one is woken. The slope at x alone sees neither.
/// Made when a curve changes, in one pass over its points; asked once for each candidate of a pod. Those of a
/// curve of 21 points are one piece of memory, since thousands are looked through for one pod.
/// Units: loads in cores, slopes in watts per core, so that nodes of different size compare.
class chords {
 public:
  /// `max_load`: the cap as a share of all cores, above 0 and at most 1.
  chords(const curve& of, double max_load);

  double cores() const noexcept { return cores_; }
  /// How far the node may be filled, in cores.
  double cap() const noexcept { return cap_; }
  /// Watts at that load. Loads below 0 and above the cap count as these.
  double watts(double load) const noexcept;

  /// Watts per core of the best chord from `load` on. 0 only where the curve stays flat up to some later
  /// load; never negative. Loads below 0 count as 0; at the cap and above it is the last slope before it.
  /// Costs one division or two, and seldom more.
  double from(double load) const noexcept;

 private:
  std::size_t last() const noexcept { return watts_.size() - 1; }
  double load_of(std::size_t i) const noexcept { return i == last() ? cap_ : static_cast<double>(i) * step_; }
  double slope(double load, double watts, std::size_t to) const noexcept {
    return (watts_[to] - watts) / (load_of(to) - load);
  }
  /// The point at or below a load of at most the cap, but for the last one.
  std::size_t before(double load) const noexcept;

  static constexpr std::size_t usual_points = curve::least_points + 1;
  double cores_, step_, cap_;
  // At the points of the curve below the cap, and at the cap.
  boost::container::small_vector<double, usual_points> watts_;
  // Where the best chord from each point ends; the last point's own index.
  boost::container::small_vector<std::uint8_t, usual_points> next_;
};

}  // namespace binnacle::predict
