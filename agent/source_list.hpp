#pragma once

#include "agent/base/source_kind.hpp"

#include <memory>
#include <vector>

namespace binnacle::agent {

/// Every source that the agent knows, in the order in which they are read and listed.
source_kinds all_source_kinds();

/// The sources that are wanted and have something to read, in the order of the list.
std::vector<std::unique_ptr<source>> make_sources(const source_kinds& kinds, const settings& s,
                                                  const logger& log);

/// What --probe says of sources that are not made: those that are wanted, and, if `sources` is not set, those
/// that it would have to name.
std::vector<source_findings> findings_of_unmade(const source_kinds& kinds, const settings& s);

}  // namespace binnacle::agent
