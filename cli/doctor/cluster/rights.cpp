#include "aggregator/kube/reviews/policy_writers.hpp"
#include "aggregator/model_servers/node_config.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/doctor/cluster/kube_call.hpp"
#include "common/text/text.hpp"

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

result<bool> allows(const kube::access& to, const kube::access_question& q,
                    std::chrono::milliseconds patience) {
  const auto answer = kube_ask(to, kube::access_review(q), patience);
  if (answer.has_error()) return answer.error();
  const auto said = kube::access_answer_of(*answer);
  if (said.has_error()) return said.error();
  return said->allowed;
}

finding no_reviews(const error& why) {
  return unchecked(fmt::format("what the aggregator may do is not known: {}", why.message),
                   "use a kubeconfig of a user who may create subjectaccessreviews (system:auth-delegator)");
}

/// May the aggregator read the Secrets that objects of WAO's name for their models?
findings secrets(const kube::access& to, const kube::user& who, const place& p) {
  std::vector<named_secret> named, closed;
  for (const std::string_view group : model_servers::node_config_groups) {
    for (const std::string kind : {"NodeConfig", "NodeConfigTemplate"}) {
      // The first objects of very many do: they share a few Secrets.
      const auto all = kube_read(to, fmt::format("/apis/{}/v1beta1/{}s?limit=500", group, lowered(kind)),
                                 kind + " objects", p);
      if (all.instead) return {*all.instead};
      add_named_secrets(kind, all.object, named);
    }
  }
  for (const named_secret& s : named) {
    const auto allowed = allows(to, may_read(who, s), p.patience);
    if (allowed.has_error()) return {no_reviews(allowed.error())};
    if (!*allowed) closed.push_back(s);
  }
  return findings_of_secrets(who, named, closed);
}

}  // namespace

findings check_rights(const place& p) {
  const auto access = kube_access(p);
  if (const auto why = no_cluster(access)) return {*why};
  const auto slash = p.account.find('/');
  if (slash == p.account.npos) {
    return {failure(fmt::format("'{}' names no service account", p.account),
                    "--aggregator-account NAMESPACE/NAME, for example binnacle/binnacle-aggregator")};
  }
  const auto asked = rights_of_aggregator(std::string_view(p.account).substr(0, slash),
                                          std::string_view(p.account).substr(slash + 1));
  std::vector<right> missing;
  for (const right& r : asked) {
    const auto allowed = allows(**access, r.question, p.patience);
    if (allowed.has_error()) return {no_reviews(allowed.error())};
    if (!*allowed) missing.push_back(r);
  }
  findings out = findings_of_rights(asked, missing);
  for (finding& f : secrets(**access, asked.front().question.who, p)) out.push_back(std::move(f));
  out.push_back(writers(**access, p.patience));
  return out;
}

}  // namespace binnacle::cli::doctor
