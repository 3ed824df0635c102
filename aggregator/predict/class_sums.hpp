#pragma once

#include "aggregator/predict/statistics.hpp"

#include <array>
#include <cstdint>

namespace binnacle::predict {

/// What the nodes of a class measured together. Each node counts by its samples, at most
/// statistics::remembered of them at a load; the order of the nodes does not matter. Sums, and not a mean
/// that is carried on: such a mean forgets, and would be that of the nodes added last.
class class_sums {
 public:
  class_sums& operator+=(const statistics& of_node) noexcept;
  /// The means over all nodes.
  statistics means() const noexcept;

 private:
  struct sums {
    double load = 0, watts = 0;  // times samples
    std::uint32_t samples = 0;
  };
  std::array<sums, statistics::bins> bins_{};
};

}  // namespace binnacle::predict
