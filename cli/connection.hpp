#pragma once

#include "common/error.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli {

/// A cluster whose API server leads to the aggregators.
struct cluster_access {
  /// Whether it is used: never, where nobody names an aggregator, or because somebody asked for it.
  enum class use : unsigned char { never, unless_named, always };
  use how = use::never;
  std::string config;      ///< kubeconfig files as in KUBECONFIG, or in-cluster; empty: as kubectl finds them
  std::string context;     ///< empty: the current one
  std::string name_space;  ///< of the chart; empty: binnacle
};

/// How to reach the aggregator. Empty members are not given.
struct connection {
  std::vector<std::string> aggregators;  ///< URLs of the ops face, one per replica
  tls::files pem;
  std::string token_file;  ///< holds a bearer token of the cluster; over https only
  cluster_access cluster = {};
  std::string server_name = {};  ///< what the certificates must be issued for; empty: each URL's host
};

/// Flags win over the environment (BINNACLE_AGGREGATOR, comma-separated; BINNACLE_CERT, BINNACLE_KEY,
/// BINNACLE_CA, BINNACLE_TOKEN_FILE), the environment over the file, and without any the aggregator is
/// https://localhost:9102, or none where `cluster` leads there.
connection merged(connection flags, const std::function<const char*(const char*)>& environment,
                  connection file);

/// The settings in a cli.yaml: aggregator (one URL or a list), cert, key, ca, token-file. `name` is for
/// messages; relative files count from the folder of `name`. Errors: invalid_input with file and line.
result<connection> parse_settings(const std::string& yaml, const std::string& name);

/// A URL taken apart: "https://host:9102", "host", "host:9102", "[::1]:9102", "http://host".
struct endpoint {
  std::string url;  ///< normalised, without a path
  std::string host;
  std::uint16_t port = 9102;
  bool secure = true;
};
result<endpoint> parse_endpoint(std::string_view url, std::uint16_t default_port = 9102);

}  // namespace binnacle::cli
