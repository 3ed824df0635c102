#pragma once

#include "aggregator/questions/question.hpp"
#include "common/keyed_hash.hpp"
#include "common/metrics/alias_table.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace binnacle::custom_metrics {

/// A pod that has a node, as far as its metrics are concerned.
struct pod {
  std::string_view name_space, name, uid, node;
  const std::map<std::string, std::string, std::less<>>& labels;
};

/// Where pods are; faces loop. What a pod's fields point to lives until the next event of the loop.
struct pod_source {
  /// The pod of that name.
  std::function<std::optional<pod>(std::string_view name_space, std::string_view name)> one;
  /// The pods of the namespace whose names come after `after` (empty: all), in name order, until `each`
  /// returns false.
  std::function<void(std::string_view name_space, std::string_view after,
                     const std::function<bool(const pod&)>& each)>
      of;
  /// Why they are not known (yet), in one sentence; empty when they are.
  std::function<std::string()> unknown_because;
};

/// Pods' own values of one metric: those of the series of their nodes that name them, by pod_uid, or by pod
/// and namespace, as exporters do. What it finds out of a node's series is kept for the next pod there: it
/// lives for one request.
class own_readings {
 public:
  own_readings(std::string metric, const metrics::alias_table& names);

  /// Nothing when `node` has no series of the metric that names any pod: then the node's value is the pod's.
  /// Absent when it has such series, but none of this pod.
  std::optional<questions::reading> of(const store::node_view& node, const pod& whose, instant now);

  /// Series looked at so far: what it has cost.
  std::size_t looked_at() const noexcept { return looked_at_; }

 private:
  struct named_pods {
    std::shared_ptr<const store::shape> shape;  // held, so that no other comes to have its address
    std::unordered_set<std::string, keyed_hash> uids, names;
  };
  const named_pods& named_by(const std::shared_ptr<const store::shape>& shape);

  std::string metric_;
  metrics::resolved name_;
  std::unordered_map<const store::shape*, named_pods> known_;
  std::size_t looked_at_ = 0;
};

}  // namespace binnacle::custom_metrics
