#pragma once

#include "aggregator/questions/question.hpp"
#include "aggregator/questions/watched_columns.hpp"
#include "common/metrics/alias_table.hpp"

#include <cstddef>
#include <functional>

namespace binnacle::questions {

/// Questions answered from the nodes' cells by the rules that policies follow too (store/derive.hpp). A name
/// that carries a window (the collectd power names: 10 s) is answered from its column. Until that column
/// exists, and with a metricLabelSelector, the answer is the value itself; its shorter span shows that.
/// What a metric means is kept for each shape, in at most `most_bytes` for all metrics together; beyond that
/// it is worked out again. `windows` and `names` must outlive what is returned.
question_maker ask_store(watched_columns& windows,
                         const metrics::names_in_force& names = metrics::names_in_force::built_in(),
                         std::size_t most_bytes = 64u << 20);

}  // namespace binnacle::questions
