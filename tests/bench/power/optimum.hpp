#pragma once

#include "tests/bench/power/fleet.hpp"

#include <vector>

namespace binnacle::bench {

/// The least watts that a fleet can draw with 0, 1, 2 … pods of one size placed on it, whatever order they
/// came in: dynamic programming over the servers (a knapsack with a choice for each). Index: pods.
std::vector<double> least_watts(const fleet& nodes, wish pod);

}  // namespace binnacle::bench
