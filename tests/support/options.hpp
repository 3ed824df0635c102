#pragma once

#include "common/config/config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace binnacle::support {

/// Reads a test program's command line as the daemons read theirs. Returns nothing if the program is to go
/// on, and otherwise its exit status: 0 after --help; 2 after an error, of which one sentence goes to
/// standard error. `required` names the keys of text settings that must not stay empty. Blocks: reads the
/// file of --config. Throws nothing.
std::optional<int> read_options(config_spec& spec, const std::string& program, int argc,
                                const char* const* argv,
                                const std::vector<std::pair<std::string, const std::string*>>& required = {});

}  // namespace binnacle::support
