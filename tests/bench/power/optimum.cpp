#include "tests/bench/power/optimum.hpp"

#include <algorithm>
#include <limits>

namespace binnacle::bench {

std::vector<double> least_watts(const fleet& nodes, wish pod) {
  std::vector<double> least{0};
  for (const node& n : nodes) {
    const double size = taken(n, pod);
    const auto most = static_cast<std::size_t>((n.truth.cores() + 1e-6) / size);
    std::vector<double> alone;
    for (std::size_t k = 0; k <= most; ++k) alone.push_back(n.truth.watts(static_cast<double>(k) * size));
    std::vector<double> with(least.size() + most, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < least.size(); ++i) {
      for (std::size_t k = 0; k <= most; ++k) with[i + k] = std::min(with[i + k], least[i] + alone[k]);
    }
    least = std::move(with);
  }
  return least;
}

}  // namespace binnacle::bench
