#pragma once

#include "tests/bench/power/fleet.hpp"

#include <vector>

namespace binnacle::bench {

/// The least watts that a fleet can draw with 0, 1, 2 … pods of one size placed on it, whatever the order of
/// placing. Index: the number of pods. Found by dynamic programming over the servers: a knapsack with one
/// choice for each server.
std::vector<double> least_watts(const fleet& nodes, wish pod);

}  // namespace binnacle::bench
