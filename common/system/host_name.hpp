#pragma once

#include <string>

namespace binnacle {

/// The host name as the kernel has it (gethostname(2)), in whatever case; empty when it cannot be had.
std::string host_name();

}  // namespace binnacle
