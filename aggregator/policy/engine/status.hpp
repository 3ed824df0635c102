#pragma once

#include "aggregator/policy/policy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How policies stand now.
namespace binnacle::policy {

enum class condition_kind : std::uint8_t {
  conflict,        ///< the labels belong to a policy of this name in another namespace, or rules give one
                   ///< label with different operators
  not_allowed,     ///< the policy may not label nodes: its namespace, or its name
  held,            ///< maxNodes or coolDown keeps violating nodes waiting for their label
  frozen,          ///< data is missing at some nodes; their labels stay
  metric_missing,  ///< no node has a value of a rule's metric
  too_costly,      ///< the policy, or its newest version, is not in force: it would take too much
};
std::string_view to_string(condition_kind k) noexcept;  ///< "Conflict", "NotAllowed"…

/// A state that lasts for now. One per policy, kind and strategy; `message` is empty when not active.
struct condition {
  policy_key policy;
  condition_kind what = condition_kind::held;
  std::optional<strategy_kind> strategy;
  bool active = false;
  std::string message;
  bool reworded = false;  ///< it held before, with another message: no news for a log
};

/// How the nodes stand with one strategy.
struct strategy_status {
  policy_key policy;
  strategy_kind strategy = strategy_kind::dontschedule;
  mode how = mode::enforce;
  std::uint32_t pass = 0, violating = 0, missing = 0, held = 0, frozen = 0;  ///< nodes, by state
  std::uint32_t violated_by = 0;  ///< nodes: violating, held, and frozen ones that violated before
};

}  // namespace binnacle::policy
