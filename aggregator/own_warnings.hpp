#pragma once

#include "aggregator/own_metrics.hpp"
#include "aggregator/settings/config.hpp"
#include "common/clock.hpp"

#include <string>
#include <vector>

namespace binnacle::aggregator {

/// Sentences for people about everything that is degraded, each with the remedy: in this replica, in the
/// resources that policies take, and at its nodes.
std::vector<std::string> own_warnings(const own_numbers& n, const settings& s, instant now);

}  // namespace binnacle::aggregator
