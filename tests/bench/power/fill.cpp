#include "tests/bench/power/fill.hpp"

#include "tests/bench/power/optimum.hpp"

#include <cmath>

namespace binnacle::bench {
namespace {

/// The number of pods that are placed when the fleet has reached each load.
by_load<std::size_t> pods_by_load(const fleet& nodes, wish pod) {
  const auto room = static_cast<double>(room_for(nodes, pod));
  by_load<std::size_t> out{};
  for (std::size_t i = 0; i < loads; ++i)
    out[i] = static_cast<std::size_t>(std::lround(room * static_cast<double>(i + 1) / 10));
  return out;
}

}  // namespace

std::size_t room_for(const fleet& empty, wish pod) {
  std::size_t out = 0;
  for (const node& n : empty) out += static_cast<std::size_t>((n.truth.cores() + 1e-6) / taken(n, pod));
  return out;
}

filled fill(const fleet& empty, rule by, wish pod, ties among_equals, int runs, std::size_t enough) {
  const auto stops = pods_by_load(empty, pod);
  filled out;
  for (int run = 0; run < runs; ++run) {
    fleet nodes = empty;
    dice random(static_cast<std::uint64_t>(run) + 1);
    rotation part{enough, 0};
    rotation* const looks_at = enough == 0 ? nullptr : &part;
    std::size_t placed = 0;
    for (std::size_t i = 0; i < loads; ++i) {
      for (; placed < stops[i]; ++placed) {
        const auto at = choose(nodes, by, pod, among_equals, random, -1, looks_at);
        node& n = nodes.at(static_cast<std::size_t>(at));
        n.used += taken(n, pod);
      }
      out.watts[i] += watts(nodes) / runs;
      out.fullest[i] += share_of_fullest(nodes) / runs;
    }
  }
  return out;
}

by_load<double> least_by_load(const fleet& empty, wish pod) {
  const auto stops = pods_by_load(empty, pod);
  const auto least = least_watts(empty, pod);
  by_load<double> out{};
  for (std::size_t i = 0; i < loads; ++i) out[i] = least[stops[i]];
  return out;
}

by_load<double> saved(const by_load<double>& base, const by_load<double>& watts) {
  by_load<double> out{};
  for (std::size_t i = 0; i < loads; ++i) out[i] = 100 * (1 - watts[i] / base[i]);
  return out;
}

}  // namespace binnacle::bench
