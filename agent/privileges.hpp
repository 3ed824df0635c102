#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/process/capabilities.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

/// What the agent keeps of the capabilities it was started with. PRIVILEGES.md has the table for people.
struct privileges {
  capability_set needed = 0;
  std::vector<std::string> reasons;  ///< a line for each capability needed: "CAP_PERFMON for pmu"
};

/// What these settings, and the sources among `kinds` that they want, need beyond what an ordinary process of
/// this user may do. It is found by trying: each file that is named is opened without CAP_DAC_OVERRIDE and
/// CAP_DAC_READ_SEARCH, which are back afterwards. Root therefore keeps nothing for /sys, whose files are
/// root's. Blocks: for a few open(2).
privileges needed_privileges(const settings& s, const source_kinds& kinds);

}  // namespace binnacle::agent
