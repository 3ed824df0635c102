#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/doctor/cluster/kube_call.hpp"
#include "cli/doctor/peers.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

namespace binnacle::cli::doctor {

findings check_kubernetes(const place& p) {
  const auto access = kube_access(p);
  if (const auto why = no_cluster(access)) return {*why};
  const kube::access& to = **access;
  const auto version = kube_get(to, "/version", p.patience);
  if (version.has_error()) {
    return {failure(fmt::format("the API server {} gives no answer: {}", to.url(), version.error().message),
                    unreachable_remedy(version.error().code, "kube-apiserver"))};
  }
  boost::system::error_code ec;
  findings out{finding_of_version(json::parse(version->body, ec), version->status, to.url())};

  auto crd =
      kube_read(to, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/taspolicies.telemetry.intel.com",
                "the CRD of TASPolicy", p);
  out.push_back(crd.instead ? *crd.instead : finding_of_crd(crd.object));
  for (const char* v : {"v1beta1", "v1beta2"}) {
    const std::string name = fmt::format("{}.custom.metrics.k8s.io", v);
    auto api =
        kube_read(to, "/apis/apiregistration.k8s.io/v1/apiservices/" + name, "the APIService " + name, p);
    out.push_back(api.instead ? *api.instead : finding_of_api_service(api.object, name));
  }
  return out;
}

}  // namespace binnacle::cli::doctor
