#include "aggregator/predict/class_sums.hpp"

#include <algorithm>

namespace binnacle::predict {

class_sums& class_sums::operator+=(const statistics& of_node) noexcept {
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const std::uint32_t n = of_node.samples(b);
    bins_[b].load += n * of_node.load(b);
    bins_[b].watts += n * of_node.watts(b);
    bins_[b].samples += n;
  }
  return *this;
}

statistics class_sums::means() const noexcept {
  statistics out;
  for (const sums& s : bins_) {
    if (s.samples == 0) continue;
    const auto weight = std::min<std::uint32_t>(s.samples, statistics::remembered);
    out.add(s.load / s.samples, s.watts / s.samples, static_cast<std::uint16_t>(weight));
  }
  return out;
}

}  // namespace binnacle::predict
