#pragma once

#include "aggregator/ops/report.hpp"
#include "common/exposition/exposition.hpp"
#include "common/metrics/histogram.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Samples that become a text in the Prometheus format, piece by piece: each family once with the family's
/// help, in the order in which families first appear. A family that is none of ours is left out, because
/// METRICS.md does not have it either.
class own_text {
 public:
  void add(std::vector<own_sample> samples);
  /// Writes the next `samples` samples. Call it when all are added. Whether more are left.
  bool write(std::size_t samples);
  /// The text, in pieces.
  std::vector<std::string> take() { return std::move(pieces_); }

 private:
  struct family {
    const metrics::family* known;
    std::vector<const own_sample*> samples;  // in kept_
  };
  family* find(std::string_view name);

  std::vector<std::vector<own_sample>> kept_;
  std::vector<family> families_;
  std::unordered_map<std::string_view, std::size_t> places_;  // in families_, by name
  std::size_t family_ = 0, sample_ = 0;                       // to write next
  exposition::writer out_;
  std::vector<std::string> pieces_;
};

}  // namespace binnacle::ops
