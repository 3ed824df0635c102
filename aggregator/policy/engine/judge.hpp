#pragma once

#include "aggregator/policy/engine/rule_state.hpp"
#include "aggregator/policy/published/published.hpp"

#include <span>

namespace binnacle::policy {

/// What a strategy says about a node before maxNodes and coolDown have their word.
struct judgement {
  verdict found;       ///< never `held`
  bool blind = false;  ///< deschedule, labeling: too little is known since the start to touch a label that
                       ///< may be there
};

/// dontschedule: a rule without a value is not true. So anyOf goes by the others and allOf cannot be met; if
/// `rejects` (onMissing, after its grace) and a value could have made the difference, the verdict is
/// `missing`.
judgement judge_ignoring_missing(logic op, std::span<const rule_state> rules, bool rejects) noexcept;

/// deschedule, labeling: a rule without a value stays what it was last; nothing starts to violate on account
/// of it. `was_violating`: the judgement before this one.
judgement judge_frozen(logic op, std::span<const rule_state> rules, bool was_violating) noexcept;

}  // namespace binnacle::policy
