#pragma once

#include "aggregator/decision/record.hpp"
#include "aggregator/extender/object_handler.hpp"
#include "aggregator/policy/published/published.hpp"

#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace binnacle::extender {

/// The policy that answers for a pod. It is held for the whole request, so a policy that is replaced
/// meanwhile has no effect on it.
struct pod_policy {
  decision::outcome how = decision::outcome::no_label;
  std::shared_ptr<const policy::published_policy> policy;
  const policy::published_strategy* strategy =
      nullptr;  ///< points into `policy`; has at least one rule; null unless how is decided
  std::shared_ptr<const decision::policy_facts> facts;  ///< null unless how is decided

  bool dry_run() const noexcept { return policy && policy->how == policy::mode::dry_run; }
};

/// The namespace of a pod; an absent one is "default", as kubectl takes it.
std::string_view namespace_of(const object_meta& pod) noexcept;

/// Finds policies for pods: namespace of the pod, name in its label telemetry-policy.
class pod_policies {
 public:
  /// The pod's policy, and its first strategy that yields `wanted`.
  pod_policy of(const policy::policy_table& policies, const object_meta& pod, policy::yield wanted);

 private:
  /// Facts are copied once for each revision of a policy, and not for each request.
  struct copied {
    std::weak_ptr<const policy::published_policy> from;
    std::shared_ptr<const decision::policy_facts> facts;
  };
  std::map<std::pair<policy::policy_key, policy::strategy_kind>, copied> copied_;
};

}  // namespace binnacle::extender
