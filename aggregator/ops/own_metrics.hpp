#pragma once

#include "aggregator/ops/report.hpp"

#include <string>
#include <vector>

namespace binnacle::ops {

/// The samples in the Prometheus text format, each family once with the help of the catalogue, in the order
/// in which families first appear. A family that is in no catalogue is left out: METRICS.md would not have it
/// either.
std::string own_metrics_text(const std::vector<own_sample>& samples);

}  // namespace binnacle::ops
