// From bins of measured watts to a curve over all loads.
//
// A node has measured some loads well and most loads never. Three kinds of knowledge are put together,
// each where it is the best that there is:
//
//   1. its own measurements, at the loads that it had;
//   2. those of nodes with the same hardware, brought to this node's height: two servers of one model
//      differ in their fans and supplies, hardly in their shape. A bin of theirs counts as twenty own
//      samples at most, so that the node's own take over as they come;
//   3. the median of published servers, brought to the height of the measurements, with a weight so small
//      that it decides only where nothing was measured.
//
// follow() fits four terms (least_squares.hpp) to all of it. A fit alone would miss what is particular to
// a node, so the curve then follows the measurements: the distance of each measured bin from the fit is
// kept, is drawn out in proportion between two measured bins, and fades by half for each tenth of load
// beyond them. A bin with few samples keeps only a part of its distance. Limits at both ends keep a fit
// through a few odd bins from giving watts that no server has.

#include "aggregator/predict/learning/estimate.hpp"

#include "aggregator/predict/learning/least_squares.hpp"
#include "aggregator/predict/learning/median_server.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace binnacle::predict {
namespace {

constexpr std::size_t bins = statistics::bins;
using table = std::array<double, bins>;

// Weights follow from squares of errors: a bin's mean is good to some 2 %, however many samples it has, and
// the median server's shape to 15 %.
constexpr double most_of_a_bin = 50;
constexpr double all_of_median_server = 0.2;
/// A bin of the class counts at most as much as this many of the node's own samples.
constexpr std::uint16_t most_of_class = 20;
/// Samples at which a bin's distance from the fit is believed by half.
constexpr double half_believed = 2;
/// Watts that fall are lifted to what was drawn at a lower load (curve.hpp). If more of them would be lifted
/// than this share, they are not the node's.
constexpr double most_lifted = 0.1;
/// How a distance from the fit fades with the loads that were not measured: by half for each tenth.
constexpr double fade_per_bin = 0.707;

double between(const table& t, double load) {
  const double at = std::clamp(load, 0.0, 1.0) * (bins - 1);
  const auto i = std::min(static_cast<std::size_t>(at), bins - 2);
  return t[i] + (at - static_cast<double>(i)) * (t[i + 1] - t[i]);
}

double weight_of(std::uint16_t samples) { return std::min<double>(samples, most_of_a_bin); }

/// The factor that brings a shape nearest to the samples; nothing without samples.
template <class Shape>
std::optional<double> height(const statistics& seen, const Shape& shape) {
  double both = 0, squares = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    const double s = shape(seen.load(b)), w = weight_of(seen.samples(b));
    both += w * s * seen.watts(b);
    squares += w * s * s;
  }
  if (squares <= 0) return std::nullopt;
  return both / squares;
}

/// The distances of the measured bins from the fit, for all bins: between two measured ones in proportion,
/// beyond them fading.
table distances(const statistics& seen, const row& fit) {
  table out{};
  std::ptrdiff_t last = -1;
  for (std::size_t b = 0; b < bins; ++b) {
    if (seen.samples(b) == 0) continue;
    const double n = seen.samples(b);
    out[b] = (seen.watts(b) - dot(fit, terms_of(seen.load(b)))) * n / (n + half_believed);
    const auto here = static_cast<std::ptrdiff_t>(b);
    for (std::ptrdiff_t i = last + 1; i < here; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (last < 0) {
        out[k] = out[b] * std::pow(fade_per_bin, static_cast<double>(here - i));
      } else {
        const double share = static_cast<double>(i - last) / static_cast<double>(here - last);
        out[k] = (1 - share) * out[static_cast<std::size_t>(last)] + share * out[b];
      }
    }
    last = here;
  }
  for (std::size_t b = static_cast<std::size_t>(last + 1); last >= 0 && b < bins; ++b)
    out[b] = out[b - 1] * fade_per_bin;
  return out;
}

/// Watts at every bin's middle; nothing without samples.
std::optional<table> follow(const statistics& seen) {
  const auto peak = height(seen, median_shape);
  if (!peak) return std::nullopt;
  least_squares all;
  for (std::size_t b = 0; b < bins; ++b) {
    const double load = static_cast<double>(b) / (bins - 1);
    all.add(load, *peak * median_shape(load), all_of_median_server / bins);
    if (seen.samples(b) != 0) all.add(seen.load(b), seen.watts(b), weight_of(seen.samples(b)));
  }
  const auto fit = all.solve();
  if (!fit) return std::nullopt;
  table out = distances(seen, *fit);
  for (std::size_t b = 0; b < bins; ++b) {
    out[b] = std::clamp(out[b] + dot(*fit, terms_of(static_cast<double>(b) / (bins - 1))), 0.02 * *peak,
                        2 * *peak);
  }
  // No fit knows the idle step below the first measured load, so there the curve has the shape of the median
  // server.
  std::size_t first = 0;
  while (seen.samples(first) == 0) ++first;
  for (std::size_t b = 0; b < first; ++b) {
    const double load = static_cast<double>(b) / (bins - 1);
    out[b] = out[first] * median_shape(load) / median_shape(static_cast<double>(first) / (bins - 1));
  }
  return out;
}

/// The bins that tell something.
statistics enough_of(const statistics& all) {
  statistics out;
  for (std::size_t b = 0; b < bins; ++b) {
    if (all.samples(b) >= least_samples) out.add(all.load(b), all.watts(b), all.samples(b));
  }
  return out;
}

}  // namespace

known_loads known_of(const statistics& own, const statistics* of_class) noexcept {
  known_loads out{1, 0};
  for (const statistics* seen : {&own, of_class}) {
    for (std::size_t b = 0; seen != nullptr && b < bins; ++b) {
      if (seen->samples(b) < least_samples) continue;
      out.from = std::min(out.from, seen->load(b));
      out.to = std::max(out.to, seen->load(b));
    }
  }
  return out;
}

bool stands_still(const statistics& own, bool did) noexcept {
  const double wide = did ? 0.45 : known_loads::telling, rise = did ? 0.04 : 0.03;
  const known_loads known = known_of(own, nullptr);
  if (known.to - known.from < wide) return false;
  // A straight line through the bins, and how much of the watts is below what was drawn at a lower load. By
  // the line and not by two bins, because of the means of a noisy meter some are high and some are low.
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, highest = 0, below = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    if (own.samples(b) < least_samples) continue;
    const double load = own.load(b), watts = own.watts(b);
    n += 1;
    x += load;
    y += watts;
    xx += load * load;
    xy += load * watts;
    highest = std::max(highest, watts);
    below += highest - watts;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  const double first = (y - slope * x) / n + slope * known.from;
  return below > most_lifted * y || slope * (known.to - known.from) < rise * first;
}

std::optional<curve> estimate(const statistics& own, const statistics* of_class, double cores) {
  statistics seen = enough_of(own);
  if (of_class != nullptr) {
    const statistics others = enough_of(*of_class);
    if (const auto shape = follow(others)) {
      const double scale = height(seen, [&](double load) { return between(*shape, load); }).value_or(1);
      for (std::size_t b = 0; b < bins; ++b)
        seen.add(others.load(b), scale * others.watts(b), std::min(others.samples(b), most_of_class));
    }
  }
  const auto watts = follow(seen);
  if (!watts) return std::nullopt;
  auto made = curve::through(*watts, cores);
  if (!made) return std::nullopt;
  return std::move(*made);
}

}  // namespace binnacle::predict
