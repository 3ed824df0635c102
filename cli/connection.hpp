#pragma once

#include "common/error.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli {

/// A cluster through whose API server commands can reach the aggregators.
struct cluster_access {
  /// When the cluster is used: never; only if no aggregator is named; or always, because the user asked for
  /// it.
  enum class use : unsigned char { never, unless_named, always };
  use how = use::never;
  std::string config;      ///< kubeconfig files as in KUBECONFIG, or in-cluster; empty: as kubectl finds them
  std::string context;     ///< empty: the current one
  std::string name_space;  ///< of the chart; empty: binnacle
};

/// The kubeconfig files that kubectl reads: the named ones, or those of KUBECONFIG, or ~/.kube/config. They
/// may be missing.
std::string kubeconfig_files(const cluster_access& to);

/// How to reach the aggregators. An empty member was not given.
struct connection {
  std::vector<std::string> aggregators;  ///< URLs of the ops face, one per replica
  tls::files pem;
  std::string token_file;  ///< holds a bearer token of the cluster; over https only
  cluster_access cluster = {};
  std::string server_name = {};  ///< the name that the certificates must have; empty: each URL's host
  /// By URL: the pod to which a forward led when it was opened. It says more than a port of 127.0.0.1.
  std::map<std::string, std::string> pods = {};
};

/// Merges the settings: flags win over the environment (BINNACLE_AGGREGATOR, comma-separated; BINNACLE_CERT,
/// BINNACLE_KEY, BINNACLE_CA, BINNACLE_TOKEN_FILE), and the environment wins over the file. If none names an
/// aggregator, it is https://localhost:9102, or no aggregator if `cluster` leads there.
connection merged(connection flags, const std::function<const char*(const char*)>& environment,
                  connection file);

/// The settings in a cli.yaml: aggregator (one URL or a list), cert, key, ca, token-file. `name` is for
/// messages; relative files count from the folder of `name`. Errors: invalid_input with file and line.
result<connection> parse_settings(const std::string& yaml, const std::string& name);

/// The URL of a server, parsed: "https://host:9102", "host", "host:9102", "[::1]:9102", "http://host".
struct server_url {
  std::string url;  ///< normalised, without a path
  endpoint at;
  bool secure = true;
};
result<server_url> parse_server_url(std::string_view url, std::uint16_t default_port = 9102);

}  // namespace binnacle::cli
