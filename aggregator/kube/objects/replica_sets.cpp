#include "aggregator/kube/objects/replica_sets.hpp"

#include "aggregator/spread/asking_pod.hpp"
#include "common/text/json_members.hpp"
#include "common/text/read_number.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace binnacle::kube {

namespace json = boost::json;

namespace {

/// The annotation in which the Deployment controller writes its number of replicas on each of its
/// ReplicaSets.
/// Source: Kubernetes' pkg/controller/deployment/util, DesiredReplicasAnnotation.
constexpr std::string_view of_deployment = "deployment.kubernetes.io/desired-replicas";

std::uint32_t replicas_of(const json::object& meta, const json::object* spec) {
  const auto own = spec == nullptr ? std::nullopt : integer_in(*spec, "replicas");
  const auto bounded = std::clamp<std::int64_t>(own.value_or(1), 0, std::numeric_limits<std::int32_t>::max());
  const auto out = static_cast<std::uint32_t>(bounded);
  const json::object* notes = object_in(meta, "annotations");
  const std::string_view whole = notes == nullptr ? std::string_view() : text_in(*notes, of_deployment);
  return out == 0 ? 0u : read_number<std::uint32_t>(whole).value_or(out);
}

}  // namespace

reflector::settings replica_sets::collection() {
  reflector::settings out;
  out.path = "/apis/apps/v1/replicasets";
  out.what = "ReplicaSets";
  out.page = 200;
  return out;
}

const replica_sets::set* replica_sets::find(std::string_view name_space, std::string_view name) const {
  const auto at = sets_.find(object_key{std::string(name_space), std::string(name)});
  return at == sets_.end() ? nullptr : &at->second;
}

void replica_sets::changed(const object_key& key, const json::object& object) {
  const json::object* meta = object_in(object, "metadata");
  if (meta == nullptr) return gone(key);
  set now;
  now.replicas = replicas_of(*meta, object_in(object, "spec"));
  if (now.replicas == 0) return gone(key);
  now.uid = text_in(*meta, "uid");
  now.rate = spread::rate_in(*meta);
  auto at = sets_.find(key);
  if (at == sets_.end()) {
    if (sets_.size() >= most_sets) {
      ++left_out_;
      return;
    }
    at = sets_.emplace(key, set()).first;
  }
  if (!at->second.rate.empty()) --asking_;
  if (!now.rate.empty()) ++asking_;
  at->second = std::move(now);
}

void replica_sets::gone(const object_key& key) {
  const auto at = sets_.find(key);
  if (at == sets_.end()) return;
  if (!at->second.rate.empty()) --asking_;
  sets_.erase(at);
}

}  // namespace binnacle::kube
