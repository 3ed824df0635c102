#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <string>

namespace binnacle {

/// Reads a whole file of at most `most` bytes. Errors: not_found, permission, invalid_input (a folder) and
/// io, as the system reports them; overloaded if the file is larger. The message is worded to follow the
/// file's name. Blocks, also for the writer of a pipe.
result<std::string> read_file(const std::string& path, std::size_t most);

/// Reads the open file `fd` in the same way, from its present position.
result<std::string> read_file(int fd, std::size_t most);

}  // namespace binnacle
