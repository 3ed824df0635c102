#pragma once

#include "tests/bench/power/fleet.hpp"

#include <array>

namespace binnacle::bench {

/// The loads are 10, 20 … 90 % of a fleet's capacity.
constexpr std::size_t loads = 9;
template <class T>
using by_load = std::array<T, loads>;

/// How many pods of one size the fleet has room for when it is empty, in whatever order they are placed.
std::size_t room_for(const fleet& empty, wish pod);

struct filled {
  by_load<double> watts{};
  by_load<double> fullest{};  ///< the used share of the fullest node's cores
};
/// Places pods of one size one by one; they stay. Gives the watts of the fleet at each load, as the mean of
/// `runs` runs, which differ in how ties are broken. `enough`: kube-scheduler looks only at so many nodes
/// with room for a pod, and at others for the next pod; 0: it looks at all.
filled fill(const fleet& empty, rule by, wish pod, ties among_equals, int runs = 3, std::size_t enough = 0);

/// The least watts that the fleet can draw at each load, whatever the order of placing.
by_load<double> least_by_load(const fleet& empty, wish pod);

/// Savings against `base` in percent.
by_load<double> saved(const by_load<double>& base, const by_load<double>& watts);

}  // namespace binnacle::bench
