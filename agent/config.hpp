#pragma once

#include "agent/base/settings.hpp"
#include "common/config/config.hpp"
#include "common/text/endpoint.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

class source_kind;

/// Describes `s` and the settings of the sources for the command line and the file. `s` and `kinds` must
/// outlive the result.
config_spec bind(settings& s, const std::vector<std::unique_ptr<source_kind>>& kinds);

/// Fills in what depends on the machine (the node's name), and checks what cannot be checked one value at a
/// time, including the sources' own settings. Errors: invalid_input, one sentence with the remedy.
result<void> complete(settings& s, const std::vector<std::unique_ptr<source_kind>>& kinds);

/// Reads ":9103", "127.0.0.1:9103" or "[::1]:9103". `key` is the setting's name for messages. Errors:
/// invalid_input, with the expected form.
result<endpoint> parse_listen(const std::string& text, std::string_view key = "listen");

}  // namespace binnacle::agent
