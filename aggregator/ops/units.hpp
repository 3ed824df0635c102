#pragma once

#include <string_view>

namespace binnacle::ops {

/// The unit of a metric name, for showing: the catalogue's, else what the name says in Prometheus form
/// ("inlet_celsius", "rapl_power_watts_0"), else "".
std::string_view unit_of(std::string_view metric);

}  // namespace binnacle::ops
