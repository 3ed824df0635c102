#include "aggregator/cluster_readers.hpp"

#include "aggregator/kube/reviews/service_account.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::aggregator {
namespace {

custom_metrics::pod pod_of(const std::pair<const kube::object_key, kube::pod_objects::pod>& known) {
  const auto& [key, pod] = known;
  questions::selector::look_up labels;
  if (!pod.without_labels) labels = kube::packed_labels::finder(pod.labels);
  return {key.name_space, key.name, pod.uid, pod.node, std::move(labels), pod.static_uid, pod.labels.bytes()};
}

}  // namespace

custom_metrics::pod_source pods_of(const cluster& known) {
  custom_metrics::pod_source out;
  out.one = [&known](std::string_view name_space,
                     std::string_view name) -> std::optional<custom_metrics::pod> {
    const auto& all = known.pods().objects();
    const auto at = all.find({std::string(name_space), std::string(name)});
    return at == all.end() ? std::nullopt : std::optional(pod_of(*at));
  };
  out.of = [&known](std::string_view name_space, std::string_view after,
                    const std::function<bool(const custom_metrics::pod&)>& each) {
    const auto& all = known.pods().objects();
    for (auto at = all.upper_bound({std::string(name_space), std::string(after)});
         at != all.end() && at->first.name_space == name_space && each(pod_of(*at)); ++at) {
    }
  };
  out.unknown_because = [&known] {
    return known.state().pods_read ? std::string() : "pods are not read from the API server yet: try again";
  };
  return out;
}

custom_metrics::node_source objects_of(const cluster& known) {
  custom_metrics::node_source out;
  out.labels = [&known](std::string_view node) -> std::optional<questions::selector::look_up> {
    const kube::packed_labels* labels = known.labels_of(node);
    if (labels == nullptr) return std::nullopt;
    return kube::packed_labels::finder(*labels);
  };
  out.unknown_because = [&known] {
    return known.nodes_read() ? std::string() : "nodes are not read from the API server yet: try again";
  };
  return out;
}

ops::label_reader object_labels_of(const cluster& known) {
  return [&known](std::string_view node, const ops::each_label& each) {
    if (const kube::packed_labels* labels = known.labels_of(node)) labels->each(each);
  };
}

ingest::token_holder holder_of(const callers::agent_tokens::answer& said, const network& from,
                               const kube::pod_objects& pods, bool pods_read) {
  const kube::user& who = said.review.who;
  ingest::token_holder out;
  out.genuine = said.review.authenticated;
  out.account = who.name;
  out.node = who.only_extra("authentication.kubernetes.io/node-name");
  out.why = said.review.why;
  out.ends = said.ends;
  out.pod = who.only_extra("authentication.kubernetes.io/pod-uid");
  const kube::object_key key{std::string(kube::namespace_of_service_account(who.name)),
                             std::string(who.only_extra("authentication.kubernetes.io/pod-name"))};
  if (const auto* own = pods.find(key); own != nullptr && own->uid == out.pod) out.addresses = own->addresses;
  if (const auto* there = pods.at_address(from); there != nullptr && *there != key)
    out.neighbour = there->text();
  out.pods_read = pods_read;
  return out;
}

}  // namespace binnacle::aggregator
