#pragma once

#include "aggregator/predict/curve.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>

namespace binnacle::predict {

/// The best chord for a pod: the smallest (f(y) − f(x)) / (y − x) over all y from the load with the pod up to
/// the cap; x is the load without it. It charges a step once and spreads it over what the node can still
/// take, so that a started node is filled until its next watts become expensive, and only then another node
/// is woken. The slope at x alone sees neither. A chord that ended before the pod does would leave out the
/// rest of the pod, and that may be where the curve rises.
/// The best chord from a started node takes its step for spent. in_the_long_run() does not: it is the slope
/// of the best chords from idle on, one behind the other (the lower envelope of the curve), at the node's
/// load. Made when a curve changes, in one pass over its points; asked once for each candidate of a pod. A
/// pod makes prioritize look at thousands of curves, so what it reads of one lies close together: this
/// object, and the points from a load on. Units: loads in cores, slopes in watts per core, so that nodes of
/// different size compare.
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
    std::uint32_t before_;  // the point at or below the load, but for the last one up to the cap
    double steps_, watts_;  // steps: the load, from point to point
  };
  /// Loads below 0 and above the cap count as these.
  place at(double load) const noexcept {
    place out;
    out.steps_ = std::clamp(load, 0.0, cap_) * per_core_;
    out.before_ = std::min(static_cast<std::uint32_t>(out.steps_), last_ - 1U);
    out.watts_ = watts_on_line(out.before_, out.steps_);
    return out;
  }
  double watts(double load) const noexcept { return at(load).watts(); }
  /// The same at a load that may lie beyond the cap: nothing is ranked by it, but people want to know. Loads
  /// above all cores count as these.
  double watts_beyond_cap(double load) const noexcept {
    const double steps = std::clamp(load * per_core_, 0.0, static_cast<double>(steps_));
    return watts_on_line(std::min(static_cast<std::uint32_t>(steps), steps_ - 1U), steps);
  }
  /// Watts per core of the envelope from idle on, there: what a further core costs in the mean if the node
  /// may empty again. It rises with the load, from the best chord of the idle node for a small pod.
  double in_the_long_run(const place& here) const noexcept { return points_[here.before_].long_run(); }
  /// The share of the cap that is free there.
  double share_free(const place& here) const noexcept {
    return 1 - here.steps_ * static_cast<double>(per_cap_);
  }
  /// Where the points from a load on lie in memory, the load as a share of all cores: what a loop over many
  /// nodes fetches ahead. Those of a curve of 21 points take three lines of the cache.
  const void* from_on(double share) const noexcept {
    return points_.get() + static_cast<std::uint32_t>(std::clamp(share, 0.0, 1.0) * steps_);
  }

  /// Watts per core of the best chord from `here` that ends at `with_pod` or later. 0 only where the curve
  /// stays flat up to such a load; never negative. At the cap it is the last slope before it. Costs a
  /// division, or none.
  double from(const place& here, const place& with_pod) const noexcept {
    return watts_a_step(here, with_pod) * per_core_;
  }
  double from(double load, double pod) const noexcept { return from(at(load), at(load + pod)); }

 private:
  struct chord {
    double rise, run;  // watts, steps

    double slope() const noexcept { return rise / run; }
    /// Compares slopes without a division. A chord of no length is not better than any.
    bool better_than(const chord& other) const noexcept { return rise * other.run < other.rise * run; }
  };
  double watts_a_step(const place& here, const place& with_pod) const noexcept {
    const std::uint32_t i = here.before_;
    const point* p = points_.get() + i;
    const std::uint32_t corner = p->next();
    // Both loads lie on one line of the curve, and no chord to a later point is better than this line.
    if (i == with_pod.before_ && corner == i + 1) return double{p[1].watts} - double{p[0].watts};
    const chord pods_own{with_pod.watts_ - here.watts_, with_pod.steps_ - here.steps_};
    if (i >= bends_up_from_ && pods_own.run > 0) return pods_own.slope();
    // The best chords from both ends of the load's line end in one corner. Then that from the load lies
    // between them, and ends there, too: no later point is below either of them, so none is below this one.
    if (corner == p[1].next() && corner > with_pod.before_) return between(here, corner).slope();
    return to_a_corner(here, with_pod.before_, pods_own);
  }
  double to_a_corner(const place& from, std::uint32_t pod_ends_in, const chord& pods_own) const noexcept;
  /// A chord to the last point ends at the cap, which may lie before it.
  chord between(const place& from, std::uint32_t to) const noexcept {
    const double watts = to == last_ ? watts_at_cap_ : double{points_[to].watts};
    return {watts - from.watts_, (to == last_ ? cap_ * per_core_ : to) - from.steps_};
  }
  place at_point(std::uint8_t i) const noexcept;
  double watts_on_line(std::uint32_t before, double steps) const noexcept {
    const point* p = points_.get() + before;
    const double first = p[0].watts;
    return first + (p[1].watts - first) * (steps - before);
  }

  // A point of the curve. It takes eight bytes, and 21 of them three lines of the cache. Those behind the
  // first one at the cap or above it have their watts alone.
  class point {
   public:
    float watts = 0;  // a float knows a kilowatt to a tenth of a milliwatt

    // Where the best chord from here to a later point ends: a corner of the lower envelope of the points from
    // here on. The last point's own index.
    std::uint8_t next() const noexcept { return static_cast<std::uint8_t>(packed_ & index_bits); }
    void set_next(std::uint8_t to) noexcept { packed_ = (packed_ & ~index_bits) | to; }
    // The slope of the envelope from idle on, behind this point; known to 2 in 100,000.
    float long_run() const noexcept { return std::bit_cast<float>(packed_ & ~index_bits); }
    void set_long_run(float slope) noexcept {
      const std::uint32_t rounded = std::bit_cast<std::uint32_t>(slope) + (index_bits + 1) / 2;
      packed_ = (rounded & ~index_bits) | (packed_ & index_bits);
    }

   private:
    static constexpr std::uint32_t index_bits = 0xff;
    std::uint32_t packed_ = 0;  // the upper 24 bits of the slope, and the index instead of the others
  };
  static_assert(sizeof(point) == 8);
  double cores_, per_core_, cap_, watts_at_cap_;  // per_core_: points a core
  std::unique_ptr<point[]> points_;               // of the whole curve
  float per_cap_;      // 1 / (the cap in steps): a multiplication costs less than a division
  std::uint8_t last_;  // the first point at the cap or above it
  // From this point on the curve only becomes steeper, so that no chord is better than the pod's own.
  std::uint8_t bends_up_from_;
  std::uint8_t steps_;  // of the whole curve
};
static_assert(sizeof(chords) <= 48,
              "prioritize reads thousands of them: with what else is known of a node, a line of the cache");

}  // namespace binnacle::predict
