#pragma once

#include "cli/connection.hpp"
#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <optional>
#include <string>

namespace binnacle::cli::doctor {

/// Judges an aggregator's /api/v1/status. Pure.
findings findings_of_status(const json::value& status, const std::string& url);

/// The URL at which kube-scheduler would call that aggregator: the host of its ops port `ops`, with the
/// extender's port from its status. Nothing if the status does not name that port. Pure.
std::optional<std::string> extender_url(const json::value& status, const server_url& ops);

/// Judges an aggregator's /api/v1/nodes/NAME for that node. Pure.
finding finding_of_node(const json::value& node, const std::string& name, const std::string& url);

}  // namespace binnacle::cli::doctor
