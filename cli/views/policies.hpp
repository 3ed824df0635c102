#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>

namespace binnacle::cli {

/// The answer of /api/v1/policies as text for people: every policy with its rules, the nodes that they
/// concern, its conditions, and what is wrong with the files.
std::string render_policies(const json::value& policies, const paint& with);

/// Whether one of the problems is an error: then something in a file is not in force.
bool has_errors(const json::value& policies);

/// A condition in one line: "default/power, dontschedule: MetricMissing: no node has a value of…".
std::string condition_words(const json::value& condition);

}  // namespace binnacle::cli
