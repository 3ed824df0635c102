#pragma once

#include "aggregator/policy/policy.hpp"
#include "aggregator/store/types.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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

/// Whether a node may be worse than a value of this certainty says, for example with LessThan on a maximum
/// whose hottest member is missing. Such a node counts as a candidate without a value.
bool could_be_worse(comparison op, store::certainty sure) noexcept;

/// Scores by value: 10 − 10 × (best − v)/(best − worst), rounded half up, the spread taken as at
/// least 5 % of the largest magnitude, so that noise ties. The best always gets 10, also when all are equal;
/// the worst gets 0 when the spread is real. A candidate without a value gets 0. `scores` has the size of
/// `values`.
/// From `least_for_a_range` values on, one node's lie cannot take the differences out of all others' scores:
/// the range is that from the 5th to the 95th percentile, and as much again on either side; a value beyond it
/// counts as its end. So the others' differences shrink to a third at most, and honest scores, whose range is
/// narrower, are what they are without this. The percentiles are those of up to 512 candidates, evenly taken.
/// Gives the candidates whose values lay beyond, ascending; nearly always none.
std::vector<std::uint32_t> score_by_value(std::span<const std::optional<decimal>> values,
                                          const preference& better, std::span<std::uint8_t> scores);
/// Of fewer candidates nobody can say which is out of line.
inline constexpr std::size_t least_for_a_range = 20;

/// TAS's order (`--score=rank`): the i-th best gets 10 − i, from the eleventh on 0; equal values rank by
/// name. A candidate without a value gets 0. The three spans have one size.
void score_by_rank(std::span<const std::optional<decimal>> values, std::span<const std::string_view> names,
                   const preference& better, std::span<std::uint8_t> scores);

}  // namespace binnacle::policy
