#include "aggregator/kube/policy_objects.hpp"

#include <boost/json/serialize.hpp>

#include <utility>

namespace binnacle::kube {

namespace json = boost::json;

reflector::settings policy_objects::collection() {
  reflector::settings out;
  out.path = "/apis/telemetry.intel.com/v1alpha1/taspolicies";
  out.what = "TASPolicy objects";
  out.if_unknown = "kubectl apply -f charts/binnacle/crds/taspolicy.yaml";
  return out;
}

void policy_objects::changed(const object_key& key, const json::object& object) {
  json::object metadata;
  metadata["name"] = key.name;
  metadata["namespace"] = key.name_space;
  json::object out;
  // Items of a list do not carry these two.
  out["apiVersion"] = "telemetry.intel.com/v1alpha1";
  out["kind"] = "TASPolicy";
  out["metadata"] = std::move(metadata);
  if (const json::value* spec = object.if_contains("spec")) out["spec"] = *spec;
  std::string text = json::serialize(out);
  const auto [at, fresh] = texts_.try_emplace(key);
  if (!fresh && at->second == text) return;
  at->second = std::move(text);
  changed_[key] = true;
}

void policy_objects::gone(const object_key& key) {
  if (texts_.erase(key) > 0) changed_[key] = false;
}

std::vector<policy_objects::change> policy_objects::take() {
  std::vector<change> out;
  for (const auto& [key, there] : std::exchange(changed_, {})) {
    change c{"TASPolicy " + key.text(), std::nullopt};
    if (there) c.text = texts_.at(key);
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace binnacle::kube
