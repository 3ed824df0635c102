#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace binnacle::predict {

/// The range in which candidates' figures count unchanged. A few odd ones do not move it.
struct believable_range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double alarm = 0;  ///< how far beyond these ends a figure is suspicious
};

/// The range of figures of which some may be lies; NaN: a candidate without a figure. `least` and `most` are
/// the smallest and the largest one. `apart`: how far apart honest candidates usually are.
/// - From `least_for_percentiles` figures on the range goes from the 5th to the 95th percentile of up to 512
///   candidates, evenly taken, and is widened by its own length on either side.
/// - With fewer figures, but at least three, the range leaves out the highest and the lowest. Of three it has
///   the middle figure alone. Few figures say little about how far an honest one may lie from them, so the
///   range is widened by four to eight times its largest magnitude (by more, the further these figures lie
///   apart themselves), or by `apart`, whichever is more.
/// - With two figures nobody can say which one is wrong, so both count.
/// Pure; a few microseconds.
believable_range believable(std::span<const double> figures, double least, double most, double apart);
inline constexpr std::size_t least_for_percentiles = 20;

}  // namespace binnacle::predict
