#pragma once

#include "aggregator/predict/curve.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdint>

namespace binnacle::predict {

/// The best chord from each load of a curve: the smallest (f(y) − f(x)) / (y − x) over all y in (x, cap], the
/// first slope of the curve's convex envelope from x on. It charges a step once and spreads it over what the
/// node can still take, so that a started node is filled until its next watts become expensive, and only then
/// another node is woken. The slope at x alone sees neither.
/// Made when a curve changes, in one pass over its points; asked once for each candidate of a pod. The chords
/// of a curve of 21 points are one piece of memory, since a pod makes prioritize look at thousands of curves.
/// Units: loads in cores, slopes in watts per core, so that nodes of different size compare.
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

  /// Watts per core of the best chord from there on. 0 only where the curve stays flat up to some later
  /// load; never negative. At the cap it is the last slope before it. Costs one division, and seldom more.
  double from(const place& here) const noexcept {
    const std::uint32_t i = here.before_, far = next_[i];
    // The best chord leads to the next point: it is the line of the curve on which the load lies.
    if (far == i + 1) return (double{watts_[far]} - double{watts_[i]}) * per_core_;
    // The curve lies above the envelope here. The best chord ends at a corner of the envelope: not before the
    // end for the point right of the load, and not behind the end for the point left of it. Mostly these two
    // ends are the same.
    std::uint32_t end = next_[i + 1];
    double best = slope(here, end);
    while (end < far) {
      end = next_[end];
      best = std::min(best, slope(here, end));
    }
    return best;
  }
  double from(double load) const noexcept { return from(at(load)); }

 private:
  std::uint32_t last() const noexcept { return static_cast<std::uint32_t>(next_.size()) - 1; }
  // A chord to the last point ends at the cap, which may lie before it.
  double load_of(std::uint32_t end) const noexcept { return std::min(end * step_, cap_); }
  double slope(const place& from, std::uint32_t to) const noexcept {
    return ((to == last() ? watts_at_cap_ : double{watts_[to]}) - from.watts_) / (load_of(to) - from.load_);
  }

  static constexpr std::size_t usual_points = curve::least_points;
  double cores_, step_, per_core_, cap_, watts_at_cap_;  // per_core_: points a core
  // At the points of the curve below the cap, and at the next one. A float knows a kilowatt to a tenth of a
  // milliwatt.
  boost::container::small_vector<float, usual_points> watts_;
  // Where the best chord from each point ends; the last point's own index.
  boost::container::small_vector<std::uint8_t, usual_points> next_;
};

}  // namespace binnacle::predict
