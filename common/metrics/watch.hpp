#pragma once

#include <chrono>
#include <span>
#include <string_view>

/// What it means that a policy watches a family.
namespace binnacle::metrics {

/// How often agents are asked to read a family that is watched; they do so within their budget and the
/// source's limits. Families that are not ours: once a second.
std::chrono::milliseconds watched_period(std::string_view family) noexcept;

/// The families that a composite (host_*) takes its value from, the best first: whoever watches it watches
/// them. Empty for all others.
std::span<const std::string_view> made_of(std::string_view family) noexcept;

}  // namespace binnacle::metrics
