#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace binnacle::predict {

/// What a node draws at each load: watts at evenly spaced loads from idle to all cores busy, with straight
/// lines between them. Watts never fall as the load rises: models of trees and fits to noisy meters have dips
/// that no machine has, and a dip would make a pod seem to save power.
/// Units: load in cores in use, 0 to cores(); watts of the whole node, or of what its meter covers.
class curve {
 public:
  static constexpr std::size_t least_points = 21;  ///< a step every 5 % of the load
  static constexpr std::size_t most_points = 101;

  /// A curve through `watts` at evenly spaced loads: 2 to 101 of them, the first at idle, the last with all
  /// `cores` busy. Fewer than 21 points are refined on their lines; a point below the one before it is lifted
  /// to it.
  /// Errors: invalid_input for another number of points, and for a value that is not finite or not above 0
  /// (a node that is on draws something).
  static result<curve> through(std::span<const double> watts, double cores);

  double cores() const noexcept { return cores_; }
  std::span<const double> points() const noexcept { return watts_; }
  /// Cores between two points.
  double step() const noexcept { return cores_ / static_cast<double>(watts_.size() - 1); }

  /// Watts at that load. Loads below 0 and above cores() count as these.
  double watts(double load) const noexcept;

 private:
  curve(std::vector<double> watts, double cores) : watts_(std::move(watts)), cores_(cores) {}

  std::vector<double> watts_;
  double cores_;
};

}  // namespace binnacle::predict
