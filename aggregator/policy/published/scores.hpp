#pragma once

#include "aggregator/policy/policy.hpp"
#include "aggregator/store/types.hpp"
#include "common/metrics/plausible.hpp"

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
  quantity target{};                        ///< Equals only
  metrics::plausible_range plausible = {};  ///< what values can be at all
};

/// Whether a node may be worse than a value of this certainty says, for example with LessThan on a maximum
/// whose hottest member is missing. Such a node counts as a candidate without a value.
bool could_be_worse(comparison op, store::certainty sure) noexcept;

/// Candidates whose values are not taken as they are, ascending; nearly always none.
struct out_of_line {
  /// The value is impossible, so it counts as no value. Brought to the nearest possible value, a lie below
  /// zero watts would still make its node the best.
  std::vector<std::uint32_t> implausible;
  /// The value lies far from those of the others and counts as the end of their range.
  std::vector<std::uint32_t> beyond;
  /// The part of `beyond` that no difference between honest machines explains. The rest may just be the one
  /// busy node among idle ones.
  std::vector<std::uint32_t> suspicious;
};

/// Scores by value: 10 − 10 × (best − v)/(best − worst), rounded half up, the spread taken as at
/// least 5 % of the largest magnitude, so that noise ties. The best always gets 10, also when all are equal;
/// the worst gets 0 when the spread is real. A candidate without a value gets 0. `scores` has the size of
/// `values`.
/// One node's false value cannot make the scores of all others equal: a value beyond the range of the others,
/// widened on either side, counts as the end of that range (predict::believable). This changes the order
/// among lies alone. With twenty or more candidates the differences between the others shrink to a third at
/// most; honest values have a narrower range, and their scores do not change. With fewer, scores do not
/// change if no value is more than five times another.
out_of_line score_by_value(std::span<const std::optional<decimal>> values, const preference& better,
                           std::span<std::uint8_t> scores);

/// TAS's order (`--score=rank`): the i-th best gets 10 − i, from the eleventh on 0; equal values rank by
/// name. A candidate without a value, or with an implausible one, gets 0. A lie takes one place in that
/// order, so it moves each other node by a place at most. The three spans have one size. Gives `implausible`
/// alone.
out_of_line score_by_rank(std::span<const std::optional<decimal>> values,
                          std::span<const std::string_view> names, const preference& better,
                          std::span<std::uint8_t> scores);

}  // namespace binnacle::policy
