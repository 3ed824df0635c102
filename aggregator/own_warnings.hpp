#pragma once

#include "aggregator/own_metrics.hpp"
#include "aggregator/settings/config.hpp"
#include "common/clock.hpp"

#include <string>
#include <vector>

namespace binnacle::aggregator {

/// What is degraded, as sentences for a person with the remedy: of this replica, of what policies take, and
/// of its nodes.
std::vector<std::string> own_warnings(const own_numbers& n, const settings& s, instant now);

}  // namespace binnacle::aggregator
