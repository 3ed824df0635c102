#pragma once

#include "aggregator/policy/published/view.hpp"
#include "common/error.hpp"
#include "common/http/sliced.hpp"
#include "common/text/quantity.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What a number of imagined, equal pods would cost, and where they would go.
namespace binnacle::ops {

/// For each node, by store::index(): the cores that pods just placed there request, as far as the values of
/// that rule do not show them yet. Nodes beyond the end of the vector have none.
using in_flight_reader = std::function<std::vector<double>(const policy::published_rule& load, instant now)>;

struct imagined_pods {
  std::shared_ptr<const policy::published_policy> policy;  ///< has minimizepower
  std::size_t pods = 1;
  quantity cpu;  ///< that each of them requests
  instant now{};
  std::string time;  ///< of `now`, RFC 3339
};

/// Finds the policy with minimizepower by its name, "NAMESPACE/NAME" or "NAME". An empty name means the only
/// such policy. Errors: not_found, invalid_input if several could be meant; each a sentence with the remedy.
result<std::shared_ptr<const policy::published_policy>> policy_by_watts(const policy::policy_table& policies,
                                                                        std::string_view name);

/// Places the pods as prioritize would score them, also if the policy is in DryRun. Models, loads and pods in
/// flight are those of prioritize, and nodes that the policy's dontschedule refuses take no pods. Only CPU
/// and watts count. The fields are described in README.md. `nodes` must outlive it.
std::unique_ptr<http::slices> what_if_json(const policy::view& nodes, imagined_pods q,
                                           const in_flight_reader& in_flight);

}  // namespace binnacle::ops
