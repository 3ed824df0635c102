#pragma once

#include "aggregator/policy/strategies.hpp"

namespace binnacle::policy {

/// Nodes are ranked by the watts that the pod would cost there (predict/placing.hpp). Its manifest has no
/// rules. power_rules() makes one of the node's load, so that the load's column is followed and shown like
/// that of any rule.
inline constexpr strategy_description minimizepower{
    .kind = strategy_kind::minimizepower,
    .name = "minimizepower",
    .has_power_terms = true,
    .compares = false,
    .first_rule_only = true,
    .on_missing = missing::reject,
    .yields = yield::scores,
    .scores_from = score_source::watts,
    .labels = label_form::none,
    .without_data = "a node without data scores below all others in minimizepower",
    .flaps = {},
    .rule_text = [](const rule& r) { return r.metric + ", for the watts that the pod would cost"; },
};

}  // namespace binnacle::policy
