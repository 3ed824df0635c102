#pragma once

#include "aggregator/kube/client/access.hpp"
#include "common/error.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// What an exec plug-in gives: a token, or a client certificate, or both. Source:
/// kubernetes.io/docs/reference/access-authn-authz/authentication, "client-go credential plugins".
struct exec_credential {
  std::string token;
  std::string certificate;  ///< PEM text
  std::string key;
  std::optional<std::chrono::system_clock::time_point> expires;  ///< none: until the server refuses it
};

/// Reads a plug-in's standard output. Errors: protocol; the message quotes nothing of the output, which may
/// be secret.
result<exec_credential> parse_exec_credential(std::string_view output, const std::string& api_version);

/// The value of KUBERNETES_EXEC_INFO for the plug-in of `to`. `authority`: the PEM text of the cluster's CA,
/// or empty.
std::string exec_info(const access& to, std::string_view authority);

}  // namespace binnacle::kube
