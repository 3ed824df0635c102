#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::async {

/// The addresses of `host`; a numeric one is its own, without asking anybody. Errors: not_found; timeout. A
/// look-up that hangs is abandoned at the deadline, but holds up others and the end of the program until the
/// resolver gives up. Include from .cpp files only.
task<result<std::vector<tcp::endpoint>>> resolve(std::string host, std::uint16_t port, deadline until);

}  // namespace binnacle::async
