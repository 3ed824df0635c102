#pragma once

#include "aggregator/policy/strategies.hpp"

namespace binnacle::policy {

/// Nodes are ranked by the watts that the pod would cost there (predict/objective.hpp). Its manifest has
/// no rules: what it reads of a node, its load, stands as one in power_rules(), so that the column is
/// followed and shown like every other one.
inline constexpr strategy_description minimizepower{
    .kind = strategy_kind::minimizepower,
    .name = "minimizepower",
    .has_power_terms = true,
    .compares = false,
    .first_rule_only = true,
    .on_missing = missing::reject,
    .yields = yield::scores,
    .predicts_watts = true,
    .labels = label_form::none,
    .without_data = "a node without data scores below all others in minimizepower",
    .flaps = {},
    .rule_text = [](const rule& r) { return r.metric + ", for the watts that the pod would cost"; },
};

}  // namespace binnacle::policy
