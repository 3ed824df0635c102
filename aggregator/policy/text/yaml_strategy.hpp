#pragma once

#include "aggregator/policy/policy.hpp"
#include "aggregator/policy/text/yaml_map.hpp"

#include <optional>

namespace binnacle::policy {

/// One strategy of the policy `key`; nothing, and the reasons in `out`, if anything in it is wrong.
std::optional<strategy> parse_strategy(strategy_kind kind, const policy_key& key, const yaml_value& v,
                                       findings& out);

/// One rule of such a strategy.
std::optional<rule> parse_rule(strategy_kind kind, const policy_key& key, const yaml_value& v, findings& out);

}  // namespace binnacle::policy
