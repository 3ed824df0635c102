#pragma once

#include "cli/commands.hpp"

#include <string>
#include <vector>

namespace binnacle::cli::doctor {

struct doctor_arguments {
  std::vector<std::string> only;  ///< names of checks; empty: all
  std::string agent_config, scheduler_config;
  std::vector<std::string> extenders;
  std::string account = "binnacle/binnacle-aggregator";  ///< the aggregator's: namespace/name
  int timeout_s = 5;                                     ///< for each peer
};

/// Makes the checks that are possible from here, and prints each finding with its remedy. exit_problem if one
/// is a failure; exit_usage for an unknown check.
int doctor_command(const connection& to, const doctor_arguments& what, const terminal& on);

}  // namespace binnacle::cli::doctor
