#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::async {

/// The addresses of `host`. A numeric host is its own address. localhost is this machine, and nobody is asked
/// for it: a container may have neither /etc/hosts nor a name server that knows it (RFC 6761, 6.3). A look-up
/// that hangs is abandoned at the deadline. It holds up neither other look-ups nor the end of the program.
/// Errors: not_found; timeout (also if eight other look-ups hang); io (no file descriptor). Threads: call it
/// on one loop; up to eight short-lived threads of the process do the work. Include from .cpp files only.
task<result<std::vector<tcp::endpoint>>> resolve(std::string host, std::uint16_t port, deadline until);

}  // namespace binnacle::async
