#pragma once

#include <string>

/// Which form of an answer a client accepts. Source: RFC 9110, section 12.5.1, as kube-apiserver and its
/// clients use it.
namespace binnacle::custom_metrics {

enum class form : unsigned char {
  json,               ///< plain application/json
  discovery_v2,       ///< application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
  discovery_v2beta1,  ///< the same of Kubernetes 1.26 to 1.29
  none,               ///< the client accepts no form that we can write: 406
};

/// The first form in `accept` (the header's value; null or empty accepts everything) that the endpoint has;
/// `aggregated` says whether it has the discovery forms. Alternatives whose as/g/v parameters ask for
/// something else are skipped. Unknown parameters are ignored. q=0 means that the client does not want that
/// form.
form negotiate(const std::string* accept, bool aggregated);

/// Whether the client gets indented JSON: with `?pretty=true` (any value but 0 and false), or without the
/// parameter if the user agent is a tool that people use.
bool wants_pretty(const std::string* parameter, const std::string* user_agent);

}  // namespace binnacle::custom_metrics
