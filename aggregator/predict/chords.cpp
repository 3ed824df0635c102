#include "aggregator/predict/chords.hpp"

namespace binnacle::predict {
namespace {

/// Watts by which a point on a line of the curve may be off it, as a float.
constexpr double off_the_line = 1e-4;

}  // namespace

chords::chords(const curve& of, double max_load)
    : cores_(of.cores()),
      per_core_(1 / of.step()),
      cap_(std::max(std::clamp(max_load, 0.0, 1.0), 1e-9) * of.cores()),
      watts_at_cap_(0),
      per_cap_(static_cast<float>(1 / (cap_ * per_core_))),
      steps_(static_cast<std::uint8_t>(of.points().size() - 1)) {
  const auto curve_points = of.points();
  const double step = of.step();
  // The last point is the first one at the cap or above it. A point just below the cap counts as at the cap:
  // a chord between them would consist of rounding errors.
  std::uint8_t end = 1;
  while (end < steps_ && end * step < cap_ - 1e-9 * cores_) ++end;
  last_ = end;
  points_ = std::make_unique<point[]>(curve_points.size());
  for (std::size_t i = 0; i < curve_points.size(); ++i)
    points_[i].watts = static_cast<float>(curve_points[i]);
  points_[end].set_next(end);
  // Computed from the points as they are kept, as floats: in a short chord to the cap, other roundings would
  // show.
  watts_at_cap_ = at(cap_).watts();

  bends_up_from_ = end;
  // From right to left: the best chord from a point ends on the envelope of the points right of it.
  for (std::uint8_t i = end; i-- > 0;) {
    const place here = at_point(i);
    std::uint8_t to = i + 1;
    while (to != end && !between(here, to).better_than(between(here, points_[to].next())))
      to = points_[to].next();
    points_[i].set_next(to);
    const chord first = between(here, i + 1);
    const bool on_envelope = first.rise <= first.run * between(here, to).slope() + off_the_line;
    if (on_envelope && bends_up_from_ == i + 1) bends_up_from_ = i;
  }
  // The envelope from idle on: each best chord begins where the one before it ends.
  for (std::uint8_t from = 0, to = 0; from != end; from = to) {
    to = points_[from].next();
    const auto slope = static_cast<float>(between(at_point(from), to).slope() * per_core_);
    for (std::uint8_t i = from; i != to; ++i) points_[i].set_long_run(slope);
  }
}

chords::place chords::at_point(std::uint8_t i) const noexcept {
  place out;
  out.before_ = i;
  out.steps_ = i;
  out.watts_ = points_[i].watts;
  return out;
}

/// The chord ends with the pod, or at a corner of the envelope of the points behind the pod. The chords to
/// these corners become better up to the best one, and then worse. On the line of the load itself no end is
/// better than the end of the pod.
double chords::to_a_corner(const place& from, std::uint32_t pod_ends_in,
                           const chord& pods_own) const noexcept {
  std::uint32_t end = from.before_ == pod_ends_in ? points_[from.before_ + 1].next() : pod_ends_in + 1;
  chord best = between(from, end);
  while (end != last_) {
    end = points_[end].next();
    const chord further = between(from, end);
    if (!further.better_than(best)) break;
    best = further;
  }
  return (pods_own.better_than(best) ? pods_own : best).slope();
}

}  // namespace binnacle::predict
