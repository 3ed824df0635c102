#pragma once

#include <string_view>

namespace binnacle::ops {

/// The unit of a metric, to be shown: from the family, else from the name if it ends as Prometheus' names
/// do ("inlet_celsius", "rapl_power_watts_0"), else "".
std::string_view unit_of(std::string_view metric);

}  // namespace binnacle::ops
