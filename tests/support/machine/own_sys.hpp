#pragma once

#include <functional>
#include <optional>
#include <string>

namespace binnacle::support {

/// Runs `body` in a child process that sees the folder `sys` as its /sys, and gives what `body` returned (an
/// exit status: 0 to 125). For what asks the real /sys and takes no other root, as libpfm4 does. The child
/// has a mount namespace of its own, as root or in a user namespace. Nothing: neither may be made here, and
/// the test says that it skips. Blocks until the child ends. Call it without other threads.
std::optional<int> run_with_sys(const std::string& sys, const std::function<int()>& body);

}  // namespace binnacle::support
