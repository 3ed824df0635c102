#pragma once

#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/kube/objects/pod_objects.hpp"
#include "aggregator/kube/objects/replica_sets.hpp"
#include "aggregator/spread/world.hpp"

namespace binnacle::aggregator {

/// What spreading needs to know of the cluster, read from the followed objects, which must outlive it.
/// Threads: the faces loop.
class cluster_spread final : public spread::world {
 public:
  cluster_spread(const kube::replica_sets& sets, const kube::pod_objects& pods,
                 const kube::node_objects& nodes) noexcept
      : sets_(sets), pods_(pods), nodes_(nodes) {}

  bool any_set_asks() const override { return sets_.asking() != 0; }
  std::optional<replica_set> set(std::string_view name_space, std::string_view name,
                                 std::string_view uid) const override;
  void each_pod(std::string_view set_uid,
                const std::function<void(std::string_view, std::string_view)>& tell) const override;
  spread::area_kind areas() const override;
  std::string_view area_of(spread::area_kind kind, std::string_view node) const override;
  bool is_control_plane(std::string_view node) const override;

 private:
  const kube::replica_sets& sets_;
  const kube::pod_objects& pods_;
  const kube::node_objects& nodes_;
};

}  // namespace binnacle::aggregator
