#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// RFC 3339 in UTC with exactly six digits after the decimal point: Kubernetes' MicroTime, as in leases and
/// events.
std::string micro_time(std::chrono::system_clock::time_point t);

/// Reads a time of RFC 3339, such as "2026-01-01T00:00:00Z". It may have an offset, and a fraction, which is
/// dropped. Nothing for any other text.
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

}  // namespace binnacle::kube
