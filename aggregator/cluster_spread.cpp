#include "aggregator/cluster_spread.hpp"

namespace binnacle::aggregator {

std::optional<spread::world::replica_set> cluster_spread::set(std::string_view name_space,
                                                              std::string_view name,
                                                              std::string_view uid) const {
  const kube::replica_sets::set* known = sets_.find(name_space, name);
  if (known == nullptr || known->uid != uid) return std::nullopt;
  return replica_set{known->replicas, known->rate};
}

void cluster_spread::each_pod(std::string_view set_uid,
                              const std::function<void(std::string_view, std::string_view)>& tell) const {
  const auto* all = pods_.made_by(kube::pod_objects::set_key(set_uid));
  if (all == nullptr) return;
  for (const auto* pod : *all) {
    if (!pod->second.leaving) tell(pod->second.uid, pod->second.node);
  }
}

spread::area_kind cluster_spread::areas() const {
  if (nodes_.regions().different() >= 2) return spread::area_kind::region;
  return nodes_.zones().different() >= 2 ? spread::area_kind::zone : spread::area_kind::node;
}

std::string_view cluster_spread::area_of(spread::area_kind kind, std::string_view node) const {
  if (kind == spread::area_kind::node) return node;
  const kube::node_objects::node* known = nodes_.find(node);
  if (known == nullptr) return {};
  return known->labels.find(kind == spread::area_kind::region ? nodes_.regions().key() : nodes_.zones().key())
      .value_or(std::string_view());
}

bool cluster_spread::is_control_plane(std::string_view node) const {
  const kube::node_objects::node* known = nodes_.find(node);
  return known != nullptr && known->labels.find("node-role.kubernetes.io/control-plane").has_value();
}

}  // namespace binnacle::aggregator
