#pragma once

#include "aggregator/kube/client/access.hpp"
#include "cli/doctor/finding.hpp"
#include "cli/doctor/place.hpp"
#include "cli/json.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::cli::doctor {

/// How to reach the cluster's API server: by --kube-config ("in-cluster": this pod's service account), else
/// by KUBECONFIG; nothing if neither is given.
std::optional<result<kube::access>> kube_access(const place& p);
/// Says why no cluster is asked; nothing if one can be.
std::optional<finding> no_cluster(const std::optional<result<kube::access>>& access);

/// Makes one call with those credentials. Blocks until `patience` at most.
result<http::answer> kube_ask(const kube::access& to, http::call what, std::chrono::milliseconds patience);
result<http::answer> kube_get(const kube::access& to, std::string target, std::chrono::milliseconds patience);

/// Reads an object of the API server. The outcome is its JSON; null if it does not exist (404); or a finding
/// that says why it could not be read. `what` names the object in that finding.
struct read_object {
  json::value object;
  std::optional<finding> instead;
};
read_object kube_read(const kube::access& to, const std::string& path, std::string_view what, const place& p);

}  // namespace binnacle::cli::doctor
