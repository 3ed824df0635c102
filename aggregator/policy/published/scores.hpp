#pragma once

#include "aggregator/policy/policy.hpp"
#include "aggregator/store/types.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// scheduleonmetric: values of the candidates in, scores 0..10 out. Pure; a few microseconds for a thousand
/// candidates.
namespace binnacle::policy {

constexpr std::uint8_t top_score = 10;

/// What is better, by the operator's direction: the larger value, the smaller one, or with Equals the one
/// nearer to the target (TAS: random).
struct preference {
  comparison op = comparison::less_than;
  quantity target{};  ///< Equals only
};

/// Whether the node may be worse than a number of this certainty says (LessThan on a maximum without its
/// hottest member): then it must not be preferred for it, and counts as a candidate without a value.
bool could_be_worse(comparison op, store::certainty sure) noexcept;

/// Scores by value: 10 − 10 × (best − v)/(best − worst), rounded half up, the spread taken as at
/// least 5 % of the largest magnitude, so that noise ties. The best always gets 10, also when all are equal;
/// the worst gets 0 when the spread is real. A candidate without a value gets 0. `scores` has the size of
/// `values`.
void score_by_value(std::span<const std::optional<decimal>> values, const preference& better,
                    std::span<std::uint8_t> scores);

/// TAS's order (`--score=rank`): the i-th best gets 10 − i, from the eleventh on 0; equal values rank by
/// name. A candidate without a value gets 0. The three spans have one size.
void score_by_rank(std::span<const std::optional<decimal>> values, std::span<const std::string_view> names,
                   const preference& better, std::span<std::uint8_t> scores);

}  // namespace binnacle::policy
