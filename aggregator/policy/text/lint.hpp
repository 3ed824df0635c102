#pragma once

#include "aggregator/policy/text/yaml.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// What `binnacle policy lint` says about a file: every problem of reading it, and hints about policies that
/// are right and may not do what was meant: unknown metrics, watts without a window, targets out of any
/// range, thresholds without hysteresis or in the wrong order, rules that can never or always hold. By line.
std::vector<problem> lint(const std::string& file, std::string_view text);

/// The hints for one policy.
void add_hints(const parsed_policy& p, const std::string& file, std::vector<problem>& out);

}  // namespace binnacle::policy
