#pragma once

#include <functional>
#include <optional>
#include <string>

namespace binnacle::support {

/// Runs `body` in a child process that sees the folder `sys` as its /sys, and returns what `body` returned
/// (an exit status: 0 to 125). For code that reads the real /sys and accepts no other root, for example
/// libpfm4. The child has a mount namespace of its own, made as root or in a user namespace. If neither is
/// allowed here, it returns nothing, and the test says that it skips. Blocks until the child ends. Call it
/// only while there are no other threads.
std::optional<int> run_with_sys(const std::string& sys, const std::function<int()>& body);

}  // namespace binnacle::support
