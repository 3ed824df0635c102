#pragma once

#include "common/metrics/catalog.hpp"

namespace binnacle::exposition {

/// A series' own labels behind those of the target that it comes from (`node`). An own label that is called
/// as one of the target's, or that begins as Prometheus' internal ones do, is renamed as Prometheus renames
/// what clashes: with two labels of one name it takes nothing of the whole scrape or request.
/// Source: prometheus.io/docs, scrape_config honor_labels.
metrics::label_set with_target(metrics::label_set target, const metrics::label_set& own);

}  // namespace binnacle::exposition
