#pragma once

#include "common/error.hpp"
#include "common/tls/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::kube {

/// A program that prints credentials, as cloud providers use (client.authentication.k8s.io, ExecCredential).
struct exec_plugin {
  std::string api_version;
  std::string command;  ///< looked for in PATH, unless it has a '/'
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to our own environment
  std::string install_hint;
  bool wants_cluster = false;  ///< provideClusterInfo
};

/// How to reach an API server, and with which identity. At most one of token, token_file and plugin is set.
struct access {
  std::string host;
  std::uint16_t port = 443;
  bool secure = true;
  std::string path;         ///< in front of every target: "" or "/k8s/clusters/c-1"
  std::string server_name;  ///< what the certificate must be issued for; empty: the host
  std::string proxy;        ///< a URL, perhaps with a password; empty: the way is direct
  tls::options tls;
  std::string token;
  std::string token_file;  ///< its content is rotated, so it is read again and again
  std::optional<exec_plugin> plugin;
  std::string name_space = "default";
  std::string url() const;  ///< for messages
};

/// Errors: unsupported, if a proxy leads to the API server. kubectl may use such an access, and a plug-in may
/// give its credentials; `client` makes no calls by it.
result<void> check_direct(const access& to);

using environment = std::function<const char*(const char*)>;

/// The access that Kubernetes gives to a pod: KUBERNETES_SERVICE_HOST and _PORT, and the files of its service
/// account. Errors: not_found, if this is not a pod.
/// Source: kubernetes.io/docs/tasks/run-application/access-api-from-pod.
result<access> in_cluster(const environment& variables,
                          const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

/// A kubeconfig file's text; `path` is for messages and for the relative file names in it.
struct kubeconfig_file {
  std::string path;
  std::string text;
};

/// The access of `context` (empty: the current one). If several files define the same thing, the first
/// counts, as in KUBECONFIG. Only the given texts are read; the files that they name are read when a
/// connection is made. Errors: invalid_input, not_found, unsupported, each with the file and what to do.
result<access> parse_kubeconfig(const std::vector<kubeconfig_file>& files, const std::string& context = {});

/// Reads the files in `paths`, separated by colons, and gives them to parse_kubeconfig(). Missing files are
/// skipped if at least one exists. Blocks.
result<access> load_kubeconfig(const std::string& paths, const std::string& context = {});

/// The access that the setting kube-config names: "in-cluster", or files as for load_kubeconfig(). Blocks.
result<access> access_by(const std::string& kube_config, const std::string& context,
                         const environment& variables);

}  // namespace binnacle::kube
