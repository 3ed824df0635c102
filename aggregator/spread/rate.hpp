#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

/// The first pods of a workload go to different regions, zones or nodes: README.md.
namespace binnacle::spread {

/// The annotation's names: WAO's present one, and the one that WAO used until its release 1.30.2.
inline constexpr std::array<std::string_view, 2> annotations{"waok8s.github.io/podspread-rate",
                                                             "wao.bitmedia.co.jp/podspread-rate"};

/// The share of a workload's pods that are spread, from the annotation's text: 0 to 1. Nothing for any other
/// text.
std::optional<double> parse_rate(std::string_view text) noexcept;

/// How many of `replicas` pods are spread: whole ones, rounded down.
std::uint32_t quota_of(double rate, std::uint32_t replicas) noexcept;

}  // namespace binnacle::spread
