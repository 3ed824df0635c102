#pragma once

#include "aggregator/sender/encoder.hpp"
#include "common/metrics/families.hpp"

namespace binnacle::sender {

/// The labels `cluster` and `replica`, as far as they are set.
metrics::label_set outside_labels(const origin& from);
/// The labels that remote write adds to each series of a node, for the cursor: `outside` and `node`.
metrics::label_set target_labels(const origin& from);

/// The labels of a series in remote write, sorted as the protocol wants: `__name__`, its own labels, `node`
/// and `outside`. Empty labels are left out: the protocol forbids them, and a database counts them as none.
/// Source: prometheus.io/docs/concepts/remote_write_spec, "Labels".
metrics::label_set series_labels(const metrics::label_set& outside, const point& p);

}  // namespace binnacle::sender
