#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

namespace binnacle::cli::doctor {

/// What `binnacle-agent --probe --output json` means: a line for each source that works, one for each finding
/// that does not. Hardware that is not there is no fault, something broken is. `user` other than 0 asked:
/// what it may not read is perhaps open to the agent. Pure.
findings findings_of_probe(const json::value& said, unsigned user);

}  // namespace binnacle::cli::doctor
