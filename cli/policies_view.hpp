#pragma once

#include "cli/json.hpp"
#include "cli/paint.hpp"

#include <string>

namespace binnacle::cli {

/// The answer of /api/v1/policies: every policy with its rules and whom they concern, what holds, and what is
/// wrong with the files.
std::string render_policies(const json::value& policies, const paint& with);

}  // namespace binnacle::cli
