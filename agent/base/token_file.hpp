#pragma once

#include "common/error.hpp"

#include <string>

namespace binnacle::agent {

/// The bearer token in a file: its first word. The file is read each time, because a kubelet renews tokens in
/// place. Errors: by errno; invalid_input (the file has no word); overloaded (longer than
/// wire::max_credential). Blocks: for one open(2) and a few preads.
result<std::string> read_token(const std::string& path);

}  // namespace binnacle::agent
