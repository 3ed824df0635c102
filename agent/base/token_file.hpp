#pragma once

#include "common/error.hpp"

#include <string>

namespace binnacle::agent {

/// The bearer token in a file: its first word. It is read again each time, as a kubelet renews it there.
/// Errors: by errno; invalid_input (nothing in it); overloaded (longer than wire::max_credential). Blocks:
/// for one open(2) and a few preads.
result<std::string> read_token(const std::string& path);

}  // namespace binnacle::agent
