#pragma once

#include "aggregator/policy/text/yaml.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// What `binnacle policy lint` says about a file, in the order of its lines: every problem of reading it, and
/// hints about policies that are valid but may not do what was meant. These are unknown metrics, watts
/// without a window, impossible targets, thresholds without hysteresis or in the wrong order, and rules that
/// are never or always true.
std::vector<problem> lint(const std::string& file, std::string_view text);

/// The hints for one policy.
void add_hints(const parsed_policy& p, const std::string& file, std::vector<problem>& out);

}  // namespace binnacle::policy
