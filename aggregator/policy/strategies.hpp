#pragma once

#include "aggregator/policy/policy.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What the rest of the program needs to know of a kind of strategy. Rooms ask for a property, never for a
/// kind: a further strategy is an enumerant, a file in strategies/ and a line in strategies.cpp.
namespace binnacle::policy {

/// What a strategy is for, and so where it is judged. A strategy yields one of these. A policy that refuses
/// nodes and ranks them has two strategies.
enum class yield : std::uint8_t {
  refusals,  ///< nodes that may not have a pod: the engine judges whenever a value comes, filter reads the
             ///< verdicts
  labels,    ///< labels of nodes: the engine judges whenever a value comes, the writer of labels follows its
             ///< wishes
  scores,    ///< an order of nodes: prioritize works it out when the scheduler asks, by the values of that
             ///< moment
};

/// What the scores of a strategy are worked out from.
enum class score_source : std::uint8_t {
  none,    ///< it yields no scores
  metric,  ///< the values of its first rule, in the order that the rule's operator says
  watts,   ///< the watts that the pod would cost, which the core learns
};

/// Which labels a strategy gives.
enum class label_form : std::uint8_t {
  none,
  policy_name,  ///< one, deschedule_key()
  of_rules,     ///< those of its true rules, below labeling_key()
};

struct strategy_description {
  strategy_kind kind;
  std::string_view name;  ///< its field of spec.strategies

  // What it needs.
  bool has_power_terms = false;  ///< its manifest has the fields of power_terms instead of rules
  bool compares;         ///< its rules are true or not, so target, `for` and the clearing thresholds count
  bool first_rule_only;  ///< the others do nothing, as in TAS
  std::optional<missing> on_missing;  ///< what a manifest without onMissing means; none: the field is refused

  // What it yields.
  yield yields;
  score_source scores_from = score_source::none;
  label_form labels;
  bool evicts = false;  ///< its label tells a descheduler to move pods away

  // How it is explained.
  std::string_view without_data;  ///< a clause: what becomes of a node whose data is missing
  std::string_view flaps;  ///< what goes on and off with a value near the target; empty: nothing harmful
  std::string (*rule_text)(const rule&);

  constexpr bool predicts_watts() const noexcept { return scores_from == score_source::watts; }
  constexpr bool judged_by_engine() const noexcept { return yields != yield::scores; }
  /// Missing data leaves what was: labels stay.
  constexpr bool freezes() const noexcept { return yields == yield::labels; }
};

/// All of them, by strategy_kind.
std::span<const strategy_description* const> strategies() noexcept;
const strategy_description& description_of(strategy_kind k) noexcept;
/// The names of the strategies that yield `what` (of all, without it) for messages: "deschedule and
/// labeling".
std::string names_of(std::optional<yield> what, std::string_view last = "and");
/// The names of the strategies whose manifest may have onMissing, for messages.
std::string names_with_on_missing();

}  // namespace binnacle::policy
