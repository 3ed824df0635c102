#pragma once

#include "aggregator/custom_metrics/question.hpp"
#include "common/metrics/alias_table.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::custom_metrics {

/// A pod that has a node, as far as its metrics are concerned.
struct pod {
  std::string_view name_space, name, uid, node;
  const std::map<std::string, std::string, std::less<>>& labels;
};

/// Where pods are; faces loop.
struct pod_source {
  /// Every pod of the namespace, in name order.
  std::function<void(std::string_view name_space, const std::function<void(const pod&)>& each)> of;
  /// Why they are not known (yet), in one sentence; empty when they are.
  std::function<std::string()> unknown_because;
};

/// The pod's own value: of the series of its node that name it, by pod_uid, or by pod and namespace, as
/// exporters do. Nothing when that node has no series of the metric that names any pod: then the node's value
/// is the pod's. Absent when it has such series, but none of this pod.
std::optional<reading> own_reading(const store::node_view& node, std::string_view metric, const pod& whose,
                                   const metrics::alias_table& names, instant now);

}  // namespace binnacle::custom_metrics
