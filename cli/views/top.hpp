#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>
#include <vector>

namespace binnacle::cli {

/// The answer of /api/v1/nodes as the text of a table: most watts first, each value with its age, one column
/// per policy, and why. `wanted` has metrics besides power, temperature and CPU. Lines end in '\n'.
std::string render_top(const json::value& nodes, const std::string& url,
                       const std::vector<std::string>& wanted, const paint& with);

/// The metrics in `wanted` for which no node of the answer has a value.
std::vector<std::string> metrics_without_value(const json::value& nodes, std::vector<std::string> wanted);
/// "no node has a value of os_load: did you mean os_load_1m?"
std::string without_value_words(const std::string& metric);

}  // namespace binnacle::cli
