#pragma once

#include "cli/commands.hpp"

namespace binnacle::cli::top {

/// `binnacle top` at a terminal: blocks until the person ends it or SIGTERM, SIGINT, SIGHUP or SIGQUIT comes.
/// The exit status. Errors are said on `on.err`.
int watch(const connection& to, const top_arguments& what, const terminal& on);

}  // namespace binnacle::cli::top
