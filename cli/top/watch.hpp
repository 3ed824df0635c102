#pragma once

#include "cli/commands.hpp"

namespace binnacle::cli::top {

/// Runs `binnacle top` at a terminal. Blocks until the person ends it, or SIGTERM, SIGINT, SIGHUP or SIGQUIT
/// comes. Returns the exit status. Errors are printed on `on.err`.
int watch(const connection& to, const top_arguments& what, const terminal& on);

}  // namespace binnacle::cli::top
