#pragma once

#include "aggregator/policy/strategies.hpp"

namespace binnacle::policy {

/// Nodes that violate it get no pods of the policy. What is missing counts as not violating, unless onMissing
/// says Reject.
inline constexpr strategy_description dontschedule{
    .kind = strategy_kind::dontschedule,
    .name = "dontschedule",
    .compares = true,
    .first_rule_only = false,
    .on_missing = missing::allow,
    .yields = yield::refusals,
    .labels = label_form::none,
    .without_data = "onMissing says what becomes of a node without data",
    .flaps = "verdict",
    .rule_text = [](const rule& r) { return r.text(); },
};

}  // namespace binnacle::policy
