#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <string>

/// What objects of an API server mean for us; null: there is no such object. Pure.
namespace binnacle::cli::doctor {

/// Of /version.
finding judge_version(const json::value& version, unsigned status, const std::string& url);
/// Of the CustomResourceDefinition of TASPolicy.
finding judge_crd(const json::value& crd);
/// Of an APIService of custom.metrics.k8s.io.
finding judge_api_service(const json::value& service, const std::string& name);

}  // namespace binnacle::cli::doctor
