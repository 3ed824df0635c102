#include "aggregator/predict/rated.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace binnacle::predict {

result<curve> rated_line(double idle, double peak, double cores) {
  // The two mixed up, or one of them for both, would make a node look free of charge.
  if (!std::isfinite(peak) || !(idle > 0) || !(peak > idle)) {
    return error{errc::invalid_input,
                 fmt::format("rated watts of {} idle and {} with all cores busy: both are above 0, and the "
                             "second is the larger one",
                             idle, peak)};
  }
  return curve::through(std::array{idle, peak}, cores);
}

}  // namespace binnacle::predict
