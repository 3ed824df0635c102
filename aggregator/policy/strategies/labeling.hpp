#pragma once

#include "aggregator/policy/strategies.hpp"

namespace binnacle::policy {

/// Nodes get the labels of the rules that are true there. A label that comes and goes with a value is what
/// its author wants, so nothing is said of flapping.
inline constexpr strategy_description labeling{
    .kind = strategy_kind::labeling,
    .name = "labeling",
    .compares = true,
    .first_rule_only = false,
    .on_missing = {},
    .yields = yield::labels,
    .labels = label_form::of_rules,
    .without_data = "when data is missing, labeling leaves the labels as they are",
    .flaps = {},
    .rule_text = [](const rule& r) { return r.text(); },
};

}  // namespace binnacle::policy
