#pragma once

#include <cstddef>

namespace binnacle::wire {

/// How many replicas an aggregator may have. Its setting and the chart have the same limit; an agent has a
/// link to each replica.
inline constexpr std::size_t max_replicas = 64;

}  // namespace binnacle::wire
