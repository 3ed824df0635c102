#pragma once

#include "aggregator/kube/reviews/reviews.hpp"
#include "common/http/message.hpp"

#include <string>

namespace binnacle::callers {

/// The access question that an API server would put to its authorizer for this request. `who` is left empty.
/// Pure. Source: kubernetes.io, "Authorization", request attributes; k8s.io/apiserver, request.RequestInfo.
///
/// For paths in an API group: {base}/nodes/*/power means get of nodes/power, with the name "*". A path above
/// the group's versions names no resource.
kube::access_question resource_attributes(const http::request& r);
/// The same for a server whose paths are not resources: the path and the verb, for RBAC's nonResourceURLs. A
/// path /api/… is asked about as /binnacle/api/…, because every user of a cluster may read the API server's
/// own /api/….
kube::access_question path_attributes(const http::request& r);

/// The pages that an API server shows without asking who the caller is: /livez, /readyz and /healthz. The
/// pages below them are not among these.
bool open_to_all(const http::request& r);
/// Discovery pages. RBAC gives them to every authenticated user (system:discovery), so they are allowed
/// without a question. That includes components of the API server, which come without a group.
bool open_to_known(const http::request& r);

/// Kubernetes' sentence for a caller who lacks a right.
std::string forbidden(const kube::access_question& q);

}  // namespace binnacle::callers
