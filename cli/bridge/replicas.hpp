#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How a command reaches the aggregators of a cluster with nothing but a kubeconfig.
namespace binnacle::cli::bridge {

/// What the chart's objects in a namespace say.
struct replicas {
  std::string service;  ///< of the port "ops"; the aggregator's certificate is for SERVICE.NAMESPACE.svc
  std::vector<std::string> pods;  ///< that run, in the order of their names
};

/// `list`: what `kubectl get services,pods -o json` says of the objects with the labels in `labels`. Errors:
/// protocol (no such list), not_found: no service with a port "ops", or no pod that runs. Pure.
result<replicas> replicas_in(std::string_view list, const std::string& name_space);

/// The ops port's name, in the chart's Service and in its pods.
inline constexpr std::string_view ops_port = "ops";

/// Of the objects that belong to an aggregator: charts/binnacle/templates/_helpers.tpl.
inline constexpr std::string_view labels =
    "app.kubernetes.io/name=binnacle,app.kubernetes.io/component=aggregator";

/// The port in kubectl's "Forwarding from 127.0.0.1:40123 -> 9102"; nothing in any other line. Pure.
std::optional<std::uint16_t> forwarded_port(std::string_view line);

/// What kubectl's standard error tells a person, as one line: without the log lines of its client library
/// ("E1124 12:23:14.489897 … memcache.go:265] …"). Pure.
std::string words_of(std::string_view errors);

/// Which pod the forward of `now` is to lead to: `now` as long as it runs, else one that no other forward
/// leads to, else any. Empty without a pod that runs. Pure.
std::string next_pod(const std::string& now, const std::vector<std::string>& running,
                     const std::vector<std::string>& taken);

}  // namespace binnacle::cli::bridge
