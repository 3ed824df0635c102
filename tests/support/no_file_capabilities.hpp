#pragma once

#include "agent/process/capabilities.hpp"

#include <linux/capability.h>

namespace binnacle::support {

/// With one of these a process opens files that its user may not. Root in a container usually has the first
/// alone.
inline constexpr auto file_capabilities =
    agent::one_capability(CAP_DAC_OVERRIDE) | agent::one_capability(CAP_DAC_READ_SEARCH);

/// Whether this process may do what takes one of these capabilities.
inline bool has_one_of(agent::capability_set these) { return (agent::effective_capabilities() & these) != 0; }

/// While this object exists, its thread may open only files whose modes allow that to its user, even if the
/// user is root. So "permission denied" can be tested on any machine. (Root may still read its own files of
/// mode 0400: use mode 0.)
class no_file_capabilities {
 public:
  no_file_capabilities() : before_(agent::effective_capabilities()) {
    agent::set_effective(before_ & ~file_capabilities).value();
  }
  ~no_file_capabilities() { agent::set_effective(before_).value(); }
  no_file_capabilities(const no_file_capabilities&) = delete;
  no_file_capabilities& operator=(const no_file_capabilities&) = delete;

 private:
  agent::capability_set before_;
};

}  // namespace binnacle::support
