#pragma once

#include "aggregator/custom_metrics/discovery.hpp"

#include <string>
#include <vector>

namespace binnacle::custom_metrics {

/// The API's OpenAPI descriptions, which kube-apiserver joins with its own: one for /openapi/v2, and one for
/// each version of the API for /openapi/v3. They name no metrics, so they never change while the program
/// runs.
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
