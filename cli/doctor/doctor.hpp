#pragma once

#include "cli/commands.hpp"
#include "cli/doctor/place.hpp"

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

/// Where the doctor runs, at this moment, by the words of its command line. It reads files of this machine,
/// and may ask the agent's program for its settings: for `timeout_s` at most.
place place_of(const connection& to, const doctor_arguments& what);

/// Makes the checks that are possible from here, and prints each finding with its remedy. exit_problem if one
/// is a failure; exit_usage for an unknown check.
int doctor_command(const connection& to, const doctor_arguments& what, const terminal& on);

}  // namespace binnacle::cli::doctor
