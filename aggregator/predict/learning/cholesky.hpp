#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace binnacle::predict {

/// A symmetric matrix of N rows: the lower triangle, row by row.
template <std::size_t N>
using triangle = std::array<double, N*(N + 1) / 2>;

constexpr std::size_t in_triangle(std::size_t i, std::size_t j) noexcept { return i * (i + 1) / 2 + j; }

/// Solves A x = b for a positive definite A and leaves x in `b`. A is overwritten, too. False: A is not
/// positive definite, or so nearly not that x would be noise.
template <std::size_t N>
bool solve_positive(triangle<N>& a, std::array<double, N>& b) noexcept {
  // Cholesky: A = L Lᵀ, then L z = b and Lᵀ x = z.
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[in_triangle(i, j)];
      for (std::size_t k = 0; k < j; ++k) sum -= a[in_triangle(i, k)] * a[in_triangle(j, k)];
      if (i != j) {
        a[in_triangle(i, j)] = sum / a[in_triangle(j, j)];
      } else if (sum > 1e-12 * a[in_triangle(i, i)]) {
        a[in_triangle(i, i)] = std::sqrt(sum);
      } else {
        return false;
      }
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[in_triangle(i, k)] * b[k];
    b[i] /= a[in_triangle(i, i)];
  }
  for (std::size_t i = N; i-- > 0;) {
    for (std::size_t k = i + 1; k < N; ++k) b[i] -= a[in_triangle(k, i)] * b[k];
    b[i] /= a[in_triangle(i, i)];
  }
  return true;
}

}  // namespace binnacle::predict
