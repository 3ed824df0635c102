#pragma once

#include "tests/bench/power/fleet.hpp"

#include <array>

namespace binnacle::bench {

/// 10, 20 … 90 % of a fleet's capacity placed.
constexpr std::size_t loads = 9;
template <class T>
using by_load = std::array<T, loads>;

struct filled {
  by_load<double> watts{};
  by_load<double> fullest{};  ///< the share of its cores that the fullest node has given away
};
/// Pods of one size arrive one by one and stay; what the fleet draws at each load. The mean of `runs` runs,
/// which differ by how ties fall. `enough`: kube-scheduler looks at so many nodes with room for a pod, others
/// for the next; 0: at all.
filled fill(const fleet& empty, rule by, wish pod, ties among_equals, int runs = 3, std::size_t enough = 0);

/// The least that the fleet can draw at each load, whatever the order of placing.
by_load<double> least_by_load(const fleet& empty, wish pod);

/// Savings against `base` in percent.
by_load<double> saved(const by_load<double>& base, const by_load<double>& watts);

}  // namespace binnacle::bench
