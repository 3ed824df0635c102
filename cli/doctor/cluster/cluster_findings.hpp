#pragma once

#include "aggregator/kube/reviews/reviews.hpp"
#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Judges objects of an API server; null stands for an object that does not exist. Pure.
namespace binnacle::cli::doctor {

/// The condition with this type in an object's status.conditions; null if there is none.
json::value condition(const json::value& of, std::string_view type);

/// Judges /version.
finding finding_of_version(const json::value& version, unsigned status, const std::string& url);
/// Judges the CustomResourceDefinition of TASPolicy.
finding finding_of_crd(const json::value& crd);
/// Judges an APIService of custom.metrics.k8s.io.
finding finding_of_api_service(const json::value& service, const std::string& name);

/// A right that the aggregator needs, in the words of a question to the API server's authorizer.
struct right {
  kube::access_question question;
  std::string_view without;  ///< what does not work without it
  std::string words() const;
};
/// All rights that the service account `name` in `name_space` needs; the chart's roles grant them.
std::vector<right> rights_of_aggregator(std::string_view name_space, std::string_view name);
/// `missing` are the rights out of `asked` that the account does not have. Gives a finding for each missing
/// right, or a single finding if the account has none of the rights or all of them.
findings findings_of_rights(std::span<const right> asked, std::span<const right> missing);

/// A Secret with the user name and password of a model's server or its endpoint provider (basicAuthSecret),
/// and the object that names it.
struct named_secret {
  std::string name_space, name;
  std::string object;  ///< "NodeConfig wao-system/worker-0"
};
/// Adds the Secrets that the objects of a list of this kind (NodeConfig or NodeConfigTemplate) name for their
/// models, each Secret once, up to `most_secrets` in all. Names that a template fills in for each node are
/// left out.
inline constexpr std::size_t most_secrets = 20;
void add_named_secrets(std::string_view kind, const json::value& list, std::vector<named_secret>& to);
/// The question whether `who` may read that Secret.
kube::access_question may_read(const kube::user& who, const named_secret& secret);
/// `closed` are those of the Secrets `named` that `who` may not read. Nothing if none is named.
findings findings_of_secrets(const kube::user& who, std::span<const named_secret> named,
                             std::span<const named_secret> closed);

/// `who` may write TASPolicy objects, beside the administrators.
finding finding_of_writers(const std::vector<std::string>& who);

}  // namespace binnacle::cli::doctor
