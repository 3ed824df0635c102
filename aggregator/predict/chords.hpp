#pragma once

#include "aggregator/predict/curve.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdint>

namespace binnacle::predict {

/// The best chord for a pod: the smallest (f(y) − f(x)) / (y − x) over all y from the load with the pod up to
/// the cap; x is the load without it. It charges a step once and spreads it over what the node can still
/// take, so that a started node is filled until its next watts become expensive, and only then another node
/// is woken. The slope at x alone sees neither. A chord that ended before the pod does would leave out the
/// rest of the pod, and that may be where the curve rises. Made when a curve changes, in one pass over its
/// points; asked once for each candidate of a pod. The chords of a curve of 21 points are one piece of
/// memory, since a pod makes prioritize look at thousands of curves. Units: loads in cores, slopes in watts
/// per core, so that nodes of different size compare.
class chords {
 public:
  /// `max_load`: the cap as a share of all cores, above 0 and at most 1.
  chords(const curve& of, double max_load);

  double cores() const noexcept { return cores_; }
  /// How far the node may be filled, in cores.
  double cap() const noexcept { return cap_; }

  /// A load's place on the curve: found once, for the watts and the best chord from there.
  class place {
   public:
    double watts() const noexcept { return watts_; }

   private:
    friend class chords;
    std::uint32_t before_;  // the point at or below the load, but for the last one
    double load_, watts_;
  };
  /// Loads below 0 and above the cap count as these.
  place at(double load) const noexcept {
    place out;
    out.load_ = std::clamp(load, 0.0, cap_);
    const double steps = out.load_ * per_core_;
    out.before_ = std::min(static_cast<std::uint32_t>(steps), last() - 1);
    const float* w = watts_.data() + out.before_;
    const double first = w[0];
    out.watts_ = first + (w[1] - first) * (steps - out.before_);
    return out;
  }
  double watts(double load) const noexcept { return at(load).watts(); }

  /// Watts per core of the best chord from `here` that ends at `with_pod` or later. 0 only where the curve
  /// stays flat up to such a load; never negative. At the cap it is the last slope before it. Costs a
  /// division, or none.
  double from(const place& here, const place& with_pod) const noexcept {
    const std::uint32_t i = here.before_, j = with_pod.before_;
    const chord pods_own{with_pod.watts_ - here.watts_, with_pod.load_ - here.load_};
    if (i >= bends_up_from_ && pods_own.run > 0) return pods_own.slope();
    // Both loads lie on one line of the curve, and no chord to a later point is better than this line.
    if (i == j && next_[i] == i + 1) return (double{watts_[i + 1]} - double{watts_[i]}) * per_core_;
    // The chord ends with the pod, or at a corner of the envelope of the points behind the pod. The chords to
    // these corners become better up to the best one, and then worse. On the line of the load itself no end
    // is better than the end of the pod.
    std::uint32_t end = i == j ? next_[i + 1] : j + 1;
    chord best = between(here, end);
    while (end != last()) {
      end = next_[end];
      const chord further = between(here, end);
      if (!further.better_than(best)) break;
      best = further;
    }
    return (pods_own.better_than(best) ? pods_own : best).slope();
  }
  double from(double load, double pod) const noexcept { return from(at(load), at(load + pod)); }

 private:
  std::uint32_t last() const noexcept { return static_cast<std::uint32_t>(next_.size()) - 1; }
  // A chord to the last point ends at the cap, which may lie before it.
  double load_of(std::uint32_t end) const noexcept { return std::min(end * step_, cap_); }
  struct chord {
    double rise, run;  // watts, cores

    double slope() const noexcept { return rise / run; }
    /// Compares slopes without a division. A chord of no length is not better than any.
    bool better_than(const chord& other) const noexcept { return rise * other.run < other.rise * run; }
  };
  chord between(const place& from, std::uint32_t to) const noexcept {
    const double watts = to == last() ? watts_at_cap_ : double{watts_[to]};
    return {watts - from.watts_, load_of(to) - from.load_};
  }

  static constexpr std::size_t usual_points = curve::least_points;
  double cores_, step_, per_core_, cap_, watts_at_cap_;  // per_core_: points a core
  // At the points of the curve below the cap, and at the next one. A float knows a kilowatt to a tenth of a
  // milliwatt.
  boost::container::small_vector<float, usual_points> watts_;
  // From this point on the curve only becomes steeper, so that no chord is better than the pod's own.
  std::uint32_t bends_up_from_;
  // Where the best chord from each point to a later one ends: the corners of the lower envelope of the points
  // from there on. The last point's own index.
  boost::container::small_vector<std::uint8_t, usual_points> next_;
};

}  // namespace binnacle::predict
