#pragma once

#include "aggregator/policy/policy.hpp"
#include "aggregator/policy/text/problem.hpp"
#include "aggregator/policy/too_costly.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace binnacle::policy {

class policy_set;

/// The policies in users' texts, without the parts that are wrong.
struct policies_read {
  std::vector<policy> in_force;
  std::map<policy_key, std::string> sources;  ///< policy_set::sources()
  std::set<std::string, std::less<>> wrong;   ///< policy_set::wrong_ones()
  std::vector<problem> problems;
  std::vector<too_costly> refused;  ///< policy_set::refused()

  static policies_read of(const policy_set& texts);
};

}  // namespace binnacle::policy
