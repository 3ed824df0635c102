#pragma once

#include "cli/commands.hpp"
#include "cli/dashboard/history/database.hpp"

#include <cstdint>

namespace binnacle::cli::dashboard {

struct dashboard_arguments {
  std::uint16_t port = 0;  ///< on loopback; 0: any free one
  bool open = false;       ///< open the link in the desktop's browser
  history::settings history;
};

/// Serves the dashboard on loopback, prints its link, and blocks until it is interrupted.
int dashboard_command(const connection& to, const dashboard_arguments& what, const terminal& on);

}  // namespace binnacle::cli::dashboard
