#pragma once

#include "aggregator/questions/question.hpp"
#include "common/keyed_hash.hpp"
#include "common/metrics/alias_table.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace binnacle::custom_metrics {

/// What the metrics API needs to know of a pod that has a node.
struct pod {
  std::string_view name_space, name, uid, node;
  /// Its labels; null: they are not known, so no selector chooses the pod, not even one that asks for
  /// absence.
  questions::selector::look_up labels;
  /// The UID that the node's kubelet gave it, and by which the agent knows it, if it is a static pod.
  std::string_view static_uid = {};
  std::size_t label_bytes = 0;  ///< what a selector looks through
};

/// Where pods are; faces loop. A pod's pointers and views are valid until the loop's next event.
struct pod_source {
  /// The pod of that name.
  std::function<std::optional<pod>(std::string_view name_space, std::string_view name)> one;
  /// The pods of the namespace whose names come after `after` (empty: all), in name order, until `each`
  /// returns false.
  std::function<void(std::string_view name_space, std::string_view after,
                     const std::function<bool(const pod&)>& each)>
      of;
  /// Why the pods are not known (yet), in one sentence; empty if they are known.
  std::function<std::string()> unknown_because;
};

/// Pods' own values of one metric, over the series that `series` selects (empty: all). A node's series
/// belongs to a pod if it names the pod by the label pod_uid, or by pod and namespace as exporters do. What
/// was found in a node's series is kept for the node's other pods, so an object of this class lives for one
/// request.
class own_readings {
 public:
  own_readings(std::string metric, const metrics::alias_table& names, questions::selector series = {});

  /// Nothing if no series of the metric at `node` names a pod, selected or not; the caller then uses the
  /// node's value. Absent if some series name pods, but none of the selected ones names this pod.
  std::optional<questions::reading> of(const store::node_view& node, const pod& whose, instant now);

  /// How many series were looked at so far, as a measure of the cost.
  std::size_t looked_at() const noexcept { return looked_at_; }

 private:
  struct named_pods {
    std::shared_ptr<const store::shape> shape;  // held, so that no new shape gets its address
    std::unordered_set<std::string, keyed_hash> uids, names;
  };
  std::span<const std::uint32_t> series_in(const store::shape& shape) const;
  const named_pods& named_by(const std::shared_ptr<const store::shape>& shape);

  std::string metric_;
  metrics::resolved name_;
  questions::selector series_;
  std::unordered_map<const store::shape*, named_pods> known_;
  std::size_t looked_at_ = 0;
};

}  // namespace binnacle::custom_metrics
