#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>

namespace binnacle::cli {

/// The answer of /api/v1/power/NODE as text for people: where the node's curve of watts comes from, how well
/// it is known, and a line with a bar for each load. The line of the present load is marked.
std::string render_power(const json::value& answer, const paint& with);

/// The text of a table's cell: where a node's curve comes from, and how much of its range of loads was
/// measured. Reads the members model, coveredPercent and noisePercent. "none" if the node has no model.
std::string model_words(const json::value& node);

}  // namespace binnacle::cli
