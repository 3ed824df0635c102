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

/// How to reach the cluster's API server: --kube-config ("in-cluster": this pod's service account), else
/// KUBECONFIG; nothing without either.
std::optional<result<kube::access>> kube_access(const place& p);

/// One call with those credentials. Blocks until `patience` at most.
result<http::answer> kube_ask(const kube::access& to, http::call what, std::chrono::milliseconds patience);
result<http::answer> kube_get(const kube::access& to, std::string target, std::chrono::milliseconds patience);

/// What the API server has at a path: its JSON, null where there is nothing (404), or what there is to say
/// instead of judging it. `what` names it in that sentence.
struct read_object {
  json::value object;
  std::optional<finding> instead;
};
read_object kube_read(const kube::access& to, const std::string& path, std::string_view what, const place& p);

}  // namespace binnacle::cli::doctor
