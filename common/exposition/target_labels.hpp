#pragma once

#include "common/metrics/families.hpp"

namespace binnacle::exposition {

/// The labels of the target that a series comes from (`node`), followed by the series' own labels. An own
/// label is renamed if it has the name of a target's label, or the prefix of Prometheus' internal labels. The
/// new name is the one that Prometheus gives to labels that clash. If a name came twice, Prometheus would
/// refuse the whole scrape or request. Source: prometheus.io/docs, scrape_config honor_labels.
metrics::label_set with_target(metrics::label_set target, const metrics::label_set& own);

}  // namespace binnacle::exposition
