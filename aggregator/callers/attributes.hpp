#pragma once

#include "aggregator/kube/reviews/reviews.hpp"
#include "common/http/message.hpp"

#include <string>

namespace binnacle::callers {

/// What a request wants, as an API server asks its authorizer; `who` is left empty. Pure.
/// Source: kubernetes.io, "Authorization", request attributes; k8s.io/apiserver, request.RequestInfo.
///
/// In an API group: {base}/nodes/*/power is get of nodes/power named "*"; a path above the group's versions
/// is no resource.
kube::access_question resource_attributes(const http::request& r);
/// A server whose paths are no resources: the path and the verb, for nonResourceURLs of RBAC. /api/… is asked
/// for as /binnacle/api/…, since every user of a cluster may get the API server's own /api/….
kube::access_question path_attributes(const http::request& r);

/// The pages that an API server shows to everybody, without asking who that is: /livez, /readyz, /healthz,
/// not those below them.
bool open_to_all(const http::request& r);
/// Discovery, which RBAC gives to everybody who is known (system:discovery), also to the API server's own
/// components, which come without a group: allowed without a question.
bool open_to_known(const http::request& r);

/// Kubernetes' sentence for a right that somebody does not have.
std::string forbidden(const kube::access_question& q);

}  // namespace binnacle::callers
