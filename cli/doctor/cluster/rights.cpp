#include "aggregator/kube/reviews/policy_writers.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/doctor/cluster/kube_call.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::cli::doctor {

namespace {

finding writers(const kube::access& to, std::chrono::milliseconds patience) {
  std::vector<std::string> who;
  for (const kube::writer_question& q : kube::policy_writer_questions()) {
    const auto answer = kube_ask(to, q.call, patience);
    const auto may = answer.has_error() ? result<bool>(answer.error()) : kube::may_write_policies(q, *answer);
    if (may.has_error())
      return unchecked(fmt::format("who may write TASPolicy objects is not known: {}", may.error().message),
                       "use a kubeconfig of a user who may read ClusterRoles");
    if (*may && std::ranges::find(who, q.who) == who.end()) who.push_back(q.who);
  }
  return finding_of_writers(who);
}

}  // namespace

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
    const auto allowed =
        answer.has_error() ? result<kube::access_answer>(answer.error()) : kube::access_answer_of(*answer);
    if (allowed.has_error()) {
      return {unchecked(
          fmt::format("what the aggregator may do is not known: {}", allowed.error().message),
          "use a kubeconfig of a user who may create subjectaccessreviews (system:auth-delegator)")};
    }
    if (!allowed->allowed) missing.push_back(r);
  }
  findings out = findings_of_rights(asked, missing);
  out.push_back(writers(**access, p.patience));
  return out;
}

}  // namespace binnacle::cli::doctor
