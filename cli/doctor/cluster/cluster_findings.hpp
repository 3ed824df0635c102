#pragma once

#include "aggregator/kube/reviews/reviews.hpp"
#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What objects of an API server mean for us; null: there is no such object. Pure.
namespace binnacle::cli::doctor {

/// The condition of that type in an object's status.conditions; null without one.
json::value condition(const json::value& of, std::string_view type);

/// Of /version.
finding finding_of_version(const json::value& version, unsigned status, const std::string& url);
/// Of the CustomResourceDefinition of TASPolicy.
finding finding_of_crd(const json::value& crd);
/// Of an APIService of custom.metrics.k8s.io.
finding finding_of_api_service(const json::value& service, const std::string& name);

/// One right that the aggregator needs, as the API server's authorizer is asked for it.
struct right {
  kube::access_question question;
  std::string_view without;  ///< what does not work without it
  std::string words() const;
};
/// All that the service account `name` in `name_space` needs: what the chart's roles give it.
std::vector<right> rights_of_aggregator(std::string_view name_space, std::string_view name);
/// `missing`: the rights out of `asked` that the account does not have. Gives a finding for each of these, or
/// a single one if it has none of the rights or all.
findings findings_of_rights(std::span<const right> asked, std::span<const right> missing);

/// `who`: those besides administrators that may write TASPolicy objects.
finding finding_of_writers(const std::vector<std::string>& who);

}  // namespace binnacle::cli::doctor
