#pragma once

#include "aggregator/kube/client/access.hpp"
#include "cli/doctor/place.hpp"
#include "common/http/client.hpp"

#include <optional>
#include <string>

namespace binnacle::cli::doctor {

/// How to reach the cluster's API server: --kube-config ("in-cluster": this pod's service account), else
/// KUBECONFIG; nothing without either.
std::optional<result<kube::access>> kube_access(const place& p);

/// One call with those credentials. Blocks until `patience` at most.
result<http::answer> kube_ask(const kube::access& to, http::call what, std::chrono::milliseconds patience);
result<http::answer> kube_get(const kube::access& to, std::string target, std::chrono::milliseconds patience);

}  // namespace binnacle::cli::doctor
