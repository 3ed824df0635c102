#pragma once

#include "aggregator/ops/report.hpp"
#include "common/metrics/histogram.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace binnacle::ops {

/// `per_unit`: how many of the histogram's steps make one unit of the family. Bounds are divided by it (not
/// multiplied by its inverse), so that each is the double nearest to its decimal: 0.0001, not
/// 9.999999999999999e-05.
template <std::size_t N>
histogram_sample in_units(const metrics::histogram<N>& h, double per_unit) {
  histogram_sample s;
  for (std::size_t i = 0; i <= N; ++i) {
    if (i < N) s.upper_bounds.push_back(static_cast<double>(h.bounds()[i]) / per_unit);
    s.counts.push_back(h.cumulative(i) - (i == 0 ? 0 : h.cumulative(i - 1)));
  }
  s.sum = static_cast<double>(h.sum()) / per_unit;
  return s;
}

/// The samples in the Prometheus text format, each family once with the family's help, in the order
/// in which families first appear. A family that is none of ours is left out, because METRICS.md does
/// not have it either.
std::string own_metrics_text(const std::vector<own_sample>& samples);

}  // namespace binnacle::ops
