#pragma once

#include "cli/doctor/place.hpp"

#include <string>

namespace binnacle::cli::doctor {

/// The agent of this machine and its settings: of `config_file` if one is named, else of the binnacle-agent
/// that runs (with its own arguments), else of /etc/binnacle/agent.yaml. The program is the running one's,
/// else that beside this command, else PATH's. Blocks: asks it for its settings. Errors: not_found (no agent
/// here, or several run), invalid_input (it refuses its settings: its sentence).
result<agent_here> find_agent(const std::string& root, const std::string& config_file,
                              std::chrono::milliseconds patience);

/// What `binnacle-agent --print-config` prints. Errors: invalid_input. Pure.
result<agent_settings> parse_agent_settings(const std::string& yaml);

}  // namespace binnacle::cli::doctor
