#pragma once

#include "cli/connection.hpp"
#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <optional>
#include <string>

namespace binnacle::cli::doctor {

/// What an aggregator's /api/v1/status means. Pure.
findings findings_of_status(const json::value& status, const std::string& url);

/// Where kube-scheduler would call that aggregator: the host of its ops port, `ops`, at the port on which its
/// status says that the extender listens; nothing if it does not say. Pure.
std::optional<std::string> extender_url(const json::value& status, const endpoint& ops);

/// What its /api/v1/nodes/NAME means for that node. Pure.
finding finding_of_node(const json::value& node, const std::string& name, const std::string& url);

}  // namespace binnacle::cli::doctor
