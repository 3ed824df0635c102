#include "aggregator/spread/asking_pod.hpp"

#include "aggregator/spread/rate.hpp"

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>

namespace binnacle::spread {
namespace {

namespace json = boost::json;

constexpr std::string_view taint = "node-role.kubernetes.io/control-plane";

const json::object* object_in(const json::object& in, std::string_view name) noexcept {
  const json::value* v = in.if_contains(name);
  return v == nullptr ? nullptr : v->if_object();
}

const json::array* list_in(const json::object& in, std::string_view name) noexcept {
  const json::value* v = in.if_contains(name);
  return v == nullptr ? nullptr : v->if_array();
}

std::string_view text_in(const json::object& in, std::string_view name) noexcept {
  const json::value* v = in.if_contains(name);
  const json::string* text = v == nullptr ? nullptr : v->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

/// As Kubernetes matches tolerations with the taint, which has no value.
bool tolerates(const json::object& spec) noexcept {
  const json::array* all = list_in(spec, "tolerations");
  if (all == nullptr) return false;
  for (const json::value& one : *all) {
    const json::object* t = one.if_object();
    if (t == nullptr) continue;
    const std::string_view key = text_in(*t, "key"), how = text_in(*t, "operator"),
                           effect = text_in(*t, "effect");
    const bool exists = how == "Exists";
    const bool of_key = key == taint || (key.empty() && exists);
    const bool of_value = exists || ((how.empty() || how == "Equal") && text_in(*t, "value").empty());
    if (of_key && of_value && (effect.empty() || effect == "NoSchedule")) return true;
  }
  return false;
}

}  // namespace

bool may_ask(std::string_view pod) noexcept {
  constexpr std::string_view common = "/podspread-rate";
  return pod.find(common) != std::string_view::npos;
}

std::string_view rate_in(const json::object& metadata) noexcept {
  const json::object* all = object_in(metadata, "annotations");
  if (all == nullptr) return {};
  for (const std::string_view name : annotations) {
    if (const std::string_view rate = text_in(*all, name); !rate.empty()) return rate;
  }
  return {};
}

const json::object* replica_set_in(const json::object& metadata) noexcept {
  const json::array* owners = list_in(metadata, "ownerReferences");
  if (owners == nullptr) return nullptr;
  for (const json::value& one : *owners) {
    const json::object* owner = one.if_object();
    if (owner == nullptr || text_in(*owner, "kind") != "ReplicaSet") continue;
    const json::value* controls = owner->if_contains("controller");
    if (controls != nullptr && controls->is_bool() && controls->get_bool()) return owner;
  }
  return nullptr;
}

asking_pod asking_pod_of(std::string_view pod) {
  asking_pod out;
  json::monotonic_resource memory;
  json::error_code failed;
  const json::value whole = json::parse(pod, failed, &memory);
  const json::object* object = failed ? nullptr : whole.if_object();
  if (object == nullptr) return out;
  if (const json::object* metadata = object_in(*object, "metadata")) {
    out.name_space = text_in(*metadata, "namespace");
    out.rate = rate_in(*metadata);
    if (const json::object* set = replica_set_in(*metadata)) {
      out.set = text_in(*set, "name");
      out.set_uid = text_in(*set, "uid");
    }
  }
  if (const json::object* spec = object_in(*object, "spec")) out.to_control_plane = tolerates(*spec);
  return out;
}

}  // namespace binnacle::spread
