#include "aggregator/predict/rated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace binnacle::predict {
namespace {

// Kilowatts or milliwatts typed for watts would be believed: the node would look nearly free of charge, or
// take no pod at all. So the bounds are those of machines.
constexpr double most_peak = 100'000;  // a whole rack, as for meters (common/metrics/plausible.cpp)
// A busy CPU draws 1.4 W in servers with the most of them, and 0.6 W on small Arm boards. A host of 10 kW
// with 48 CPUs beside its accelerators has 0.2 kW a CPU.
constexpr double least_peak_of_cpu = 0.25;
constexpr double least_peak = 1;  // boards with one small core
// Idle servers draw a tenth of their peak and more. Kilowatts beside watts are below a thousandth.
constexpr double least_idle_share = 0.01;

/// What is wrong with the two, as a clause; empty: nothing.
std::string fault_of(double idle, double peak, double cores) {
  if (!std::isfinite(idle) || !std::isfinite(peak)) return "write numbers";
  if (!(idle > 0) || !(peak > 0)) return "both are above 0";
  if (peak > most_peak) return fmt::format("no node draws more than {} W: are they milliwatts?", most_peak);
  if (const double least = std::max(least_peak, cores * least_peak_of_cpu); peak < least)
    return fmt::format("no node of {} cores draws less than {} W when busy: are they kilowatts?", cores,
                       least);
  // With the two mixed up, or equal, a node's load would look free of charge.
  if (!(peak > idle)) return "the second is the larger one: are they mixed up?";
  if (idle < least_idle_share * peak)
    return "no idle node draws less than a hundredth of its peak: is the first one in kilowatts?";
  return {};
}

}  // namespace

result<curve> rated_line(double idle, double peak, double cores) {
  if (const std::string fault = fault_of(idle, peak, cores); !fault.empty()) {
    return error{errc::invalid_input,
                 fmt::format("rated watts of {} idle and {} with all cores busy: {}", idle, peak, fault)};
  }
  return curve::through(std::array{idle, peak}, cores);
}

}  // namespace binnacle::predict
