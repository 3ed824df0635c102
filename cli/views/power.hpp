#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>

namespace binnacle::cli {

/// What is known of a node's watts, from /api/v1/power/NODE: where the curve comes from, how well it is
/// known, and a line with a bar for each load. The load of now is marked.
std::string render_power(const json::value& answer, const paint& with);

}  // namespace binnacle::cli
