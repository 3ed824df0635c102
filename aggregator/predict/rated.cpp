#include "aggregator/predict/rated.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace binnacle::predict {

result<curve> rated_line(double idle, double peak, double cores) {
  // With the two mixed up, or equal, a node's load would look free of charge.
  if (!std::isfinite(peak) || !(idle > 0) || !(peak > idle)) {
    return error{errc::invalid_input,
                 fmt::format("rated watts of {} idle and {} with all cores busy: both are above 0, and the "
                             "second is the larger one",
                             idle, peak)};
  }
  return curve::through(std::array{idle, peak}, cores);
}

}  // namespace binnacle::predict
