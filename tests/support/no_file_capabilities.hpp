#pragma once

#include "agent/process/capabilities.hpp"

#include <linux/capability.h>

namespace binnacle::support {

/// While this object exists, its thread may open only files whose modes allow that to its user, even if the
/// user is root. So "permission denied" can be tested on any machine. (Root may still read its own files of
/// mode 0400: use mode 0.)
class no_file_capabilities {
 public:
  no_file_capabilities() : before_(agent::effective_capabilities()) {
    agent::set_effective(
        before_ & ~(agent::one_capability(CAP_DAC_OVERRIDE) | agent::one_capability(CAP_DAC_READ_SEARCH)))
        .value();
  }
  ~no_file_capabilities() { agent::set_effective(before_).value(); }
  no_file_capabilities(const no_file_capabilities&) = delete;
  no_file_capabilities& operator=(const no_file_capabilities&) = delete;

 private:
  agent::capability_set before_;
};

}  // namespace binnacle::support
