#pragma once

#include <chrono>
#include <span>
#include <string_view>

/// What happens to a family while a policy watches it.
namespace binnacle::metrics {

/// How often agents are asked to read a watched family. An agent obeys within its budget and the limits of
/// the source. Foreign families: once a second.
std::chrono::milliseconds watched_period(std::string_view family) noexcept;

/// The families from which a composite (host_*) takes its value, the best first. To watch a composite is to
/// watch these. Empty for all other families.
std::span<const std::string_view> made_of(std::string_view family) noexcept;

}  // namespace binnacle::metrics
