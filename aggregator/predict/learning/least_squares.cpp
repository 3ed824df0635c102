#include "aggregator/predict/learning/least_squares.hpp"

#include <cmath>

namespace binnacle::predict {

row terms_of(double load) noexcept { return {1, 1 - std::exp(-load / 0.03), load, load * load}; }

void least_squares::add(double load, double watts, double weight) noexcept {
  const row x = terms_of(load);
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) xx_[in_triangle(i, j)] += weight * x[i] * x[j];
    xy_[i] += weight * x[i] * watts;
  }
}

std::optional<row> least_squares::solve() const noexcept {
  auto matrix = xx_;
  row c = xy_;
  if (!solve_positive<terms>(matrix, c)) return std::nullopt;
  return c;
}

}  // namespace binnacle::predict
