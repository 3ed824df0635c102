#pragma once

#include "cli/doctor/place.hpp"

#include <string>

namespace binnacle::cli::doctor {

/// How this machine's agent is run: with `config_file` if one is named, else with the arguments of the
/// running binnacle-agent, else with /etc/binnacle/agent.yaml. The program that is started is the one beside
/// this command, else the one in PATH, never a path that a process gives of itself. A process counts as the
/// agent by its executable's name and its user (root, us, the unit's). Its arguments count only if its user
/// is root or us and its mount namespace is ours, because they are passed to a program that runs as us.
/// Errors: not_found (no agent here, or several run), permission (one runs, but its settings cannot be taken
/// over).
result<agent_here> agent_to_ask(const std::string& root, const std::string& config_file);

/// As agent_to_ask(), and the agent's settings as well. Blocks: starts the agent's program to ask for them.
/// Errors: also invalid_input (the agent refuses its settings; the message is the agent's own sentence).
result<agent_here> find_agent(const std::string& root, const std::string& config_file,
                              std::chrono::milliseconds patience);

/// Reads the output of `binnacle-agent --print-config`. Errors: invalid_input. Pure.
result<agent_settings> parse_agent_settings(const std::string& yaml);

}  // namespace binnacle::cli::doctor
