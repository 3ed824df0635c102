#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <string>

namespace binnacle::agent {

/// A set of Linux capabilities: bit n is capability n of <linux/capability.h>. Source: capabilities(7).
using capability_set = std::uint64_t;
constexpr capability_set one_capability(int number) noexcept { return capability_set{1} << number; }

/// "CAP_PERFMON, CAP_DAC_READ_SEARCH"; "none" of the empty set.
std::string names_of(capability_set set);

/// What this thread may use now, and what it could raise to that. Empty if the kernel does not say.
capability_set effective_capabilities() noexcept;
capability_set permitted_capabilities() noexcept;

/// Makes `set` this thread's effective capabilities; threads started later have them, too. Errors: permission
/// when one of them is not permitted.
result<void> set_effective(capability_set set);

/// Gives up for good every capability outside `set`, also for programs started later: effective and permitted
/// become `set` (as far as permitted), ambient, inheritable and, where that is allowed, the bounding set lose
/// the rest; and no_new_privs is set, so no program that is started can gain any. Call it before any thread
/// is started. Errors: permission.
result<void> keep_only(capability_set set);

}  // namespace binnacle::agent
