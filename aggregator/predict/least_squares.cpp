#include "aggregator/predict/least_squares.hpp"

#include <cmath>

namespace binnacle::predict {
namespace {

constexpr std::size_t at(std::size_t i, std::size_t j) noexcept { return i * (i + 1) / 2 + j; }

}  // namespace

row terms_of(double load) noexcept { return {1, 1 - std::exp(-load / 0.03), load, load * load}; }

void least_squares::add(double load, double watts, double weight) noexcept {
  const row x = terms_of(load);
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) xx_[at(i, j)] += weight * x[i] * x[j];
    xy_[i] += weight * x[i] * watts;
  }
}

std::optional<row> least_squares::solve() const noexcept {
  // Cholesky: XᵀX = L Lᵀ, then L z = Xᵀy and Lᵀ c = z.
  std::array<double, 10> l{};
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = xx_[at(i, j)];
      for (std::size_t k = 0; k < j; ++k) sum -= l[at(i, k)] * l[at(j, k)];
      if (i != j) {
        l[at(i, j)] = sum / l[at(j, j)];
      } else if (sum > 1e-12 * xx_[at(i, i)]) {
        l[at(i, i)] = std::sqrt(sum);
      } else {
        return std::nullopt;
      }
    }
  }
  row c{};
  for (std::size_t i = 0; i < terms; ++i) {
    double sum = xy_[i];
    for (std::size_t k = 0; k < i; ++k) sum -= l[at(i, k)] * c[k];
    c[i] = sum / l[at(i, i)];
  }
  for (std::size_t i = terms; i-- > 0;) {
    for (std::size_t k = i + 1; k < terms; ++k) c[i] -= l[at(k, i)] * c[k];
    c[i] /= l[at(i, i)];
  }
  return c;
}

}  // namespace binnacle::predict
