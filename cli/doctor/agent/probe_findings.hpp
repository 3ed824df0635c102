#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

namespace binnacle::cli::doctor {

/// Judges the output of `binnacle-agent --probe --output json`: a line for each source that works, and one
/// for each finding that does not. Missing hardware is no fault; something broken is. `user` is the user id
/// that ran the probe: if it is not 0, the agent may be able to read what this user cannot. Pure.
findings findings_of_probe(const json::value& said, unsigned user);

}  // namespace binnacle::cli::doctor
