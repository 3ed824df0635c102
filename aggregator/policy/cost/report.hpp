#pragma once

#include "aggregator/policy/cost/limits.hpp"
#include "aggregator/policy/policy.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace binnacle::policy {

/// What the policies in force take, and what they may.
struct cost_report {
  struct line {
    policy_key policy;
    cost takes;
  };
  std::size_t nodes = 0;  ///< for which memory and evaluations are computed
  cost_limits limits;
  std::vector<line> policies;
  cost all;
};

/// Sentences for a person, from nine tenths of a limit on.
std::vector<std::string> cost_warnings(const cost_report& costs);

}  // namespace binnacle::policy
