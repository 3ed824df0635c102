#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <string>

namespace binnacle::agent {

/// A set of Linux capabilities: bit n is capability n of <linux/capability.h>. Source: capabilities(7).
using capability_set = std::uint64_t;
constexpr capability_set one_capability(int number) noexcept { return capability_set{1} << number; }

/// The names: "CAP_PERFMON, CAP_DAC_READ_SEARCH", or "none" for the empty set.
std::string names_of(capability_set set);

/// The first: what this thread may use now. The second: what it could raise that to. Empty if the kernel does
/// not say.
capability_set effective_capabilities() noexcept;
capability_set permitted_capabilities() noexcept;

/// Makes `set` this thread's effective capabilities. Threads started later have them, too. Errors: permission
/// if one of them is not permitted.
result<void> set_effective(capability_set set);

/// Gives up for good every capability outside `set`, also for programs started later. The effective and
/// permitted sets become `set` (as far as permitted). The ambient and inheritable sets lose the rest, and so
/// does the bounding set where that is allowed. no_new_privs is set, so no started program can gain a
/// capability. Call it before any thread is started. Errors: permission.
result<void> keep_only(capability_set set);

}  // namespace binnacle::agent
