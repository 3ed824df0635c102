#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::async {

/// The addresses of `host`; a numeric one is its own, and localhost is this machine, without asking anybody
/// (a container may have neither /etc/hosts nor a name server that knows it; RFC 6761, 6.3). A look-up that
/// hangs is abandoned at the deadline and holds up nothing: neither others nor the end of the program.
/// Errors: not_found; timeout (also when eight others hang); io (no file descriptor). Threads: one loop,
/// beside it up to eight short-lived ones of the process. Include from .cpp files only.
task<result<std::vector<tcp::endpoint>>> resolve(std::string host, std::uint16_t port, deadline until);

}  // namespace binnacle::async
