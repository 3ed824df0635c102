#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/doctor/cluster/kube_call.hpp"

#include <fmt/format.h>

namespace binnacle::cli::doctor {

findings check_rights(const place& p) {
  const auto access = kube_access(p);
  if (!access) return {unchecked("no cluster is asked", "--kube-config FILE (or in-cluster), or KUBECONFIG")};
  if (access->has_error())
    return {failure(access->error().message, "name a kubeconfig file that works with kubectl")};
  const auto slash = p.account.find('/');
  if (slash == p.account.npos) {
    return {failure(fmt::format("'{}' names no service account", p.account),
                    "--aggregator-account NAMESPACE/NAME, for example binnacle/binnacle-aggregator")};
  }
  const auto asked = rights_of_aggregator(std::string_view(p.account).substr(0, slash),
                                          std::string_view(p.account).substr(slash + 1));
  std::vector<right> missing;
  for (const right& r : asked) {
    const auto answer = kube_ask(**access, kube::access_review(r.question), p.patience);
    const auto verdict =
        answer.has_error() ? result<kube::access_verdict>(answer.error()) : kube::access_verdict_of(*answer);
    if (verdict.has_error()) {
      return {unchecked(
          fmt::format("what the aggregator may do is not known: {}", verdict.error().message),
          "use a kubeconfig of a user who may create subjectaccessreviews (system:auth-delegator)")};
    }
    if (!verdict->allowed) missing.push_back(r);
  }
  return judge_rights(asked, missing);
}

}  // namespace binnacle::cli::doctor
