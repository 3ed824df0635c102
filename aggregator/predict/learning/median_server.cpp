#include "aggregator/predict/learning/median_server.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace binnacle::predict {

double median_shape(double load) noexcept {
  constexpr std::array<double, 11> shares = {.232, .375, .427, .484, .533, .594, .649, .704, .787, .893, 1};
  const double at = std::clamp(load, 0.0, 1.0) * 10;
  const auto i = std::min(static_cast<std::size_t>(at), shares.size() - 2);
  return shares[i] + (at - static_cast<double>(i)) * (shares[i + 1] - shares[i]);
}

}  // namespace binnacle::predict
