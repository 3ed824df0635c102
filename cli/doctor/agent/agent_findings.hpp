#pragma once

#include "cli/doctor/finding.hpp"

#include <string_view>

namespace binnacle::cli::doctor {

/// What an agent's /metrics says of its links and sources. Pure.
findings findings_of_agent_metrics(std::string_view exposition_text);
/// Whether it says that a link is up. Pure.
bool has_a_link(std::string_view exposition_text);

}  // namespace binnacle::cli::doctor
