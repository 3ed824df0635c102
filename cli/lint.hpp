#pragma once

#include "cli/commands.hpp"

#include <string>
#include <vector>

namespace binnacle::cli {

/// Checks policy files with the aggregator's own reader. Prints each problem as "file:line: severity: field:
/// sentence". 1 when there is an error, also for a file that cannot be read.
int lint_command(const std::vector<std::string>& files, const terminal& on);

}  // namespace binnacle::cli
