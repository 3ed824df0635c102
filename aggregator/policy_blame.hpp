#pragma once

#include "aggregator/ingest/counters.hpp"
#include "aggregator/policy/published/published.hpp"
#include "common/wire/reason.hpp"

#include <string>
#include <vector>

namespace binnacle::aggregator {

/// A policy that asks for a metric which a fault names.
struct blamed {
  policy::policy_key policy;
  std::string metric;
};

/// The policies behind a fault that ends sessions again and again, as far as its sentence tells: those with a
/// rule about a metric that it names in quotes, as an agent does that refuses a wish. In the order of their
/// names; none, if the fault has another cause. Pure.
std::vector<blamed> policies_behind(const wire::fault& why, const policy::policy_table& all);

/// "policy default/hot asks for "cpu-x"": a clause; empty for none.
std::string blame_text(const std::vector<blamed>& those);

/// Why agents end their sessions over a metric of this policy: a sentence for its condition; empty: they do
/// not.
std::string refusal_of_agents(const std::vector<ingest::repeated_end>& ends, const policy::policy_table& all,
                              const policy::policy_key& whose);

}  // namespace binnacle::aggregator
