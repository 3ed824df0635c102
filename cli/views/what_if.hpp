#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>

namespace binnacle::cli {

/// The answer of /api/v1/what-if: what the pods would cost, a line for each node that takes some, and which
/// nodes take none or no more, each with what would help.
std::string render_what_if(const json::value& answer, const paint& with);

}  // namespace binnacle::cli
