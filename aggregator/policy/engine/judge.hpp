#pragma once

#include "aggregator/policy/engine/rule_state.hpp"
#include "aggregator/policy/published/published.hpp"

#include <span>

namespace binnacle::policy {

/// What a strategy says about a node by its rules alone, without maxNodes and coolDown.
struct judgement {
  verdict found;       ///< never `held`
  bool blind = false;  ///< deschedule, labeling: too little is known since the start to touch a label
};

/// dontschedule: a rule without a value is not true. So anyOf is decided by the other rules, and allOf cannot
/// be met. With `rejects` (onMissing: Reject, but not right after our start) the verdict is `missing` if a
/// value could have made the difference.
judgement judge_ignoring_missing(logic op, std::span<const rule_state> rules, bool rejects) noexcept;

/// deschedule, labeling: a rule without a value keeps its last state, and nothing starts to violate because
/// of it. `was_violating`: the judgement before this one.
judgement judge_frozen(logic op, std::span<const rule_state> rules, bool was_violating) noexcept;

}  // namespace binnacle::policy
