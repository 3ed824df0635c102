#pragma once

#include "aggregator/predict/curve.hpp"
#include "aggregator/predict/statistics.hpp"

#include <optional>

namespace binnacle::predict {

/// Bins with fewer samples tell nothing yet.
constexpr std::uint16_t least_samples = 10;

/// A node's curve, from what it measured itself. Where it has not measured, nodes with the same hardware tell
/// (`of_class`, at this node's height), and where they have not either, the median of published servers does:
/// no single node can know what it has not done. Four terms are fitted to all of it (least_squares.hpp);
/// where there are measurements, the curve follows them and not the fit. Gives 21 points, each between a
/// fiftieth and twice of the watts that are expected with all cores busy. Nothing while neither the node nor
/// its class has a bin with least_samples. Costs a few microseconds.
std::optional<curve> estimate(const statistics& own, const statistics* of_class, double cores);

/// From which load to which somebody has measured often enough: the node, or one with the same hardware.
/// Below and above, the estimate has the shape of servers in general and nothing else.
struct known_loads {
  double from = 0, to = 0;  ///< 0: idle

  /// Whether they tell how the watts rise with the load: half of all loads do.
  static constexpr double telling = 0.5;
  bool tell() const noexcept { return to - from >= telling; }
};
known_loads known_of(const statistics& own, const statistics* of_class) noexcept;

/// Whether the watts hardly rise (by less than 3 %, by the straight line through them), or fall by much,
/// although they were measured over half of all loads. Then the meter does not follow this node: it is stuck
/// and adds some noise, or most of what it measures is something else, such as another node. Its curve would
/// say that pods cost nothing here. A server may be so flat itself where it is busy (one of WAO's models
/// rises by 1.8 % from 30 to 95 % load), and a power cap makes any server so. These cannot be told from such
/// a meter while the node has never been below, and count as one. So do old watts at some loads beside new
/// ones at others, after a change of the hardware.
/// `did`: whether it did so far; then it must rise by 4 % to be believed again.
bool stands_still(const statistics& own, bool did = false) noexcept;

}  // namespace binnacle::predict
