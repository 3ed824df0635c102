#pragma once

#include "cli/doctor/finding.hpp"

#include <string_view>

namespace binnacle::cli::doctor {

/// Judges an agent's links and sources by its /metrics. Pure.
findings findings_of_agent_metrics(std::string_view exposition_text);
/// Whether these metrics report a link that is up. Pure.
bool has_a_link(std::string_view exposition_text);

}  // namespace binnacle::cli::doctor
