#pragma once

#include <cstddef>

namespace binnacle::wire {

/// Replicas of one aggregator: as many as its setting and the chart allow, and an agent has a link to each.
inline constexpr std::size_t max_replicas = 64;

}  // namespace binnacle::wire
