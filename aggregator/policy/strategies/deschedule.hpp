#pragma once

#include "aggregator/policy/strategies.hpp"

namespace binnacle::policy {

/// Nodes that violate it get a label with the policy's name, by which a descheduler finds the pods to evict.
inline constexpr strategy_description deschedule{
    .kind = strategy_kind::deschedule,
    .name = "deschedule",
    .compares = true,
    .first_rule_only = false,
    .on_missing = {},
    .yields = yield::labels,
    .labels = label_form::policy_name,
    .evicts = true,
    .without_data = "when data is missing, deschedule leaves the label as it is",
    .flaps = "label",
    .rule_text = [](const rule& r) { return r.text(); },
};

}  // namespace binnacle::policy
