#pragma once

#include <chrono>
#include <string>

namespace binnacle::kube {

/// RFC 3339 with exactly six digits behind the point, UTC: Kubernetes' MicroTime, of leases and events.
std::string micro_time(std::chrono::system_clock::time_point t);

}  // namespace binnacle::kube
