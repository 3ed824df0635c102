#include "aggregator/kube/objects/policy_objects.hpp"

#include "common/text/json_members.hpp"

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

void policy_objects::changed(const object_key& key, const json::object& given) {
  json::object metadata;
  metadata["name"] = key.name;
  metadata["namespace"] = key.name_space;
  if (const json::object* meta = object_in(given, "metadata")) {
    for (const char* name : {"creationTimestamp", "uid"}) {
      if (const auto value = text_in(*meta, name); !value.empty()) metadata[name] = value;
    }
  }
  json::object out;
  // Items of a list lack these two fields.
  out["apiVersion"] = "telemetry.intel.com/v1alpha1";
  out["kind"] = "TASPolicy";
  out["metadata"] = std::move(metadata);
  if (const json::value* spec = given.if_contains("spec")) out["spec"] = *spec;
  std::string text = json::serialize(out);

  object& known = objects_[key];
  if (const json::object* meta = object_in(given, "metadata")) {
    known.uid = text_in(*meta, "uid");
    known.generation = integer_in(*meta, "generation").value_or(0);
  }
  const json::object* status = object_in(given, "status");
  known.status = status == nullptr ? json::object() : *status;
  if (known.text == text) return;
  known.text = std::move(text);
  changed_[key] = true;
}

void policy_objects::gone(const object_key& key) {
  if (objects_.erase(key) > 0) changed_[key] = false;
}

std::vector<policy_objects::change> policy_objects::take() {
  std::vector<change> out;
  for (const auto& [key, there] : std::exchange(changed_, {})) {
    change c{name_of(key), std::nullopt, key};
    if (there) c.text = objects_.at(key).text;
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace binnacle::kube
