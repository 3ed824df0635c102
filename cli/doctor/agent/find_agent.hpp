#pragma once

#include "cli/doctor/place.hpp"

#include <string>

namespace binnacle::cli::doctor {

/// How this machine's agent is run: with `config_file` if one is named, else with the arguments of the
/// binnacle-agent that runs, else with /etc/binnacle/agent.yaml. The program is the one beside this command,
/// else PATH's, never a path that a process gives of itself. A process counts by its executable's name and
/// its user (root, us, the unit's). Its arguments count only if its user is root or us and its mount
/// namespace is ours, because they are passed to a program that runs as us. Errors: not_found (no agent here,
/// or several run), permission (one runs whose settings cannot be taken over).
result<agent_here> agent_to_ask(const std::string& root, const std::string& config_file);

/// That agent with its settings. Blocks: starts the agent's program to ask for them. Errors: also
/// invalid_input (the agent refuses its settings; the message is the agent's own sentence).
result<agent_here> find_agent(const std::string& root, const std::string& config_file,
                              std::chrono::milliseconds patience);

/// What `binnacle-agent --print-config` prints. Errors: invalid_input. Pure.
result<agent_settings> parse_agent_settings(const std::string& yaml);

}  // namespace binnacle::cli::doctor
