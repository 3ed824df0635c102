#pragma once

#include "aggregator/sender/encoder.hpp"
#include "common/metrics/families.hpp"

namespace binnacle::sender {

/// The labels `cluster` and `replica`, as far as they are set.
metrics::label_set outside_labels(const origin& from);

/// The labels of a series in remote write, sorted as the protocol wants: `__name__`, its own labels, `node`
/// and `outside`.
metrics::label_set series_labels(const metrics::label_set& outside, const point& p);

}  // namespace binnacle::sender
