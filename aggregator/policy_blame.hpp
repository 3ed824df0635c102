#pragma once

#include "aggregator/ingest/counters.hpp"
#include "aggregator/policy/published/published.hpp"
#include "common/wire/reason.hpp"

#include <string>
#include <vector>

namespace binnacle::aggregator {

/// A policy that uses a metric which a fault names.
struct blamed {
  policy::policy_key policy;
  std::string metric;
};

/// Finds the policies that cause a fault which ends sessions again and again. An agent that refuses a wish
/// names the metric in quotes in its sentence; the policies with a rule about that metric are returned, in
/// the order of their names. None if the fault has another cause. Pure.
std::vector<blamed> policies_behind(const wire::fault& why, const policy::policy_table& all);

/// "policy default/hot asks for "cpu-x"": a clause; empty for none.
std::string blame_text(const std::vector<blamed>& those);

/// A sentence for this policy's condition that says why agents end their sessions because of one of its
/// metrics; empty if they do not.
std::string refusal_of_agents(const std::vector<ingest::repeated_end>& ends, const policy::policy_table& all,
                              const policy::policy_key& whose);

}  // namespace binnacle::aggregator
