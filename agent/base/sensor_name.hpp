#pragma once

#include "common/wire/messages.hpp"

#include <span>
#include <string>

namespace binnacle::agent {

/// Whether one of the globs (matches_glob()) fits a name of the sensor that this series shows. A hwmon sensor
/// has two: its label ("SYSTIN"), and its chip and label ("nct6798-isa-0290/SYSTIN"). A thermal zone has its
/// type.
bool is_named(const wire::series_info& s, std::span<const std::string> globs);

}  // namespace binnacle::agent
