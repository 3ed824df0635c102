#pragma once

#include <string>

namespace binnacle {

/// The host name from the kernel (gethostname(2)), its case unchanged; empty if the call fails.
std::string host_name();

}  // namespace binnacle
