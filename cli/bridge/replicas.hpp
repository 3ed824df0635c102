#pragma once

#include "common/error.hpp"
#include "common/tls/context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How a command reaches the aggregators of a cluster with nothing but a kubeconfig.
namespace binnacle::cli::bridge {

/// What is known of the aggregator from the chart's objects in one namespace.
struct replicas {
  std::string service;  ///< with the port "ops"; the aggregator's certificate is for SERVICE.NAMESPACE.svc
  std::vector<std::string> pods;  ///< that run, sorted by name
};

/// Reads `list`, the output of `kubectl get services,pods -o json` for the objects with the labels in
/// `labels`. Errors: protocol (not such a list), not_found (no Service with a port "ops", or no running pod).
/// Pure.
result<replicas> replicas_in(std::string_view list, const std::string& name_space);

/// The name of the ops port, in the chart's Service and in its pods.
inline constexpr std::string_view ops_port = "ops";

/// The labels of an aggregator's objects: charts/binnacle/templates/_helpers.tpl.
inline constexpr std::string_view labels =
    "app.kubernetes.io/name=binnacle,app.kubernetes.io/component=aggregator";

/// The chart's APIService; like every APIService it names, for all to read, the CA of the server behind it.
/// It belongs to no namespace, so whoever may write in some namespaces only cannot make one.
inline constexpr std::string_view api_service = "v1beta2.custom.metrics.k8s.io";

/// The CA, as PEM text, in `told`, the output of `kubectl get apiservice NAME -o json`. Empty if that is of
/// another product, or has no CA. Errors: not_found, if it is the chart's and leads to another Service: then
/// `service` is not the aggregator's. Pure.
result<std::string> authority_in(std::string_view told, const std::string& service,
                                 const std::string& name_space);

/// The CA and the client certificate, as PEM text, in `told`, the output of `kubectl get secret NAME -o json`
/// about the chart's Secret `name`. Certificate and key are both empty if one is missing. Errors: protocol
/// (no CA). Pure.
result<tls::files> pem_in_secret(std::string_view told, std::string_view name);

/// The port in kubectl's "Forwarding from 127.0.0.1:40123 -> 9102"; nothing in any other line. Pure.
std::optional<std::uint16_t> forwarded_port(std::string_view line);

/// What kubectl's standard error tells a person, as one line: without the log lines of its client library
/// ("E1124 12:23:14.489897 … memcache.go:265] …"). Pure.
std::string words_of(std::string_view errors);

/// The pod to which the forward should lead that leads to `now`: `now` as long as it runs; else a pod to
/// which no other forward leads; else any. Empty if no pod runs. Pure.
std::string next_pod(const std::string& now, const std::vector<std::string>& running,
                     const std::vector<std::string>& taken);

}  // namespace binnacle::cli::bridge
