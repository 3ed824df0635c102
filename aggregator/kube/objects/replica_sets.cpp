#include "aggregator/kube/objects/replica_sets.hpp"

#include "aggregator/spread/asking_pod.hpp"
#include "common/text/json_members.hpp"

#include <algorithm>
#include <charconv>
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
  auto out = static_cast<std::uint32_t>(bounded);
  const json::object* notes = object_in(meta, "annotations");
  const std::string_view whole = notes == nullptr ? std::string_view() : text_in(*notes, of_deployment);
  std::uint32_t wanted = 0;
  const auto [end, failed] = std::from_chars(whole.data(), whole.data() + whole.size(), wanted);
  if (out != 0 && !whole.empty() && failed == std::errc() && end == whole.data() + whole.size()) out = wanted;
  return out;
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
