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

/// The description of `s`, and of the settings of the sources, for the command line and the file. Both must
/// outlive the result.
config_spec bind(settings& s, const std::vector<std::unique_ptr<source_kind>>& kinds);

/// Fills in what depends on the machine (node name), and checks what the form of single values cannot say,
/// the sources' own settings included. Errors: invalid_input, one sentence with the remedy.
result<void> complete(settings& s, const std::vector<std::unique_ptr<source_kind>>& kinds);

/// ":9103", "127.0.0.1:9103", "[::1]:9103". Errors: invalid_input with the form expected; `key` is the
/// setting.
result<endpoint> parse_listen(const std::string& text, std::string_view key = "listen");

}  // namespace binnacle::agent
