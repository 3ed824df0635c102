#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/doctor/cluster/kube_call.hpp"
#include "cli/doctor/peers.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

namespace binnacle::cli::doctor {
namespace {

/// Its JSON, or what there is to say instead of judging it.
struct read_object {
  json::value object;
  std::optional<finding> instead;
};

read_object read(const kube::access& to, const std::string& path, std::string_view what, const place& p) {
  const auto got = kube_get(to, path, p.patience);
  if (got.has_error())
    return {{}, unchecked(fmt::format("{} cannot be asked for: {}", what, got.error().message))};
  if (got->status == 401 || got->status == 403) {
    return {{},
            unchecked(fmt::format("{} may not be read by this user (HTTP status {})", what, got->status),
                      "use a kubeconfig of a user who may get it")};
  }
  if (got->status == 404) return {};
  boost::system::error_code ec;
  json::value said = json::parse(got->body, ec);
  if (ec || got->status != 200)
    return {
        {},
        warning(fmt::format("{}: the API server answers HTTP status {}", what, got->status), "see its log")};
  return {std::move(said), std::nullopt};
}

}  // namespace

findings check_kubernetes(const place& p) {
  const auto access = kube_access(p);
  if (!access) return {unchecked("no cluster is asked", "--kube-config FILE (or in-cluster), or KUBECONFIG")};
  if (access->has_error())
    return {failure(access->error().message, "name a kubeconfig file that works with kubectl")};
  const kube::access& to = **access;
  const auto version = kube_get(to, "/version", p.patience);
  if (version.has_error()) {
    return {failure(fmt::format("the API server {} gives no answer: {}", to.url(), version.error().message),
                    unreachable_remedy(version.error().code, "kube-apiserver"))};
  }
  boost::system::error_code ec;
  findings out{finding_of_version(json::parse(version->body, ec), version->status, to.url())};

  auto crd =
      read(to, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/taspolicies.telemetry.intel.com",
           "the CRD of TASPolicy", p);
  out.push_back(crd.instead ? *crd.instead : finding_of_crd(crd.object));
  for (const char* v : {"v1beta1", "v1beta2"}) {
    const std::string name = fmt::format("{}.custom.metrics.k8s.io", v);
    auto api = read(to, "/apis/apiregistration.k8s.io/v1/apiservices/" + name, "the APIService " + name, p);
    out.push_back(api.instead ? *api.instead : finding_of_api_service(api.object, name));
  }
  return out;
}

}  // namespace binnacle::cli::doctor
