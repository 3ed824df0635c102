#pragma once

#include "aggregator/custom_metrics/discovery.hpp"

#include <string>
#include <vector>

namespace binnacle::custom_metrics {

/// The API's OpenAPI descriptions, which kube-apiserver joins with its own: /openapi/v2 whole, /openapi/v3 by
/// version. They name no metric, so that they never change while we run.
/// Source: kubernetes.io, "The Kubernetes API", OpenAPI specification.
class openapi_documents {
 public:
  openapi_documents();
  /// Null when there is nothing at this path.
  const tagged_document* find(const std::vector<std::string>& path) const;

 private:
  tagged_document v2_, v3_index_;
  tagged_document v3_[2];  // by version
};

}  // namespace binnacle::custom_metrics
