#include "cli/doctor/cluster_findings.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace binnacle::cli::doctor {
namespace {

constexpr int least_minor = 30;  // where a label change wakes refused pods (Kubernetes #118438 and after)

/// The condition of that type in status.conditions; null without one.
json::value condition(const json::value& object_, std::string_view type) {
  const json::value status = object(object_, "status");
  for (const auto& c : list(status, "conditions")) {
    if (text(c, "type") == type) return c;
  }
  return nullptr;
}

}  // namespace

finding judge_version(const json::value& version, unsigned status, const std::string& url) {
  const std::string called = text(version, "gitVersion");
  if (status == 401 || status == 403) {
    return failure(fmt::format("the API server {} does not know us (HTTP status {})", url, status),
                   "log in again: the credentials in the kubeconfig are no longer good");
  }
  if (called.empty()) {
    return failure(fmt::format("{} answers HTTP status {} and no version", url, status),
                   "is that an API server? See cluster.server in the kubeconfig");
  }
  const int minor = std::atoi(text(version, "minor").c_str());
  if (text(version, "major") == "1" && minor < least_minor) {
    return warning(
        fmt::format("the API server {} is Kubernetes {}, older than 1.{}", url, called, least_minor),
        "a change of a node's label wakes refused pods only from 1.30 on");
  }
  return ok(fmt::format("the API server {} answers, Kubernetes {}", url, called));
}

finding judge_crd(const json::value& crd) {
  if (crd.is_null()) {
    return failure("the cluster has no TASPolicy objects: the CRD is not installed",
                   "kubectl apply -f charts/binnacle/crds/taspolicy.yaml");
  }
  if (text(condition(crd, "Established"), "status") != "True")
    return failure("the CRD of TASPolicy is not established",
                   "kubectl describe crd taspolicies.telemetry.intel.com");
  return ok("the CRD of TASPolicy is established");
}

finding judge_api_service(const json::value& service, const std::string& name) {
  if (service.is_null()) {
    return warning(fmt::format("{} is not registered: HPA and kubectl get --raw see no custom metrics", name),
                   "install the chart with customMetrics.enabled: true");
  }
  const json::value spec = object(service, "spec");
  const json::value target = object(spec, "service");
  const std::string of = fmt::format("{}/{}", text(target, "namespace"), text(target, "name"));
  const json::value available = condition(service, "Available");
  if (text(available, "status") != "True") {
    return failure(
        fmt::format("{} is not available: {}: {}", name, text(available, "reason"),
                    text(available, "message")),
        fmt::format("can the API server reach Service {}, and does its certificate fit spec.caBundle? "
                    "kubectl describe apiservice {}",
                    of, name));
  }
  if (flag(spec, "insecureSkipTLSVerify")) {
    return warning(fmt::format("{} trusts whoever answers for Service {} (insecureSkipTLSVerify)", name, of),
                   "set spec.caBundle instead, as the chart does");
  }
  if (of.find("binnacle") == of.npos) {
    return warning(
        fmt::format("{} is served by Service {}: another adapter's, or ours by another name", name, of),
        "one server per cluster can have it: take the other adapter out, or customMetrics.enabled: false");
  }
  return ok(fmt::format("{} is available, served by Service {}", name, of));
}

}  // namespace binnacle::cli::doctor
