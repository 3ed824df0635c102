#pragma once

#include "cli/commands.hpp"

#include <string>
#include <vector>

namespace binnacle::cli {

/// Checks policy files with the aggregator's own reader. Prints each problem as "file:line: severity: field:
/// sentence". Returns 1 if there is an error; a file that cannot be read is one.
int lint_command(const std::vector<std::string>& files, const terminal& on);

}  // namespace binnacle::cli
