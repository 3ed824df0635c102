#pragma once

#include "agent/source_kind.hpp"

namespace binnacle::agent {

/// Every source that the agent knows, in the order in which they are read and named.
source_kinds all_source_kinds();

}  // namespace binnacle::agent
