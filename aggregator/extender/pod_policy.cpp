#include "aggregator/extender/pod_policy.hpp"

namespace binnacle::extender {

std::string_view namespace_of(const object_meta& pod) noexcept {
  return pod.name_space.empty() ? std::string_view("default") : std::string_view(pod.name_space);
}

pod_policy pod_policies::of(const policy::policy_table& policies, const object_meta& pod,
                            policy::yield wanted) {
  pod_policy out;
  if (!pod.has_policy) return out;
  out.how = decision::outcome::no_policy;
  const auto at = policies.find(policy::policy_key{std::string(namespace_of(pod)), pod.policy});
  if (at == policies.end()) return out;

  out.how = decision::outcome::no_strategy;
  out.policy = at->second;
  const auto* strategy = out.policy->find(wanted);
  if (strategy == nullptr || strategy->rules.empty()) return out;
  if (policy::description_of(strategy->kind).judged_by_engine() && !strategy->verdicts) return out;

  out.how = decision::outcome::decided;
  out.strategy = strategy;
  if (copied_.size() > 2 * policies.size()) copied_.clear();  // policies have gone
  copied& c = copied_[{at->first, strategy->kind}];
  if (c.from.lock() != out.policy) c = {out.policy, decision::facts_of(*out.policy, *strategy)};
  out.facts = c.facts;
  return out;
}

}  // namespace binnacle::extender
