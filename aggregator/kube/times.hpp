#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// RFC 3339 with exactly six digits behind the point, UTC: Kubernetes' MicroTime, of leases and events.
std::string micro_time(std::chrono::system_clock::time_point t);

/// A time of RFC 3339: "2026-01-01T00:00:00Z", with a fraction (which is dropped) or an offset if need be;
/// nothing for anything else.
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

}  // namespace binnacle::kube
