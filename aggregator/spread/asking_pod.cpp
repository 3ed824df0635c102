#include "aggregator/spread/asking_pod.hpp"

#include "aggregator/spread/rate.hpp"
#include "common/text/json_members.hpp"
#include "common/text/json_reader.hpp"
#include "common/text/utf8.hpp"

#include <boost/json/monotonic_resource.hpp>

namespace binnacle::spread {
namespace {

namespace json = boost::json;

constexpr std::string_view taint = "node-role.kubernetes.io/control-plane";

/// As Kubernetes matches tolerations with the taint, which has no value.
bool tolerates(const json::object& spec) noexcept {
  for (const json::value& one : array_in(spec, "tolerations")) {
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

std::string rate_in(const json::object& metadata) {
  constexpr std::size_t longest = 32;
  const json::object* all = object_in(metadata, "annotations");
  if (all == nullptr) return {};
  for (const std::string_view name : annotations) {
    const std::string_view rate = text_in(*all, name);
    if (rate.size() > longest) return std::string(clip(rate, longest)) + "…";
    if (!rate.empty()) return std::string(rate);
  }
  return {};
}

const json::object* replica_set_in(const json::object& metadata) noexcept {
  for (const json::value& one : array_in(metadata, "ownerReferences")) {
    const json::object* owner = one.if_object();
    if (owner == nullptr || text_in(*owner, "kind") != "ReplicaSet") continue;
    if (is_true(*owner, "controller")) return owner;
  }
  return nullptr;
}

asking_pod asking_pod_of(std::string_view pod) {
  asking_pod out;
  json::monotonic_resource memory;
  const auto whole = read_json(pod, &memory);
  const json::object* object = whole.has_error() ? nullptr : whole->if_object();
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
