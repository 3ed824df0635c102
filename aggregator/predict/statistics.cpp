#include "aggregator/predict/statistics.hpp"

#include <algorithm>

namespace binnacle::predict {

std::size_t statistics::bin_of(double load) noexcept {
  if (load < idle_below) return 0;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::min(load, 1.0) * (bins - 1) + 0.5));
}

void statistics::add(double load, double watts, std::uint16_t weight, std::uint16_t most) noexcept {
  if (weight == 0) return;
  const std::size_t b = bin_of(load);
  if (b == 0) load = 0;
  const std::uint32_t all = samples_[b] + std::uint32_t{weight};
  const double share = static_cast<double>(weight) / all;
  samples_[b] = static_cast<std::uint16_t>(std::min<std::uint32_t>(all, most));
  loads_[b] += static_cast<float>(share * (load - static_cast<double>(loads_[b])));
  watts_[b] += static_cast<float>(share * (watts - static_cast<double>(watts_[b])));
}

void statistics::forget(std::size_t bin) noexcept {
  loads_[bin] = watts_[bin] = 0;
  samples_[bin] = 0;
}

bool statistics::empty() const noexcept {
  return std::ranges::all_of(samples_, [](std::uint16_t n) { return n == 0; });
}

}  // namespace binnacle::predict
