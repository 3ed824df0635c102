#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/process/capabilities.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

/// What the agent keeps of the capabilities with which it was started. PRIVILEGES.md has the table for
/// people.
struct privileges {
  capability_set needed = 0;
  std::vector<std::string> reasons;  ///< a line for each capability needed: "CAP_PERFMON for pmu"
};

/// The capabilities that these settings and their sources need, beyond what an ordinary process of this user
/// may do. They are found by trying: each named file is opened without CAP_DAC_OVERRIDE and
/// CAP_DAC_READ_SEARCH, which are given back afterwards. Root therefore keeps no capability for /sys, because
/// its files belong to root. Blocks: for a few open(2).
privileges needed_privileges(const settings& s, const source_kinds& kinds);

}  // namespace binnacle::agent
