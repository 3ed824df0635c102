#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <string>

namespace binnacle::cli::doctor {

/// What an aggregator's /api/v1/status means. Pure.
findings judge_status(const json::value& status, const std::string& url);

/// What its /api/v1/nodes/NAME means for that node. Pure.
finding judge_node(const json::value& node, const std::string& name, const std::string& url);

}  // namespace binnacle::cli::doctor
