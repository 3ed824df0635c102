#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>

namespace binnacle::cli {

/// What is known of a node's watts, from /api/v1/power/NODE: where the curve comes from, how well it is
/// known, and a line with a bar for each load. The load of now is marked.
std::string render_power(const json::value& answer, const paint& with);

/// Where a node's curve comes from, and how much of its loads it measured, in a cell of a table: from the
/// members model, coveredPercent and noisePercent. "none" without a model.
std::string model_words(const json::value& node);

}  // namespace binnacle::cli
