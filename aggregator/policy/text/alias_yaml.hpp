#pragma once

#include "aggregator/policy/text/problem.hpp"
#include "common/metrics/alias_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// Reads the valid ones of a user's aliases into `out`. `text` is a YAML list of
///   {name, family, selector: {label: value}, rule: sole|sum|max|min|mean, scale, offset, window}
/// where name and family must be given, and value = scale × family + offset, as a mean over window. "<N>" and
/// "<M>" in name stand for digits, which the selector's value then contains. `file` is for the problems'
/// texts. Never throws.
std::vector<problem> parse_aliases(const std::string& file, std::string_view text, metrics::alias_table& out);

}  // namespace binnacle::policy
