#include "aggregator/predict/chords.hpp"

namespace binnacle::predict {
namespace {

/// Watts by which a point on a line of the curve may be off it, as a float.
constexpr double off_the_line = 1e-4;

}  // namespace

chords::chords(const curve& of, double max_load)
    : cores_(of.cores()),
      step_(of.step()),
      per_core_(1 / of.step()),
      cap_(std::max(std::clamp(max_load, 0.0, 1.0), 1e-9) * of.cores()),
      watts_at_cap_(0),
      bends_up_from_(0) {
  const auto points = of.points();
  // The last point is the first one at the cap or above it. A point just below the cap counts as at the cap:
  // a chord between them would consist of rounding errors.
  std::size_t end = 1;
  while (end + 1 < points.size() && static_cast<double>(end) * step_ < cap_ - 1e-9 * cores_) ++end;
  for (std::size_t i = 0; i <= end; ++i) watts_.push_back(static_cast<float>(points[i]));

  next_.assign(watts_.size(), static_cast<std::uint8_t>(end));
  // Computed from the points as they are kept, as floats: in a short chord to the cap, other roundings would
  // show.
  watts_at_cap_ = at(cap_).watts();

  bends_up_from_ = static_cast<std::uint32_t>(end);
  // From right to left: the best chord from a point ends on the envelope of the points right of it.
  for (auto i = static_cast<std::uint32_t>(end); i-- > 0;) {
    place here;
    here.before_ = i;
    here.load_ = i * step_;
    here.watts_ = watts_[i];
    std::uint32_t to = i + 1;
    while (to != end && !between(here, to).better_than(between(here, next_[to]))) to = next_[to];
    next_[i] = static_cast<std::uint8_t>(to);
    const chord first = between(here, i + 1);
    const bool on_envelope = first.rise <= first.run * between(here, to).slope() + off_the_line;
    if (on_envelope && bends_up_from_ == i + 1) bends_up_from_ = i;
  }
}

}  // namespace binnacle::predict
