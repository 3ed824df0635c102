#pragma once

#include "aggregator/policy/strategies.hpp"

namespace binnacle::policy {

/// Its first rule ranks the nodes: the operator says which values are better (published/scores.hpp). It
/// compares nothing, so no node violates it; only Equals looks at the target.
inline constexpr strategy_description scheduleonmetric{
    .kind = strategy_kind::scheduleonmetric,
    .name = "scheduleonmetric",
    .compares = false,
    .first_rule_only = true,
    .on_missing = {},
    .yields = yield::scores,
    .scores_from = score_source::metric,
    .labels = label_form::none,
    .without_data = "a node without data scores 0 in scheduleonmetric",
    .flaps = {},
    .rule_text = [](const rule& r) { return r.order_text(); },
};

}  // namespace binnacle::policy
