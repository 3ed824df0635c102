#pragma once

#include "aggregator/custom_metrics/path.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The documents from which clients and kube-apiserver learn what this server serves.
/// Source: k8s.io/api/apidiscovery (v2, v2beta1) and meta/v1 APIGroupList, APIGroup, APIResourceList.
namespace binnacle::custom_metrics {

/// One aggregated document with the tag that lets kube-apiserver ask "still the same?" once a minute.
struct tagged_document {
  std::string body;
  std::string etag;  ///< quoted; equal on every replica that serves the same names
};

/// Equal texts have equal tags on every replica and in every build.
tagged_document tagged(std::string body);

/// All documents for one list of metric names.
struct discovery_documents {
  std::string groups;           ///< GET /apis
  std::string group;            ///< GET /apis/custom.metrics.k8s.io
  std::string resources[2];     ///< GET /apis/custom.metrics.k8s.io/{version}, by version
  tagged_document v2, v2beta1;  ///< GET /apis as APIGroupDiscoveryList

  /// `pods`: the same metrics are there for pods, too.
  explicit discovery_documents(const std::vector<std::string>& node_metrics, bool pods = false);
};

inline constexpr std::string_view discovery_v2_type =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
inline constexpr std::string_view discovery_v2beta1_type =
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

}  // namespace binnacle::custom_metrics
