#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>

namespace binnacle::cli {

/// The answer of /api/v1/status as a page for a person.
std::string render_status(const json::value& status, const std::string& url, const paint& with);

}  // namespace binnacle::cli
